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
  bool infiniband = true;  ///< link_layer; else Ethernet: RoCE
  std::vector<std::uint16_t> pkeys;
};

/// "mlx5_0:1", "mlx5_0" for its first active port, a port GUID ("0x..."), or nothing for the first active
/// port of all; only InfiniBand ports count. Asks the driver: may take long. Errors: NotFound, Invalid for a
/// port number that is none and for a port that is Ethernet.
[[nodiscard]] Result<UmadPort> find_umad_port(std::string_view name);
/// The same among ports that are known. Pure.
[[nodiscard]] Result<UmadPort> choose_port(std::string_view name, const std::vector<UmadPort>& ports);
/// All ports of this host, in the order of the kernel. Asks the driver: may take long.
[[nodiscard]] std::vector<UmadPort> all_umad_ports();
/// Those that lead to a fabric (Active, InfiniBand) and are neither `in_use` nor named, one by one, among the
/// `spares`. Pure.
[[nodiscard]] std::vector<UmadPort> other_rails(const std::vector<UmadPort>& ports, std::string_view in_use,
                                                const std::vector<std::string>& spares);
/// Whether the port named "mlx5_0:1" is Active: one small file. Asks the driver: may take long.
[[nodiscard]] bool is_active(const std::string& name);
[[nodiscard]] std::string name_of(const UmadPort& port);

/// Where the default P_Key with full membership stands: what PMAs are asked with. Errors: NotFound.
[[nodiscard]] Result<std::uint16_t> full_member_index(const UmadPort& port);

}  // namespace heddle::transport
