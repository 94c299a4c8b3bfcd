#include "simserve/kernel_adapter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "mad/attributes.h"
#include "mad/header.h"
#include "transport/sim_transport.h"

namespace heddle::simserve {
namespace {

/// Messages read in one go, so that one adapter's flood leaves the others their turn.
constexpr int datagrams_at_a_time = 64;
/// Of TIDs whose upper bits are kept; who has more outstanding loses the oldest answers.
constexpr std::size_t most_tids = 65536;
constexpr std::uint64_t lower_tid = 0xffff'ffff'ffff;
/// The D bit of a directed route's status (IBA 14.2.1.2).
constexpr std::uint8_t direction_bit = 0x80;
constexpr std::size_t most_keys = HEDDLE_VHCA_MAX_PKEYS;

std::string last_error() { return std::error_code(errno, std::generic_category()).message(); }

std::uint64_t tid_of(const mad::Bytes& mad) {
  std::uint64_t tid = 0;
  for (std::size_t i = 8; i < 16; ++i) tid = tid << 8U | mad[i];
  return tid;
}

/// Bits of ib_port_attr.active_speed: SDR to FDR10 as LinkSpeedActive has them, FDR and beyond from bit 4.
std::uint16_t kernel_speed(const mad::PortInfo& info, LinkSpeed speed) {
  if (speed == LinkSpeed::Fdr10) return 8;
  if (info.link_speed_ext_active != 0) return static_cast<std::uint16_t>(info.link_speed_ext_active << 4U);
  return info.link_speed_active;
}

void copy_text(const std::string& text, char (&to)[HEDDLE_VHCA_NAME_SIZE]) {
  std::size_t used = 0;
  for (const char c : text) {
    if (used + 1 < sizeof to) to[used++] = c >= ' ' && c <= '~' ? c : '?';
  }
}

}  // namespace

KernelAdapter::KernelAdapter(Surroundings& around, int fd) : around_{around}, file_{around.io, fd} {}

KernelAdapter::~KernelAdapter() {
  for (const Port& port : ports_) around_.fabric.detach(port.client);
}

Result<std::unique_ptr<KernelAdapter>> KernelAdapter::open(Surroundings& around, NodeIndex node,
                                                           const std::string& name) {
  const int fd = ::open(HEDDLE_VHCA_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    const std::string why = last_error();
    if (errno == EACCES || errno == EPERM) {
      return fail(ErrorCode::Refused,
                  fmt::format("{}: {}: only root may make adapters as shipped", HEDDLE_VHCA_DEVICE, why));
    }
    return fail(
        ErrorCode::Unsupported,
        fmt::format("{}: {}: load the kernel module first (modprobe heddle_vhca; docs/kernel.md says how "
                    "to build it)",
                    HEDDLE_VHCA_DEVICE, why));
  }
  std::unique_ptr<KernelAdapter> adapter{new KernelAdapter(around, fd)};
  if (auto introduced = adapter->introduce(node, name); !introduced) return fail(introduced.error());
  adapter->listen();
  return adapter;
}

Result<void> KernelAdapter::introduce(NodeIndex node, const std::string& name) {
  const Node& what = around_.fabric.description().node(node);
  if (what.type != NodeType::ChannelAdapter || what.port_count > HEDDLE_VHCA_MAX_PORTS) {
    return fail(
        ErrorCode::Invalid,
        fmt::format(
            "\"{}\" cannot be an adapter of this kernel: it takes channel adapters of at most {} ports",
            what.description, HEDDLE_VHCA_MAX_PORTS));
  }
  heddle_vhca_create create{};
  create.node_guid = what.guid.raw();
  create.system_guid = what.guid.raw();
  create.abi = HEDDLE_VHCA_ABI;
  create.ports = what.port_count;
  create.vendor_id = what.vendor_id;
  create.part_id = what.device_id;
  copy_text(name, create.name);
  copy_text(what.description, create.description);
  if (auto made = write(create_message(create)); !made) return made;

  for (std::uint32_t number = 1; number <= what.port_count; ++number) {
    const PortIndex index{what.first_port.raw() + number};
    const std::size_t position = ports_.size();
    const auto client = around_.fabric.attach(
        index, [this, position](const mad::Packet& packet, Picoseconds) { deliver(position, packet); });
    if (!client) return fail(client.error());
    around_.fabric.take_other_classes(*client);
    ports_.push_back({.index = index, .client = *client});
  }
  push_ports();
  if (failure_) return fail(*failure_);
  return write(ready_message());
}

Result<void> KernelAdapter::write(const KernelMessage& message) {
  const auto bytes = message.bytes();
  if (::write(file_.native_handle(), bytes.data(), bytes.size()) >= 0) return {};
  return fail(ErrorCode::Io, fmt::format("{} does not take a message of type {}: {}", HEDDLE_VHCA_DEVICE,
                                         message.header.type, last_error()));
}

void KernelAdapter::listen() {
  file_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                   [this](const boost::system::error_code& error) {
                     if (error) return;  // this is gone
                     read();
                     listen();
                   });
}

