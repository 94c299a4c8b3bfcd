/// Verbs without an adapter: queue pairs with paths and a migration state, and each call can be made to fail.
#pragma once

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "verbs.h"

namespace heddle::apm::test {

/// What programs give to ibv_modify_qp.
inline ibv_qp_attr attributes(ibv_qp_state state, std::uint8_t port = 0, std::uint8_t timeout = 0) {
  ibv_qp_attr made{};
  made.qp_state = state;
  made.port_num = port;
  made.timeout = timeout;
  return made;
}

class StandIn {
 public:
  StandIn() {
    ours = this;
    std::strcpy(device_.name, "mlx5_0");
    context_.device = &device_;
    device_attributes.device_cap_flags = IBV_DEVICE_AUTO_PATH_MIG;
    port_attributes.lmc = 1;
    port_attributes.link_layer = IBV_LINK_LAYER_INFINIBAND;
  }
  ~StandIn() { ours = nullptr; }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  struct Pair {
    ibv_qp qp{};
    ibv_qp_attr now{};
    bool peer_is_silent = false;  ///< it stays in REARM
  };

  Pair& make(ibv_qp_type type = IBV_QPT_RC) {
    Pair& pair = pairs_.emplace_back();
    pair.qp.context = &context_;
    pair.qp.qp_type = type;
    pair.qp.qp_num = static_cast<std::uint32_t>(0x100 + pairs_.size());
    return pair;
  }
  ibv_device& device() { return device_; }

  Verbs verbs{.modify_qp = &modify,
              .query_qp = &query,
              .destroy_qp = [](ibv_qp*) { return 0; },
              .query_device =
                  [](ibv_context*, ibv_device_attr* attributes) {
                    *attributes = ours->device_attributes;
                    return ours->error_of_query_device;
                  },
              .query_port =
                  [](ibv_context*, std::uint8_t, ibv_port_attr* attributes) {
                    *attributes = ours->port_attributes;
                    return ours->error_of_query_port;
                  },
              .get_async_event = nullptr};
  ibv_device_attr device_attributes{};
  ibv_port_attr port_attributes{};
  int error_of_query = 0;
  int error_of_load = 0;
  int error_of_migrate = 0;
  int error_of_query_device = 0;
  int error_of_query_port = 0;
  int loads = 0;
  int migrations = 0;

 private:
  static Pair& of(ibv_qp* qp) {
    for (Pair& pair : ours->pairs_) {
      if (&pair.qp == qp) return pair;
    }
    std::abort();
  }
  static int query(ibv_qp* qp, ibv_qp_attr* attributes, int, ibv_qp_init_attr*) {
    *attributes = of(qp).now;
    return ours->error_of_query;
  }
  /// As IBA has it: an alternate path may be loaded while not armed, and only what is armed migrates.
  static int modify(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
    Pair& pair = of(qp);
    if ((mask & IBV_QP_ALT_PATH) != 0) {
      if (ours->error_of_load != 0) return ours->error_of_load;
      ++ours->loads;
      if (pair.now.path_mig_state == IBV_MIG_ARMED) return EINVAL;
      pair.now.alt_ah_attr = attributes->alt_ah_attr;
      pair.now.path_mig_state = pair.peer_is_silent ? IBV_MIG_REARM : IBV_MIG_ARMED;
      return 0;
    }
    if ((mask & IBV_QP_PATH_MIG_STATE) == 0 || attributes->path_mig_state != IBV_MIG_MIGRATED) return EINVAL;
    if (ours->error_of_migrate != 0) return ours->error_of_migrate;
    if (pair.now.path_mig_state != IBV_MIG_ARMED) return EINVAL;
    ++ours->migrations;
    pair.now.ah_attr = pair.now.alt_ah_attr;
    pair.now.path_mig_state = IBV_MIG_MIGRATED;
    return 0;
  }

  static inline StandIn* ours = nullptr;
  ibv_device device_{};
  ibv_context context_{};
  std::deque<Pair> pairs_;
};

}  // namespace heddle::apm::test
