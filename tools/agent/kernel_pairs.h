/// The queue pairs of this host as the kernel counts them (RDMA netlink, `rdma resource show qp`): so that
/// those which no library of ours reports are known, too. Queue pairs that a program has made past the
/// kernel's list (mlx5's DEVX, which UCX's rc_mlx5 and dc_mlx5 use) are in none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/programs.h"
#include "base/result.h"

namespace heddle::agent {

struct KernelPair {
  PortName port{};
  std::uint8_t type = 0;      ///< of enum ib_qp_type
  std::uint8_t state = 0;     ///< of enum ib_qp_state
  pid_t process = 0;          ///< 0: the kernel's own
  std::string kernel_user{};  ///< of those
};

/// Errors: Io, where the kernel does not tell.
[[nodiscard]] Result<std::vector<KernelPair>> kernel_pairs();

/// Those of one port that send or may send soon, and that nobody has reported. Management queue pairs, and
/// those of kernel users that are to be ignored, do not count.
[[nodiscard]] std::uint32_t unreported(std::span<const KernelPair> pairs, const PortName& port,
                                       std::map<pid_t, std::uint32_t> reported,
                                       std::span<const std::string> ignored);

/// What one dump of queue pairs holds; `device` is whose they are. Any bytes. For kernel_pairs() and tests.
void read_pairs(std::span<const std::uint8_t> message, const std::string& device,
                std::vector<KernelPair>& out);

}  // namespace heddle::agent