void KernelAdapter::read() {
  for (int i = 0; i < datagrams_at_a_time; ++i) {
    KernelMessage message;
    const ssize_t size = ::read(file_.native_handle(), &message, sizeof message);
    if (size < 0) break;
    if (is_whole(message, static_cast<std::size_t>(size))) take(message);
  }
  around_.wake();
}

void KernelAdapter::take(const KernelMessage& message) {
  switch (message.header.type) {
    case HEDDLE_VHCA_READY:
      if (message.payload.ready.error == 0) {
        const char* text = message.payload.ready.name;
        registered_.emplace(text, strnlen(text, sizeof message.payload.ready.name));
      } else {
        failure_ = Error{
            ErrorCode::Io,
            fmt::format("the kernel refuses the adapter: {}",
                        std::error_code(-message.payload.ready.error, std::generic_category()).message())};
      }
      return;
    case HEDDLE_VHCA_PACKET:
      take_packet(message.payload.packet);
      return;
    case HEDDLE_VHCA_LOCAL:
      answer_local(message.payload.local);
      return;
    case HEDDLE_VHCA_MODIFY_PORT:
      modify_port(message.payload.modify_port);
      return;
    default:  // a description: the fabric's stays as its file has it
      return;
  }
}

void KernelAdapter::take_packet(const heddle_vhca_packet& packet) {
  if (packet.port < 1 || packet.port > ports_.size()) return;
  const mad::Packet out = from_kernel(packet);
  const std::uint64_t tid = tid_of(out.mad);
  if (tid > lower_tid && !mad::is_response(static_cast<mad::Method>(out.mad[3]))) {
    if (upper_tids_.size() >= most_tids) upper_tids_.clear();
    upper_tids_[tid & lower_tid] = static_cast<std::uint16_t>(tid >> 48U);
  }
  around_.fabric.send(now(), ports_[packet.port - 1].client, out);
}

void KernelAdapter::deliver(std::size_t port, const mad::Packet& packet) {
  heddle_vhca_packet in = to_kernel(packet, static_cast<std::uint32_t>(port + 1));
  if (mad::is_response(static_cast<mad::Method>(packet.mad[3]))) {
    // The fabric has put the asker's number there.
    const auto found = upper_tids_.find(tid_of(packet.mad) & lower_tid);
    const std::uint16_t upper = found == upper_tids_.end() ? std::uint16_t{0} : found->second;
    if (found != upper_tids_.end()) upper_tids_.erase(found);
    in.mad[8] = static_cast<std::uint8_t>(upper >> 8U);
    in.mad[9] = static_cast<std::uint8_t>(upper);
  }
  push_ports();  // an answer may follow a change of the port that it tells of
  if (auto written = write(packet_message(in)); !written) failure_ = written.error();
}

