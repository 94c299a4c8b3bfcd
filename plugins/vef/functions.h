/// The functions of MPI that the recorder stands in front of, with the number of their parameters.
#pragma once

// clang-format off
/// Recorded, or needed to tell communicators and requests apart.
#define HEDDLE_VEF_RECORDED(X) \
  X(Init, 2) X(Init_thread, 4) X(Finalize, 0) X(Send, 6) X(Ssend, 6) X(Rsend, 6) X(Bsend, 6) \
  X(Isend, 7) X(Issend, 7) X(Irsend, 7) X(Ibsend, 7) X(Recv, 7) X(Irecv, 7) X(Sendrecv, 12) \
  X(Sendrecv_replace, 9) X(Probe, 4) X(Iprobe, 5) X(Send_init, 7) X(Ssend_init, 7) \
  X(Rsend_init, 7) X(Bsend_init, 7) X(Recv_init, 7) X(Start, 1) X(Startall, 2) X(Cancel, 1) \
  X(Request_free, 1) X(Mprobe, 5) X(Improbe, 6) X(Mrecv, 5) X(Imrecv, 5) X(Wait, 2) X(Test, 3) \
  X(Waitall, 3) X(Testall, 4) X(Waitany, 4) X(Testany, 5) X(Waitsome, 5) X(Testsome, 5) \
  X(Barrier, 1) X(Bcast, 5) X(Reduce, 7) X(Allreduce, 6) X(Gather, 8) X(Scatter, 8) \
  X(Allgather, 7) X(Allgatherv, 8) X(Alltoall, 7) X(Gatherv, 9) X(Scatterv, 9) X(Alltoallv, 9) \
  X(Alltoallw, 9) X(Reduce_scatter, 6) X(Reduce_scatter_block, 6) X(Scan, 6) X(Exscan, 6) \
  X(Comm_dup, 2) X(Comm_dup_with_info, 3) X(Comm_split, 4) X(Comm_split_type, 5) \
  X(Comm_create, 3) X(Comm_create_group, 4) X(Cart_create, 6) X(Cart_sub, 3) X(Graph_create, 6) \
  X(Dist_graph_create, 9) X(Dist_graph_create_adjacent, 10) X(Intercomm_merge, 3) \
  X(Comm_free, 1) X(Comm_disconnect, 1)

/// Whoever calls one of these sends what is not recorded: the recording ends.
#define HEDDLE_VEF_UNKNOWN(X) \
  X(Ibarrier, 2) X(Ibcast, 6) X(Ireduce, 8) X(Iallreduce, 7) X(Igather, 9) X(Igatherv, 10) \
  X(Iscatter, 9) X(Iscatterv, 10) X(Iallgather, 8) X(Iallgatherv, 9) X(Ialltoall, 8) \
  X(Ialltoallv, 10) X(Ialltoallw, 10) X(Ireduce_scatter, 7) X(Ireduce_scatter_block, 7) X(Iscan, 7) X(Iexscan, 7) \
  X(Neighbor_allgather, 7) X(Neighbor_allgatherv, 8) X(Neighbor_alltoall, 7) \
  X(Neighbor_alltoallv, 9) X(Neighbor_alltoallw, 9) X(Ineighbor_allgather, 8) X(Ineighbor_allgatherv, 9) \
  X(Ineighbor_alltoall, 8) X(Ineighbor_alltoallv, 10) X(Ineighbor_alltoallw, 10) X(Comm_idup, 3) \
  X(Intercomm_create, 6) X(Comm_spawn, 8) X(Comm_spawn_multiple, 9) X(Comm_accept, 5) \
  X(Comm_connect, 5) X(Comm_join, 2) X(Win_create, 6) X(Win_allocate, 6) \
  X(Win_allocate_shared, 6) X(Win_create_dynamic, 3) X(Isendrecv, 12) X(Isendrecv_replace, 9) \
  X(Psend_init, 9) X(Precv_init, 9) X(Send_c, 6) X(Ssend_c, 6) X(Rsend_c, 6) X(Bsend_c, 6) \
  X(Isend_c, 7) X(Issend_c, 7) X(Irsend_c, 7) X(Ibsend_c, 7) X(Recv_c, 7) X(Irecv_c, 7) \
  X(Sendrecv_c, 12) X(Sendrecv_replace_c, 9) X(Send_init_c, 7) X(Recv_init_c, 7) X(Mrecv_c, 5) \
  X(Imrecv_c, 5) X(Bcast_c, 5) X(Reduce_c, 7) X(Allreduce_c, 6) X(Gather_c, 8) X(Gatherv_c, 9) \
  X(Scatter_c, 8) X(Scatterv_c, 9) X(Allgather_c, 7) X(Allgatherv_c, 8) X(Alltoall_c, 7) \
  X(Alltoallv_c, 9) X(Alltoallw_c, 9) X(Reduce_scatter_c, 6) X(Reduce_scatter_block_c, 6) \
  X(Scan_c, 6) X(Exscan_c, 6)
// clang-format on

namespace heddle::vef {

enum class Function : unsigned {
#define HEDDLE_VEF_NAME(name, parameters) name,
  HEDDLE_VEF_RECORDED(HEDDLE_VEF_NAME) HEDDLE_VEF_UNKNOWN(HEDDLE_VEF_NAME)
#undef HEDDLE_VEF_NAME
      count
};

inline constexpr unsigned functions = static_cast<unsigned>(Function::count);

}  // namespace heddle::vef
