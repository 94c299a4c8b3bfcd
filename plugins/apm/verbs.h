/// The functions of libibverbs that are needed, as they are without this library. A table of pointers, so
/// that tests can stand in for an adapter.
///
/// libibverbs keeps modify_qp and its like in a table of its own behind the context (ibv_context::ops has
/// none of them), so that the exported symbol is the one place where all callers come by: programs,
/// librdmacm, Open MPI and UCX's verbs transports. Its version is IBVERBS_1.1; those of 1.0 take other
/// structures.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace heddle::apm {

struct Verbs {
  int (*modify_qp)(ibv_qp*, ibv_qp_attr*, int) = nullptr;
  int (*query_qp)(ibv_qp*, ibv_qp_attr*, int, ibv_qp_init_attr*) = nullptr;
  int (*destroy_qp)(ibv_qp*) = nullptr;
  int (*query_device)(ibv_context*, ibv_device_attr*) = nullptr;
  /// Fills the part of the attributes that is older than the link layer's bits; zero the rest first.
  int (*query_port)(ibv_context*, std::uint8_t, ibv_port_attr*) = nullptr;
  int (*get_async_event)(ibv_context*, ibv_async_event*) = nullptr;
};

/// Those of the libibverbs that the program has loaded, also where a plugin has loaded it for itself. Aborts
/// the program if there is none: then nobody can have called us.
[[nodiscard]] const Verbs& real_verbs();

}  // namespace heddle::apm