void KernelAdapter::answer_local(heddle_vhca_local local) {
  local.result = HEDDLE_VHCA_LOCAL_DISCARDED;
  if (local.port >= 1 && local.port <= ports_.size()) {
    mad::Bytes mad{};
    std::copy(std::begin(local.mad), std::end(local.mad), mad.begin());
    const mad::Header header = mad::read_header(mad);
    const bool sm_info = header.attribute == static_cast<std::uint16_t>(mad::SmAttr::SmInfo);
    const bool agents = (is_smp(header) && !sm_info) || header.mgmt_class == mad::MgmtClass::Perf;
    const bool request = header.method == mad::Method::Get || header.method == mad::Method::Set;
    if (!agents || !request) {
      local.result = HEDDLE_VHCA_LOCAL_NOT_MINE;
    } else if (around_.fabric.ask(ports_[local.port - 1].index, mad, now())) {
      if (header.mgmt_class == mad::MgmtClass::SubnDirected) mad[4] |= direction_bit;
      std::copy(mad.begin(), mad.end(), std::begin(local.mad));
      local.result = HEDDLE_VHCA_LOCAL_ANSWERED;
      push_ports();  // a Set: the kernel knows before its program does
    }
  }
  if (auto written = write(local_message(local)); !written && errno != ENOENT) failure_ = written.error();
}

void KernelAdapter::modify_port(const heddle_vhca_modify_port& wanted) {
  if (wanted.port < 1 || wanted.port > ports_.size()) return;
  const sim::ClientId client = ports_[wanted.port - 1].client;
  if ((wanted.set & mad::port_cap::is_sm) != 0) (void)around_.fabric.set_is_sm(client, sim::IsSm::Yes, now());
  if ((wanted.clear & mad::port_cap::is_sm) != 0)
    (void)around_.fabric.set_is_sm(client, sim::IsSm::No, now());
  push_ports();
}

void KernelAdapter::push_ports() {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const heddle_vhca_port is = describe(i);
    if (std::memcmp(&is, &ports_[i].told, sizeof is) == 0) continue;
    if (auto written = write(port_message(is)); !written) failure_ = written.error();
    ports_[i].told = is;
    ports_[i].registrations = around_.fabric.port_info(ports_[i].index).client_reregister;
  }
}

heddle_vhca_port KernelAdapter::describe(std::size_t port) {
  const PortIndex index = ports_[port].index;
  const mad::PortInfo& info = around_.fabric.port_info(index);
  heddle_vhca_port is{};
  is.gid_prefix = info.gid_prefix;
  is.guid = around_.fabric.port_guid(index).raw();
  is.port = static_cast<std::uint32_t>(port + 1);
  is.capabilities = info.capability_mask;
  is.lid = info.lid.raw();
  is.lmc = info.lmc;
  is.sm_lid = info.master_sm_lid.raw();
  is.sm_sl = info.master_sm_sl.raw();
  is.state = std::max<std::uint8_t>(static_cast<std::uint8_t>(info.state), 1);
  is.physical = static_cast<std::uint8_t>(info.physical);
  is.width = info.link_width_active;
  is.speed = kernel_speed(info, around_.fabric.active_speed(index));
  is.max_mtu = std::clamp<std::uint8_t>(info.mtu_cap, 1, 5);
  is.active_mtu = std::clamp<std::uint8_t>(info.neighbor_mtu, 1, 5);
  is.max_vl = info.vl_cap;
  is.subnet_timeout = info.subnet_timeout;
  is.init_type_reply = info.init_type_reply;
  is.reregister = info.client_reregister != ports_[port].registrations ? 1 : 0;
  is.pkey_count = most_keys;

  mad::Bytes smp{};
  mad::Header header;
  header.attribute = static_cast<std::uint16_t>(mad::SmAttr::PKeyTable);
  header.m_key = info.m_key;
  mad::write_header(header, smp);
  if (around_.fabric.ask(index, smp, now())) {
    const auto block = mad::decode<mad::PKeyBlock>(mad::smp_data(smp));
    std::copy_n(block.keys.begin(), most_keys, std::begin(is.pkeys));
  }
  return is;
}

Picoseconds KernelAdapter::now() const { return transport::to_sim(around_.clock.now()); }

}  // namespace heddle::simserve
