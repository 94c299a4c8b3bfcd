// Collectives. Those whose messages all have one length are recorded as such; those with lengths by member,
// and scans, as the messages that they are made of, so that each pair of ranks has the bytes that it had.

#include <algorithm>
#include <cstddef>

#include "recorder.h"

namespace heddle::vef {
namespace {

// No program has these tags: MPI's own are not negative.
constexpr int gather_tag = -101;
constexpr int scatter_tag = -102;
constexpr int all_to_all_tag = -103;
constexpr int scan_tag = -104;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

void enter_collective(MPI_Comm comm, Collective kind, int root, int count, MPI_Datatype type) {
  recorder()->entered(recorder()->of(comm), kind, root, bytes_of(count, type));
}

int barrier(MPI_Comm comm) {
  const auto write = [&] { recorder()->entered(recorder()->of(comm), Collective::Barrier, 0, 0); };
  return recorded<Function::Barrier>(write, comm);
}

int broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const auto write = [&] { enter_collective(comm, Collective::Broadcast, root, count, type); };
  return recorded<Function::Bcast>(write, data, count, type, root, comm);
}

int reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const auto write = [&] { enter_collective(comm, Collective::Reduce, root, count, type); };
  return recorded<Function::Reduce>(write, in, out, count, type, op, root, comm);
}

int all_reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const auto write = [&] { enter_collective(comm, Collective::AllReduce, 0, count, type); };
  return recorded<Function::Allreduce>(write, in, out, count, type, op, comm);
}

/// What counts at the root, and what elsewhere, is not the same; their lengths are.
int gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
           MPI_Datatype out_type, int root, MPI_Comm comm) {
  const auto write = [&] {
    const bool is_root = recorder()->of(comm).rank == root;
    enter_collective(comm, Collective::Gather, root, is_root ? out_count : in_count,
                     is_root ? out_type : in_type);
  };
  return recorded<Function::Gather>(write, in, in_count, in_type, out, out_count, out_type, root, comm);
}

int scatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
            MPI_Datatype out_type, int root, MPI_Comm comm) {
  const auto write = [&] {
    const bool is_root = recorder()->of(comm).rank == root;
    enter_collective(comm, Collective::Scatter, root, is_root ? in_count : out_count,
                     is_root ? in_type : out_type);
  };
  return recorded<Function::Scatter>(write, in, in_count, in_type, out, out_count, out_type, root, comm);
}

int all_gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
               MPI_Datatype out_type, MPI_Comm comm) {
  const auto write = [&] { enter_collective(comm, Collective::AllGather, 0, out_count, out_type); };
  return recorded<Function::Allgather>(write, in, in_count, in_type, out, out_count, out_type, comm);
}

int all_to_all(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
               MPI_Datatype out_type, MPI_Comm comm) {
  const auto write = [&] { enter_collective(comm, Collective::AllToAll, 0, out_count, out_type); };
  return recorded<Function::Alltoall>(write, in, in_count, in_type, out, out_count, out_type, comm);
}

std::uint64_t total(const Communicator& of, const int* counts, MPI_Datatype type) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < of.members.size(); ++i) bytes += bytes_of(counts[i], type);
  return bytes;
}

/// Of each member's part; all members know the counts of all, so all find the same.
std::uint64_t mean(const Communicator& of, const int* counts, MPI_Datatype type) {
  return (total(of, counts, type) + of.members.size() - 1) / of.members.size();
}

int all_gather_v(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
                 const int* places, MPI_Datatype type, MPI_Comm comm) {
  const auto write = [&] {
    Communicator& of = recorder()->of(comm);
    recorder()->entered(of, Collective::AllGather, 0, mean(of, counts, type));
  };
  return recorded<Function::Allgatherv>(write, in, in_count, in_type, out, counts, places, type, comm);
}

int reduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) {
  const auto write = [&] {
    Communicator& of = recorder()->of(comm);
    recorder()->entered(of, Collective::Reduce, 0, total(of, counts, type));
    recorder()->entered(of, Collective::Scatter, 0, mean(of, counts, type));
  };
  return recorded<Function::Reduce_scatter>(write, in, out, counts, type, op, comm);
}

int reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const auto write = [&] {
    Communicator& of = recorder()->of(comm);
    const std::uint64_t each = bytes_of(count, type);
    recorder()->entered(of, Collective::Reduce, 0, each * of.members.size());
    recorder()->entered(of, Collective::Scatter, 0, each);
  };
  return recorded<Function::Reduce_scatter_block>(write, in, out, count, type, op, comm);
}

/// From each other member whose part is not empty.
template <class Bytes>
void receive_from_all(const Communicator& of, int tag, Bytes bytes) {
  bool too = false;
  const int members = static_cast<int>(of.members.size());
  for (int i = 1; i < members; ++i) {
    const int source = (of.rank + members - i) % members;
    if (bytes(source) == 0) continue;
    recorder()->received_from(of, source, tag, too);
    too = true;
  }
}

