/// A port of this host's InfiniBand adapters, by name or GUID, and what the kernel says of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace heddle::transport {

struct UmadPort {
  std::string device;
  int port = 0;
  NodeGuid node;
  PortGuid guid;
  Lid lid;
  Lid sm_lid;
  bool active = false;
  std::vector<std::uint16_t> pkeys;
};

/// "mlx5_0:1", "mlx5_0" for its first active port, a port GUID ("0x..."), or nothing for the first active
/// port of all. Errors: NotFound, Invalid for a port number that is none.
[[nodiscard]] Result<UmadPort> find_umad_port(std::string_view name);
/// The same port anew. Errors: Io when the device is gone.
[[nodiscard]] Result<UmadPort> refresh(const UmadPort& port);

/// Where the default P_Key with full membership stands: what PMAs are asked with. Errors: NotFound.
[[nodiscard]] Result<std::uint16_t> full_member_index(const UmadPort& port);

}  // namespace heddle::transport
