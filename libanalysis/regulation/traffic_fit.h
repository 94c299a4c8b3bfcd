/// Fits a traffic matrix to link loads by expectation maximization (Vardi, "Network Tomography", 1996): each
/// pair of switches is raised or lowered by the mean, over all that it crosses, of what was measured there
/// over what the matrix puts there. What the links do not tell stays as it was at the start. A pair that
/// crosses an idle link sends nothing, which on structured traffic rules most pairs out at once.
///
/// Several sets of loads, each under tables of its own, tell more than one. Everything it is given must
/// outlive it. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regulation/network.h"
#include "regulation/traffic.h"
#include "routing/hop_map.h"

namespace heddle::regulation {

class TrafficFit {
 public:
  /// `sent` and `received` in bit/s by host position: exact where a switch has one host; else at most that,
  /// because hosts of one switch also send to each other. Fits the pairs of `matrix` that are above 0.
  TrafficFit(const Network& network, std::span<const double> sent, std::span<const double> received,
             const TrafficMatrix& matrix);

  /// Adds what was measured. `share` as in Traffic.
  void observe(const Observation& seen, std::span<const double> share);
  /// Pairs that cross a link which carried less than they send are lowered to that in all observations up to
  /// now, and forgotten where it carried nothing.
  void cap();

  /// Until all loads are met to 0.1 %, they get no nearer, or the work is spent. What is left of the first
  /// observation's loads, as a share of their sum.
  double run(unsigned passes);
  /// Writes every pair.
  void store(TrafficMatrix& matrix) const;

 private:
  struct Entry {
    std::uint32_t row = 0;  ///< in rows_
    float weight = 0;       ///< share of the pair's traffic that crosses it
  };
  struct Pair {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    double rate = 0;
  };
  /// Entries of each pair under one set of tables.
  struct Crossing {
    std::vector<std::uint32_t> first{0};
    std::vector<Entry> entries;
    [[nodiscard]] std::span<const Entry> of(std::size_t pair) const {
      return std::span(entries).subspan(first[pair], first[pair + 1] - first[pair]);
    }
  };
  struct Row {
    double measured = 0;
    double expected = 0;
    bool is_limit = false;  ///< expected may be less
  };

  void expect();
  /// Of the rows from `first` on: what is expected wrongly over what was measured.
  [[nodiscard]] double wrong(std::size_t first, std::size_t count) const;
  void correct();

  const Network& network_;
  routing::HopMap hops_;
  std::vector<Pair> pairs_;
  std::vector<Crossing> crossings_;
  std::vector<Row> rows_;  ///< hosts' sending, hosts' receiving, then hops of each observation
  std::vector<double> ratio_;
};

}  // namespace heddle::regulation
