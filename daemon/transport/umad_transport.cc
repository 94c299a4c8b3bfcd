#include "transport/umad_transport.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/umad.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "apm/message.h"
#include "mad/attributes.h"
#include "mad/header.h"
#include "transport/ibsim_shim.h"
#include "transport/patience.h"

namespace heddle::transport {
namespace {

constexpr std::chrono::milliseconds least_kernel_timeout{2000};
/// How often the receiver looks whether it is to stop.
constexpr int poll_ms = 100;

constexpr std::uint8_t no_rmpp = 0;

constexpr std::array managed_classes{mad::MgmtClass::SubnLid, mad::MgmtClass::SubnDirected,
                                     mad::MgmtClass::Perf, mad::MgmtClass::Mellanox};
/// In which a subnet manager is asked and told: SMInfo and traps, and what its administrator answers.
constexpr std::array subnet_classes{mad::MgmtClass::SubnLid, mad::MgmtClass::SubnDirected,
                                    mad::MgmtClass::SubnAdm};
constexpr std::size_t administration_agent = 2;

/// Methods of the subnet administration besides those of SMPs (IBA 15.2.2).
constexpr std::array administration_methods{0x12U, 0x13U, 0x14U, 0x15U};
constexpr int administration_version = 2;
constexpr std::uint8_t kernel_rmpp = 1;
/// Where the data of the subnet administration begin, and what says that they are to be cut into segments
/// (IBA 15.2.1.1, 13.6.2).
constexpr std::size_t long_header_size = 56;
constexpr std::size_t rmpp_version_offset = 24;
constexpr std::size_t rmpp_type_offset = 25;
constexpr std::size_t rmpp_flags_offset = 26;
constexpr std::uint8_t rmpp_data = 1;
constexpr std::uint8_t rmpp_active = 1;
/// Of the kernel, for what is not acknowledged: 2 s each time, which is what it takes for 0 (ib_mad's
/// send_next_seg). With 1 to 2,000 ms it takes the first wait's end for the length of the second one, and
/// never sends again.
constexpr int segment_timeout_ms = 0;
constexpr int segment_retries = 7;

std::string last_error() { return std::error_code(errno, std::generic_category()).message(); }

struct Arrival {
  mad::Packet packet;
  Instant at;
};

}  // namespace

std::chrono::milliseconds kernel_timeout(std::chrono::milliseconds patience) {
  return std::max((slow_stretch + 1) * patience, least_kernel_timeout);
}

struct UmadTransport::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& context, const Clock& fabric_clock, UmadPort umad_port,
        const UmadOptions& umad_options)
      : io{context}, clock{fabric_clock}, port{std::move(umad_port)}, options{umad_options} {}
  ~State() {
    if (is_sm_fd >= 0) ::close(is_sm_fd);
    if (fd >= 0) umad_close_port(fd);
  }

  Result<void> register_agents();
  Result<void> take_requests();
  void give_requests_back();
  [[nodiscard]] int agent_for(mad::MgmtClass mgmt_class) const;
  void receive();
  void died();
  void let_go();
  void take(const std::vector<std::uint8_t>& buffer, int length);
  void deliver();
  Result<void> hand_over(const mad::Packet& packet, int agent);
  /// Keeps it until ibsim's shim takes it without blocking.
  void hold_back(const mad::Packet& packet);
  void send_held_back();
  void learn(const mad::Packet& packet);

  boost::asio::io_context& io;
  const Clock& clock;
  UmadPort port;
  UmadOptions options;
  int fd = -1;
  int is_sm_fd = -1;
  std::array<int, managed_classes.size()> agents{-1, -1, -1, -1};
  std::array<int, subnet_classes.size()> request_agents{-1, -1, -1};  ///< while claim_sm() holds
  int host_agents = -1;
  std::vector<std::uint8_t> send_buffer = std::vector<std::uint8_t>(sizeof(ib_user_mad_t) + mad::mad_size);
  std::unique_ptr<ShimSocket> shim;  ///< none where libibumad talks to the kernel
  std::deque<mad::Packet> held_back;
  Receiver receiver;
  std::optional<std::pair<Lid, Lid>> learned;  ///< LID and SM LID, from the port's own PortInfo

  std::thread thread;
  std::atomic<bool> stopping{false};
  std::atomic<bool> gone{false};
  std::atomic<std::uint64_t> wrong_length{0};
  std::atomic<std::uint64_t> gave_up{0};
  std::mutex mutex;
  std::vector<Arrival> arrived;  ///< under `mutex`: from the thread to the io_context
  std::vector<Arrival> delivering;
};