template <class Bytes>
void send_to_all(const Communicator& of, int tag, Bytes bytes) {
  const int members = static_cast<int>(of.members.size());
  for (int i = 1; i < members; ++i) {
    const int target = (of.rank + i) % members;
    if (bytes(target) > 0) recorder()->send_bytes(of, target, tag, bytes(target));
  }
}

int gather_v(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
             const int* places, MPI_Datatype type, int root, MPI_Comm comm) {
  const auto write = [&] {
    const Communicator& of = recorder()->of(comm);
    if (of.rank == root) {
      receive_from_all(of, gather_tag, [&](int member) { return bytes_of(counts[at(member)], type); });
    } else if (const std::uint64_t bytes = bytes_of(in_count, in_type); bytes > 0) {
      recorder()->send_bytes(of, root, gather_tag, bytes);
    }
  };
  return recorded<Function::Gatherv>(write, in, in_count, in_type, out, counts, places, type, root, comm);
}

int scatter_v(const void* in, const int* counts, const int* places, MPI_Datatype type, void* out,
              int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  const auto write = [&] {
    const Communicator& of = recorder()->of(comm);
    if (of.rank == root) {
      send_to_all(of, scatter_tag, [&](int member) { return bytes_of(counts[at(member)], type); });
    } else if (bytes_of(out_count, out_type) > 0) {
      recorder()->received_from(of, root, scatter_tag, false);
    }
  };
  return recorded<Function::Scatterv>(write, in, counts, places, type, out, out_count, out_type, root, comm);
}

/// What each sends to another one is what that one receives; in place, all counts are those of receiving.
int all_to_all_v(const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type, void* out,
                 const int* out_counts, const int* out_places, MPI_Datatype out_type, MPI_Comm comm) {
  const auto write = [&] {
    const Communicator& of = recorder()->of(comm);
    const auto coming = [&](int member) { return bytes_of(out_counts[at(member)], out_type); };
    if (in == MPI_IN_PLACE) {
      send_to_all(of, all_to_all_tag, coming);
    } else {
      send_to_all(of, all_to_all_tag, [&](int member) { return bytes_of(in_counts[at(member)], in_type); });
    }
    receive_from_all(of, all_to_all_tag, coming);
  };
  return recorded<Function::Alltoallv>(write, in, in_counts, in_places, in_type, out, out_counts, out_places,
                                       out_type, comm);
}

int all_to_all_w(const void* in, const int* in_counts, const int* in_places, const MPI_Datatype* in_types,
                 void* out, const int* out_counts, const int* out_places, const MPI_Datatype* out_types,
                 MPI_Comm comm) {
  const auto write = [&] {
    const Communicator& of = recorder()->of(comm);
    const auto coming = [&](int member) { return bytes_of(out_counts[at(member)], out_types[at(member)]); };
    if (in == MPI_IN_PLACE) {
      send_to_all(of, all_to_all_tag, coming);
    } else {
      send_to_all(of, all_to_all_tag,
                  [&](int member) { return bytes_of(in_counts[at(member)], in_types[at(member)]); });
    }
    receive_from_all(of, all_to_all_tag, coming);
  };
  return recorded<Function::Alltoallw>(write, in, in_counts, in_places, in_types, out, out_counts, out_places,
                                       out_types, comm);
}

/// From one member to the next.
template <Function F>
int scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const auto write = [&] {
    const Communicator& of = recorder()->of(comm);
    if (of.rank > 0) recorder()->received_from(of, of.rank - 1, scan_tag, false);
    if (of.rank + 1 < static_cast<int>(of.members.size())) {
      recorder()->send_bytes(of, of.rank + 1, scan_tag, bytes_of(count, type));
    }
  };
  return recorded<F>(write, in, out, count, type, op, comm);
}

}  // namespace

void enter_collectives() {
  enter(Function::Barrier, &barrier);
  enter(Function::Bcast, &broadcast);
  enter(Function::Reduce, &reduce);
  enter(Function::Allreduce, &all_reduce);
  enter(Function::Gather, &gather);
  enter(Function::Scatter, &scatter);
  enter(Function::Allgather, &all_gather);
  enter(Function::Allgatherv, &all_gather_v);
  enter(Function::Alltoall, &all_to_all);
  enter(Function::Gatherv, &gather_v);
  enter(Function::Scatterv, &scatter_v);
  enter(Function::Alltoallv, &all_to_all_v);
  enter(Function::Alltoallw, &all_to_all_w);
  enter(Function::Reduce_scatter, &reduce_scatter);
  enter(Function::Reduce_scatter_block, &reduce_scatter_block);
  enter(Function::Scan, &scan<Function::Scan>);
  enter(Function::Exscan, &scan<Function::Exscan>);
}

}  // namespace heddle::vef
