#include "ranks.h"

#include <limits>
#include <stdexcept>
#include <utility>

namespace heddle::vef {
namespace {

int as_count(std::size_t size) {
  if (size > std::size_t{std::numeric_limits<int>::max()}) {
    throw std::length_error("the ranks have more to tell each other than MPI can send at once");
  }
  return static_cast<int>(size);
}

/// Where each part begins, and how long all are.
std::size_t place_parts(const std::vector<int>& counts, std::vector<int>& places) {
  std::size_t all = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    places[i] = as_count(all);
    all += static_cast<std::size_t>(counts[i]);
  }
  (void)as_count(all);
  return all;
}

}  // namespace

bool all_are_well(std::string& mine) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int well = std::numeric_limits<int>::max();
  const int own = mine.empty() ? well : rank;
  int first = well;
  PMPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first != rank) mine.clear();
  return first == well;
}

Ranks::Ranks(std::string where) : where_{std::move(where)} {
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &size_);
}

Ranks::~Ranks() { PMPI_Comm_free(&comm_); }

bool Ranks::gather(const Values& own, Values& all) {
  std::vector<int> counts;
  std::vector<int> places;
  int mine = 0;
  if (!together([&] {
        mine = as_count(own.size());
        counts.resize(size());
        places.resize(size());
      })) {
    return false;
  }
  PMPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_);
  if (!together([&] { all.resize(place_parts(counts, places)); })) return false;
  PMPI_Allgatherv(own.data(), mine, MPI_UINT64_T, all.data(), counts.data(), places.data(), MPI_UINT64_T,
                  comm_);
  return true;
}

bool Ranks::exchange(const std::vector<Values>& to, std::vector<Values>& from) {
  Values out;
  Values in;
  std::vector<int> out_counts;
  std::vector<int> in_counts;
  std::vector<int> out_places;
  std::vector<int> in_places;
  if (!together([&] {
        for (const Values& each : to) {
          out_counts.push_back(as_count(each.size()));
          out.insert(out.end(), each.begin(), each.end());
        }
        in_counts.resize(size());
        out_places.resize(size());
        in_places.resize(size());
        place_parts(out_counts, out_places);
      })) {
    return false;
  }
  PMPI_Alltoall(out_counts.data(), 1, MPI_INT, in_counts.data(), 1, MPI_INT, comm_);
  if (!together([&] { in.resize(place_parts(in_counts, in_places)); })) return false;
  PMPI_Alltoallv(out.data(), out_counts.data(), out_places.data(), MPI_UINT64_T, in.data(), in_counts.data(),
                 in_places.data(), MPI_UINT64_T, comm_);
  return together([&] {
    from.clear();
    for (std::size_t i = 0; i < in_counts.size(); ++i) {
      const auto begin = in.begin() + in_places[i];
      from.emplace_back(begin, begin + in_counts[i]);
    }
  });
}

std::uint64_t Ranks::sum(std::uint64_t own) const {
  std::uint64_t all = 0;
  PMPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, comm_);
  return all;
}

}  // namespace heddle::vef