Result<void> UmadTransport::State::register_agents() {
  for (std::size_t i = 0; i < managed_classes.size(); ++i) {
    // Without a mask of methods the kernel hands over answers only, and keeps nobody else from anything.
    agents[i] = umad_register(fd, static_cast<int>(managed_classes[i]), 1, no_rmpp, nullptr);
    if (agents[i] >= 0) continue;
    return fail(ErrorCode::Io,
                fmt::format("port {}:{}: cannot register for management class {:#04x}: {}", port.device,
                            port.port, static_cast<unsigned>(managed_classes[i]), last_error()));
  }
  if (!options.speaks_with_agents) return {};
  auto oui = apm::oui;
  host_agents = umad_register_oui(fd, static_cast<int>(apm::vendor_class), no_rmpp, oui.data(), nullptr);
  if (host_agents >= 0) return {};
  return fail(ErrorCode::Io, fmt::format("port {}:{}: cannot register for the agents of hosts: {}",
                                         port.device, port.port, last_error()));
}

Result<void> UmadTransport::State::take_requests() {
  std::array<long, 16 / sizeof(long)> methods{};
  for (const mad::Method method :
       {mad::Method::Get, mad::Method::Set, mad::Method::Trap, mad::Method::TrapRepress}) {
    const auto bit = static_cast<unsigned>(method);
    methods[bit / (8 * sizeof(long))] |= 1L << (bit % (8 * sizeof(long)));
  }
  auto administration = methods;
  for (const unsigned bit : administration_methods) {
    administration[bit / (8 * sizeof(long))] |= 1L << (bit % (8 * sizeof(long)));
  }
  for (std::size_t i = 0; i < subnet_classes.size(); ++i) {
    if (request_agents[i] >= 0) continue;  // kept, behind ibsim's shim
    const bool administers = i == administration_agent;
    request_agents[i] = umad_register(
        fd, static_cast<int>(subnet_classes[i]), administers ? administration_version : 1,
        administers && !shim ? kernel_rmpp : no_rmpp, administers ? administration.data() : methods.data());
    if (request_agents[i] >= 0) continue;
    give_requests_back();
    return fail(ErrorCode::Conflict,
                fmt::format("port {}:{}: another program of this host takes the requests of management class "
                            "{:#04x}: a subnet manager runs here; this daemon only watches",
                            port.device, port.port, static_cast<unsigned>(subnet_classes[i])));
  }
  return {};
}

void UmadTransport::State::give_requests_back() {
  // ibsim's shim keeps nobody from anything, but forgets a whole class with one of its agents, and the next
  // answer of that class ends the process. What comes in unasked then is for nobody.
  if (shim) return;
  for (int& agent : request_agents) {
    if (agent >= 0) umad_unregister(fd, agent);
    agent = -1;
  }
}

int UmadTransport::State::agent_for(mad::MgmtClass mgmt_class) const {
  for (std::size_t i = 0; i < managed_classes.size(); ++i) {
    if (managed_classes[i] == mgmt_class) return agents[i];
  }
  if (mgmt_class == apm::vendor_class) return host_agents;
  if (mgmt_class == mad::MgmtClass::SubnAdm) return request_agents[administration_agent];
  return -1;
}

