#include "agent/umad_ports.h"

#include <arpa/inet.h>
#include <endian.h>
#include <fmt/format.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "apm/message.h"

namespace heddle::agent {
namespace {

constexpr std::size_t most_devices = 32;

std::string last_error() { return std::error_code(errno, std::generic_category()).message(); }

Result<PortName> parse(const std::string& name) {
  const std::size_t colon = name.find(':');
  unsigned port = 0;
  if (colon != std::string::npos) {
    const char* end = name.data() + name.size();
    const auto got = std::from_chars(name.data() + colon + 1, end, port);
    if (got.ec == std::errc{} && got.ptr == end && port > 0) return PortName{name.substr(0, colon), port};
  }
  return fail(ErrorCode::Invalid, fmt::format("\"{}\" is not a port: write it as \"mlx5_0:1\"", name));
}

struct Facts {
  PortGuid guid;
  Lid sm_lid;
  bool infiniband = false;
};

std::optional<Facts> facts(const PortName& name) {
  umad_port_t port{};
  if (umad_get_port(name.first.c_str(), static_cast<int>(name.second), &port) < 0) return std::nullopt;
  const std::string_view layer{port.link_layer};
  const Facts found{PortGuid{be64toh(port.port_guid)}, Lid{static_cast<std::uint16_t>(port.sm_lid)},
                    layer.empty() || layer == "InfiniBand" || layer == "IB"};
  umad_release_port(&port);
  return found;
}

}  // namespace

Result<std::vector<PortName>> find_ports(const std::vector<std::string>& names) {
  if (umad_init() < 0) {
    return fail(ErrorCode::Io, "cannot use InfiniBand management: load the kernel module ib_umad");
  }
  std::vector<PortName> ports;
  for (const std::string& name : names) {
    const auto port = parse(name);
    if (!port) return fail(port.error());
    ports.push_back(*port);
  }
  if (!names.empty()) return ports;
  std::array<char[UMAD_CA_NAME_LEN], most_devices> devices{};
  const int count = umad_get_cas_names(devices.data(), static_cast<int>(devices.size()));
  for (int d = 0; d < count; ++d) {
    for (unsigned p = 1; p < UMAD_CA_MAX_PORTS; ++p) {
      const PortName name{devices[static_cast<std::size_t>(d)], p};
      const auto found = facts(name);
      if (found && found->infiniband) ports.push_back(name);
    }
  }
  if (ports.empty()) return fail(ErrorCode::NotFound, "this host has no InfiniBand port; is ib_umad loaded?");
  return ports;
}

Result<std::unique_ptr<UmadPort>> UmadPort::open(const PortName& name) {
  std::unique_ptr<UmadPort> port{new UmadPort(name)};
  if (auto begun = port->begin(); !begun) return fail(begun.error());
  return port;
}

Result<void> UmadPort::begin() {
  const auto found = facts(name_);
  if (!found) return fail(ErrorCode::NotFound, fmt::format("no port {}:{}", name_.first, name_.second));
  guid_ = found->guid;
  fd_ = umad_open_port(name_.first.c_str(), static_cast<int>(name_.second));
  if (fd_ < 0) {
    return fail(ErrorCode::Io, fmt::format("cannot open port {}:{}: may this user use /dev/infiniband/umad*?",
                                           name_.first, name_.second));
  }
  std::array<long, 16 / sizeof(long)> methods{};
  for (const mad::Method method : {mad::Method::Get, mad::Method::Set}) {
    methods[0] |= 1L << static_cast<unsigned>(method);
  }
  auto oui = apm::oui;
  agent_ = umad_register_oui(fd_, static_cast<int>(apm::vendor_class), 0, oui.data(), methods.data());
  if (agent_ >= 0) return {};
  return fail(ErrorCode::Conflict,
              fmt::format("port {}:{}: another program takes these requests ({}): does another agent run?",
                          name_.first, name_.second, last_error()));
}

UmadPort::~UmadPort() {
  if (fd_ >= 0) umad_close_port(fd_);
}

int UmadPort::descriptor() const { return umad_get_fd(fd_); }

Lid UmadPort::sm_lid() const {
  const auto found = facts(name_);
  return found ? found->sm_lid : Lid{};
}

Result<std::optional<mad::Packet>> UmadPort::receive() {
  std::vector<std::uint8_t> buffer(umad_size() + mad::mad_size);
  int length = mad::mad_size;
  if (umad_recv(fd_, buffer.data(), &length, 0) < 0) {
    if (errno == EIO || errno == ENODEV || errno == EBADF) {
      return fail(ErrorCode::Io, fmt::format("port {}:{} has gone", name_.first, name_.second));
    }
    return std::optional<mad::Packet>{};
  }
  const ib_mad_addr_t* from = umad_get_mad_addr(buffer.data());
  mad::Packet packet;
  packet.address.slid = Lid{ntohs(from->lid)};
  packet.address.dqp = mad::gsi_qp;
  packet.address.sqp = ntohl(from->qpn);
  packet.address.sl = Sl{from->sl};
  packet.address.pkey_index = from->pkey_index;
  const auto* mad = static_cast<const std::uint8_t*>(umad_get_mad(buffer.data()));
  std::copy_n(mad, std::min<std::size_t>(static_cast<std::size_t>(std::max(length, 0)), mad::mad_size),
              packet.mad.begin());
  return std::optional{packet};
}

Result<void> UmadPort::send(const mad::Packet& packet) {
  std::vector<std::uint8_t> buffer(umad_size() + mad::mad_size);
  umad_set_addr(buffer.data(), packet.address.dlid.raw(), static_cast<int>(packet.address.dqp),
                packet.address.sl.raw(), static_cast<int>(mad::gsi_qkey));
  umad_set_pkey(buffer.data(), packet.address.pkey_index);
  std::copy(packet.mad.begin(), packet.mad.end(), static_cast<std::uint8_t*>(umad_get_mad(buffer.data())));
  if (umad_send(fd_, agent_, buffer.data(), mad::mad_size, 0, 0) < 0) {
    return fail(ErrorCode::Io,
                fmt::format("port {}:{} does not send: {}", name_.first, name_.second, last_error()));
  }
  return {};
}

}  // namespace heddle::agent
