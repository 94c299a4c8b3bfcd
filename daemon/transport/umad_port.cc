#include "transport/umad_port.h"

#include <endian.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/umad.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace heddle::transport {
namespace {

constexpr unsigned active_state = 4;
constexpr std::size_t most_devices = 32;

/// The default partition, full member (IBA 10.9.1).
constexpr std::uint16_t full_default_pkey = 0xffff;

Result<UmadPort> describe(const std::string& device, int number) {
  umad_ca_t ca{};
  if (umad_get_ca(device.c_str(), &ca) < 0) {
    return fail(ErrorCode::NotFound, fmt::format("there is no InfiniBand device \"{}\"", device));
  }
  UmadPort found;
  found.device = device;
  found.port = number;
  found.node = NodeGuid{be64toh(ca.node_guid)};
  umad_release_ca(&ca);
  umad_port_t port{};
  if (umad_get_port(device.c_str(), number, &port) < 0) {
    return fail(ErrorCode::NotFound, fmt::format("InfiniBand device \"{}\" has no port {}", device, number));
  }
  found.guid = PortGuid{be64toh(port.port_guid)};
  found.lid = Lid{static_cast<std::uint16_t>(port.base_lid)};
  found.sm_lid = Lid{static_cast<std::uint16_t>(port.sm_lid)};
  found.active = port.state == active_state;
  // Empty where the kernel, or ibsim's shim, knows nothing else.
  const std::string_view layer{port.link_layer};
  found.infiniband = layer.empty() || layer == "InfiniBand" || layer == "IB";
  found.pkeys.assign(port.pkeys, port.pkeys + port.pkeys_size);
  umad_release_port(&port);
  return found;
}

std::optional<std::uint64_t> parse_guid(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  std::uint64_t guid = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 2, end, guid, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return guid;
}

Result<UmadPort> first_active(const std::vector<UmadPort>& ports, const std::string& what) {
  const UmadPort* first = nullptr;
  for (const UmadPort& port : ports) {
    if (!port.infiniband) continue;
    if (port.active) return port;
    if (first == nullptr) first = &port;
  }
  // A fabric without a subnet manager has no active port: ours may be the one that makes it so.
  if (first != nullptr) return *first;
  if (!ports.empty()) {
    return fail(ErrorCode::NotFound,
                what + " has Ethernet ports (RoCE) only: there is no fabric to manage behind them");
  }
  return fail(ErrorCode::NotFound, what + ": no InfiniBand port; is ib_umad loaded?");
}

Result<UmadPort> infiniband_only(UmadPort port) {
  if (port.infiniband) return port;
  return fail(ErrorCode::Invalid,
              fmt::format("port {} is an Ethernet port (RoCE): there is no fabric to manage behind it",
                          name_of(port)));
}

}  // namespace

std::vector<UmadPort> all_umad_ports() {
  std::array<char[UMAD_CA_NAME_LEN], most_devices> names{};
  const int devices = umad_get_cas_names(names.data(), static_cast<int>(names.size()));
  std::vector<UmadPort> ports;
  for (int d = 0; d < devices; ++d) {
    umad_ca_t ca{};
    if (umad_get_ca(names[static_cast<std::size_t>(d)], &ca) < 0) continue;
    std::vector<int> numbers;
    for (int p = 0; p <= ca.numports && p < UMAD_CA_MAX_PORTS; ++p) {
      if (ca.ports[p] != nullptr) numbers.push_back(p);
    }
    umad_release_ca(&ca);
    for (const int number : numbers) {
      if (auto port = describe(names[static_cast<std::size_t>(d)], number)) ports.push_back(*std::move(port));
    }
  }
  return ports;
}

std::vector<UmadPort> other_rails(const std::vector<UmadPort>& ports, std::string_view in_use,
                                  const std::vector<std::string>& spares) {
  std::vector<UmadPort> rails;
  for (const UmadPort& port : ports) {
    if (!port.active || !port.infiniband || name_of(port) == in_use) continue;
    const bool spare = std::any_of(spares.begin(), spares.end(), [&](const std::string& name) {
      const auto guid = parse_guid(name);
      return name == name_of(port) || (guid && port.guid == PortGuid{*guid});
    });
    if (!spare) rails.push_back(port);
  }
  return rails;
}

std::string name_of(const UmadPort& port) { return fmt::format("{}:{}", port.device, port.port); }

Result<UmadPort> choose_port(std::string_view name, const std::vector<UmadPort>& ports) {
  if (name.empty()) return first_active(ports, "this host");
  if (const auto guid = parse_guid(name)) {
    for (const UmadPort& port : ports) {
      if (port.guid == PortGuid{*guid}) return infiniband_only(port);
    }
    return fail(ErrorCode::NotFound, fmt::format("no InfiniBand port of this host has the GUID {}", name));
  }
  const std::size_t colon = name.find(':');
  const std::string device(name.substr(0, colon));
  std::vector<UmadPort> own;
  for (const UmadPort& port : ports) {
    if (port.device == device) own.push_back(port);
  }
  if (own.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("there is no InfiniBand device \"{}\"", device));
  }
  if (colon == std::string_view::npos) return first_active(own, fmt::format("device \"{}\"", device));
  int number = -1;
  const std::string_view digits = name.substr(colon + 1);
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || stop != digits.data() + digits.size() || number < 0) {
    return fail(ErrorCode::Invalid, fmt::format("\"{}\" is not a port: write it as \"mlx5_0:1\"", name));
  }
  for (const UmadPort& port : own) {
    if (port.port == number) return infiniband_only(port);
  }
  return fail(ErrorCode::NotFound, fmt::format("InfiniBand device \"{}\" has no port {}", device, number));
}

Result<UmadPort> find_umad_port(std::string_view name) {
  if (umad_init() < 0) {
    return fail(ErrorCode::Io, "cannot use InfiniBand management: load the kernel module ib_umad");
  }
  return choose_port(name, all_umad_ports());
}

bool is_active(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return false;
  const std::string path =
      fmt::format("/sys/class/infiniband/{}/ports/{}/state", name.substr(0, colon), name.substr(colon + 1));
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 32> text{};
  const auto length = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  // "4: ACTIVE"
  return length > 0 && std::atoi(text.data()) == static_cast<int>(active_state);
}

Result<std::uint16_t> full_member_index(const UmadPort& port) {
  for (std::size_t i = 0; i < port.pkeys.size(); ++i) {
    if (port.pkeys[i] == full_default_pkey) return static_cast<std::uint16_t>(i);
  }
  return fail(ErrorCode::NotFound,
              fmt::format("port {}:{} is not a full member of the default partition (P_Key 0xffff): counters "
                          "of other nodes will not answer it",
                          port.device, port.port));
}

}  // namespace heddle::transport