void UmadTransport::State::receive() {
  std::vector<std::uint8_t> buffer(sizeof(ib_user_mad_t) + mad::mad_size);
  while (!stopping.load(std::memory_order_relaxed)) {
    const int waited = umad_poll(fd, poll_ms);
    if (waited == -ETIMEDOUT || (waited < 0 && errno == EINTR)) continue;
    int length = static_cast<int>(mad::mad_size);
    if (waited == 0 && umad_recv(fd, buffer.data(), &length, 0) >= 0) {
      take(buffer, length);
      continue;
    }
    // After a reset of the adapter, or without its driver, the descriptor is always ready, and never has
    // anything.
    if (waited < 0 || errno == EIO || errno == ENODEV || errno == EBADF) return died();
    // Longer than a MAD: the rest of it is lost, and so is its meaning.
    if (errno == ENOSPC) wrong_length.fetch_add(1, std::memory_order_relaxed);
  }
}

void UmadTransport::State::died() {
  gone.store(true, std::memory_order_relaxed);
  boost::asio::post(io, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->let_go();
  });
}

/// The kernel takes the device away once nobody holds it.
void UmadTransport::State::let_go() {
  if (thread.joinable()) thread.join();
  held_back.clear();
  shim.reset();
  if (is_sm_fd >= 0) ::close(std::exchange(is_sm_fd, -1));
  request_agents.fill(-1);
  if (fd >= 0) umad_close_port(std::exchange(fd, -1));
}

void UmadTransport::State::take(const std::vector<std::uint8_t>& buffer, int length) {
  auto* umad = const_cast<std::uint8_t*>(buffer.data());
  if (umad_status(umad) != 0) {
    gave_up.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (length != static_cast<int>(mad::mad_size)) {
    wrong_length.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Arrival arrival;
  arrival.at = clock.now();
  std::memcpy(arrival.packet.mad.data(), umad_get_mad(umad), mad::mad_size);
  const ib_mad_addr_t* from = umad_get_mad_addr(umad);
  arrival.packet.address.slid = Lid{ntohs(from->lid)};
  arrival.packet.address.sqp = ntohl(from->qpn);
  arrival.packet.address.sl = Sl{from->sl};
  arrival.packet.address.pkey_index = from->pkey_index;
  bool first = false;
  {
    const std::lock_guard lock{mutex};
    first = arrived.empty();
    arrived.push_back(arrival);
  }
  if (first) {
    boost::asio::post(io, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->deliver();
    });
  }
}

void UmadTransport::State::deliver() {
  {
    const std::lock_guard lock{mutex};
    delivering.swap(arrived);
  }
  for (const Arrival& arrival : delivering) {
    if (stopping.load(std::memory_order_relaxed)) break;
    learn(arrival.packet);
    if (receiver) receiver(arrival.packet, arrival.at);
  }
  delivering.clear();
}

/// The kernel's own view of the port is a moment behind and may take long to ask for, and that of ibsim's
/// shim never moves; an answer of the port's own agent is always right.
void UmadTransport::State::learn(const mad::Packet& packet) {
  constexpr std::size_t hop_count_offset = 7;
  const mad::Header header = mad::read_header(packet.mad);
  const bool own = header.mgmt_class == mad::MgmtClass::SubnDirected && packet.mad[hop_count_offset] == 0;
  const bool port_info = header.method == mad::Method::GetResp && header.status == mad::status::ok &&
                         header.attribute == static_cast<std::uint16_t>(mad::SmAttr::PortInfo);
  const auto number = header.modifier & 0xffU;
  if (!own || !port_info || (number != 0 && number != static_cast<unsigned>(port.port))) return;
  const auto info = mad::decode<mad::PortInfo>(mad::smp_data(packet.mad));
  learned = {info.lid, info.master_sm_lid};
}

Result<void> UmadTransport::State::hand_over(const mad::Packet& packet, int agent) {
  const mad::Header header = mad::read_header(packet.mad);
  const bool smp = mad::is_smp(header);
  std::fill(send_buffer.begin(), send_buffer.end(), std::uint8_t{0});
  std::uint8_t* umad = send_buffer.data();
  umad_set_addr(umad, packet.address.dlid.raw(), static_cast<int>(packet.address.dqp),
                packet.address.sl.raw(), smp ? 0 : static_cast<int>(mad::gsi_qkey));
  if (!smp) {
    const std::uint16_t index = packet.address.pkey_index;
    umad_set_pkey(umad, index != 0 ? index : *options.pkey_index);
  }
  std::memcpy(umad_get_mad(umad), packet.mad.data(), mad::mad_size);
  const int timeout_ms = static_cast<int>(kernel_timeout(options.patience).count());
  const bool expects_answer = header.method == mad::Method::Get || header.method == mad::Method::Set ||
                              header.method == mad::Method::Report;
  const int sent =
      umad_send(fd, agent, umad, static_cast<int>(mad::mad_size), expects_answer ? timeout_ms : 0, 0);
  if (sent < 0) {
    return fail(ErrorCode::Io,
                fmt::format("port {}:{} does not send: {}", port.device, port.port, last_error()));
  }
  return {};
}

void UmadTransport::State::hold_back(const mad::Packet& packet) {
  held_back.push_back(packet);
  if (held_back.size() > 1) return;
  shim->wait_for_room([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->send_held_back();
  });
}

void UmadTransport::State::send_held_back() {
  if (!shim) return;
  while (!held_back.empty() && shim->has_room()) {
    const mad::Packet packet = held_back.front();
    held_back.pop_front();
    // Refused here is lost: whoever waits for the answer asks again.
    (void)hand_over(packet, agent_for(mad::read_header(packet.mad).mgmt_class));
  }
  if (held_back.empty()) return;
  shim->wait_for_room([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->send_held_back();
  });
}

Result<std::unique_ptr<UmadTransport>> UmadTransport::open(boost::asio::io_context& io, const Clock& clock,
                                                           const UmadPort& port, const UmadOptions& options) {
  auto state = std::make_shared<State>(io, clock, port, options);
  if (!state->options.pkey_index) state->options.pkey_index = full_member_index(port).value_or(0);
  state->fd = umad_open_port(port.device.c_str(), port.port);
  if (state->fd < 0) {
    const int fd = std::exchange(state->fd, -1);
    return fail(ErrorCode::Io,
                fmt::format("cannot open port {}:{} ({}): are you allowed to use /dev/infiniband/umad*?",
                            port.device, port.port, std::error_code(-fd, std::generic_category()).message()));
  }
  if (auto registered = state->register_agents(); !registered) return fail(registered.error());
  state->shim = ShimSocket::find(io);
  std::unique_ptr<UmadTransport> transport{new UmadTransport(state)};
  state->thread = std::thread([own = state.get()] { own->receive(); });
  return transport;
}

UmadTransport::UmadTransport(std::shared_ptr<State> state) : state_{std::move(state)} {}
UmadTransport::~UmadTransport() { stop(); }

void UmadTransport::stop() {
  state_->stopping = true;
  if (state_->thread.joinable()) state_->thread.join();
  state_->receiver = nullptr;
  state_->held_back.clear();
  state_->shim.reset();
}

void UmadTransport::receive_with(Receiver receiver) { state_->receiver = std::move(receiver); }

Result<void> UmadTransport::send(const mad::Packet& packet) {
  State& state = *state_;
  const mad::Header header = mad::read_header(packet.mad);
  if (state.options.access == Access::Read && header.method != mad::Method::Get) {
    return fail(ErrorCode::Refused,
                fmt::format("this port is used for reading only: method {:#04x} of attribute {:#06x} is not "
                            "sent",
                            static_cast<unsigned>(header.method), header.attribute));
  }
  if (state.gone.load(std::memory_order_relaxed)) {
    return fail(ErrorCode::Io, fmt::format("port {} is gone", name_of(state.port)));
  }
  const int agent = state.agent_for(header.mgmt_class);
  if (agent < 0) {
    return fail(ErrorCode::Unsupported, fmt::format("management class {:#04x} is not registered",
                                                    static_cast<unsigned>(header.mgmt_class)));
  }
  if (state.shim && (!state.held_back.empty() || !state.shim->has_room())) {
    state.hold_back(packet);
    return {};
  }
  return state.hand_over(packet, agent);
}

bool UmadTransport::segments() const { return !state_->shim; }

Result<void> UmadTransport::send_long(const mad::Packet& head, std::span<const std::uint8_t> data) {
  State& state = *state_;
  const int agent = state.agent_for(mad::MgmtClass::SubnAdm);
  if (state.gone.load(std::memory_order_relaxed) || agent < 0 || state.shim) {
    return fail(ErrorCode::Io, fmt::format("port {} carries no long answers", name_of(state.port)));
  }
  std::vector<std::uint8_t> buffer(sizeof(ib_user_mad_t) + long_header_size + data.size());
  std::uint8_t* umad = buffer.data();
  umad_set_addr(umad, head.address.dlid.raw(), static_cast<int>(head.address.dqp), head.address.sl.raw(),
                static_cast<int>(mad::gsi_qkey));
  const std::uint16_t index = head.address.pkey_index;
  umad_set_pkey(umad, index != 0 ? index : *state.options.pkey_index);
  auto* mad = static_cast<std::uint8_t*>(umad_get_mad(umad));
  std::copy_n(head.mad.begin(), long_header_size, mad);
  mad[rmpp_version_offset] = 1;
  mad[rmpp_type_offset] = rmpp_data;
  mad[rmpp_flags_offset] = rmpp_active;
  std::copy(data.begin(), data.end(), mad + long_header_size);
  if (umad_send(state.fd, agent, umad, static_cast<int>(long_header_size + data.size()), segment_timeout_ms,
                segment_retries) < 0) {
    return fail(ErrorCode::Io, fmt::format("port {} does not send: {}", name_of(state.port), last_error()));
  }
  return {};
}

LocalPort UmadTransport::local() const {
  const State& state = *state_;
  LocalPort local{.node = state.port.node,
                  .guid = state.port.guid,
                  .port = PortNum{static_cast<std::uint8_t>(state.port.port)},
                  .lid = state.port.lid,
                  .sm_lid = state.port.sm_lid};
  if (state.learned) std::tie(local.lid, local.sm_lid) = *state.learned;
  return local;
}

Result<void> UmadTransport::claim_sm(SmClaim claim) {
  State& state = *state_;
  if (claim == SmClaim::Release) {
    if (state.is_sm_fd >= 0) ::close(std::exchange(state.is_sm_fd, -1));
    state.give_requests_back();
    return {};
  }
  if (state.is_sm_fd >= 0) return {};
  if (state.gone.load(std::memory_order_relaxed)) {
    return fail(ErrorCode::Io, fmt::format("port {} is gone", name_of(state.port)));
  }
  if (state.options.access == Access::Read) {
    return fail(ErrorCode::Refused, "this port is used for reading only: no subnet manager here");
  }
  std::array<char, 256> path{};
  if (umad_get_issm_path(state.port.device.c_str(), state.port.port, path.data(),
                         static_cast<int>(path.size())) != 0) {
    return fail(ErrorCode::Io,
                fmt::format("port {}:{} has no issm device", state.port.device, state.port.port));
  }
  if (auto taken = state.take_requests(); !taken) return taken;
  state.is_sm_fd = ::open(path.data(), O_NONBLOCK);
  if (state.is_sm_fd < 0) {
    const std::string why = last_error();
    state.give_requests_back();
    return fail(ErrorCode::Conflict,
                fmt::format("{}: {}; another subnet manager of this host may hold it", path.data(), why));
  }
  return {};
}

bool UmadTransport::gone() const { return state_->gone.load(std::memory_order_relaxed); }

UmadStatistics UmadTransport::statistics() const {
  return {.wrong_length = state_->wrong_length.load(std::memory_order_relaxed),
          .gave_up = state_->gave_up.load(std::memory_order_relaxed)};
}

}  // namespace heddle::transport
