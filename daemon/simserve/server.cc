#include "simserve/server.h"

#include <endian.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "mad/header.h"
#include "sim/host.h"
#include "transport/sim_transport.h"

namespace heddle::simserve {
namespace {

constexpr std::chrono::milliseconds tick_interval{50};
constexpr int ticks_between_roll_calls = 20;
constexpr int received_at_a_time = 64;
constexpr std::uint32_t most_clients = 60000;

std::span<const std::uint8_t> bytes_of(const ControlMessage& message) {
  return {reinterpret_cast<const std::uint8_t*>(&message), sizeof message};
}

template <class T>
void put(const T& value, ControlMessage& message) {
  message.data.fill(0);
  std::memcpy(message.data.data(), &value, sizeof value);
}

template <class T>
T take(const ControlMessage& message) {
  T value;
  std::memcpy(&value, message.data.data(), sizeof value);
  return value;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::open(Surroundings around, const ServerOptions& options) {
  std::unique_ptr<Server> server{new Server(std::move(around), options)};
  auto local = DatagramSocket::bound_to(PeerAddress::abstract(options.name + ":ctl"));
  if (!local) return fail(local.error());
  server->local_ = std::make_unique<Listener>(server->around_.io, std::move(*local));
  if (options.udp_port) {
    auto udp = DatagramSocket::bound_to(PeerAddress::loopback(*options.udp_port));
    if (!udp) return fail(udp.error());
    server->udp_ = std::make_unique<Listener>(server->around_.io, std::move(*udp));
    server->listen(*server->udp_);
  }
  server->listen(*server->local_);
  server->tick();
  return server;
}

Server::Server(Surroundings around, const ServerOptions& options)
    : around_{std::move(around)}, options_{options}, timer_{around_.io} {}

Server::~Server() { stop(); }

void Server::stop() {
  if (std::exchange(stopped_, true)) return;
  timer_.cancel();
  boost::system::error_code ignored;
  for (Listener* listener : {local_.get(), udp_.get()}) {
    if (listener != nullptr) listener->waiter.cancel(ignored);
  }
  for (auto& [number, client] : clients_) client->stop();
  clients_.clear();
}

void Server::listen(Listener& listener) {
  listener.waiter.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                             [this, &listener](const boost::system::error_code& error) {
                               if (error) return;  // cancelled: the server may be gone
                               serve(listener);
                               listen(listener);
                             });
}

void Server::serve(Listener& listener) {
  ControlMessage message;
  PeerAddress from;
  for (int i = 0; i < received_at_a_time; ++i) {
    const auto size =
        listener.socket.receive_from({reinterpret_cast<std::uint8_t*>(&message), sizeof message}, from);
    if (!size) return;
    if (*size != sizeof message || message.magic != control_magic) continue;
    handle(message, from);
    // The asker waits for this answer and nothing else: there is room for it, or the asker is gone.
    static_cast<void>(listener.socket.send_to(bytes_of(message), from));
  }
}

void Server::tick() {
  timer_.expires_after(tick_interval);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    const auto now = std::chrono::steady_clock::now();
    for (const auto& [number, client] : clients_) client->tick(now);
    if (++ticks_ % ticks_between_roll_calls == 0) call_the_roll();
    tick();
  });
}

void Server::call_the_roll() {
  std::vector<std::uint32_t> missing;
  for (const auto& [number, client] : clients_) {
    if (!client->program_is_there()) missing.push_back(number);
  }
  for (const std::uint32_t number : missing) drop(number);
}

void Server::drop(std::uint32_t number) {
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  found->second->stop();
  clients_.erase(found);
}

Result<void> Server::connect(ControlMessage& message, const PeerAddress& from) {
  auto data = take<ConnectData>(message);
  const auto end = std::find(data.node.begin(), data.node.end(), '\0');
  const Fabric& description = around_.fabric.description();
  const auto port = sim::find_host(description, std::string(data.node.begin(), end));
  if (!port) return fail(port.error());

  // A kernel takes IsSM from a port in the moment in which the program that set it ends: whoever comes after
  // it must not find it there.
  call_the_roll();
  // A program that asks again has forgotten what it had.
  for (const auto& [number, client] : clients_) {
    if (client->control_peer() == from) {
      drop(number);
      break;
    }
  }
  std::uint32_t number = 0;
  while (clients_.count(number) != 0) ++number;
  if (number >= most_clients) return fail(ErrorCode::Conflict, "too many clients");

  const bool local = from.family() == AF_UNIX;
  const std::uint32_t udp_number = options_.udp_port.value_or(0) + 1U + number;
  if (!local && (udp_number > 0xffff || data.id > 0xffff))
    return fail(ErrorCode::Conflict, "out of UDP ports");
  const PeerAddress own = local ? PeerAddress::abstract(fmt::format("{}:out{}", options_.name, number))
                                : PeerAddress::loopback(static_cast<std::uint16_t>(udp_number));
  const PeerAddress peer = local ? PeerAddress::abstract(fmt::format("{}:in{}", options_.name, data.id))
                                 : from.at_port(static_cast<std::uint16_t>(data.id));
  auto socket = DatagramSocket::bound_to(own);
  if (!socket) return fail(socket.error());
  if (const auto connected = socket->connect(peer); !connected) return fail(connected.error());

  auto client = std::make_shared<ClientSession>(around_, std::move(*socket), *port, from, peer,
                                                [this, number] { drop(number); });
  if (const auto started = client->start(); !started) return fail(started.error());
  if (data.is_sm != 0) {
    const Picoseconds now = transport::to_sim(around_.clock.now());
    const auto granted = around_.fabric.set_is_sm(client->id(), sim::IsSm::Yes, now);
    if (!granted) return fail(granted.error());
  }
  clients_.emplace(number, std::move(client));

  data.id = number;
  const std::string& name = description.node(description.port(*port).node).description;
  data.node.fill('\0');
  std::copy_n(name.begin(), std::min(name.size(), data.node.size() - 1), data.node.begin());
  put(data, message);
  return {};
}

bool Server::ask(PortIndex port, std::uint16_t attribute, std::uint32_t modifier, ControlMessage& message) {
  mad::Bytes smp{};
  mad::Header header;
  header.attribute = attribute;
  header.modifier = modifier;
  header.m_key = around_.fabric.port_info(port).m_key;
  mad::write_header(header, smp);
  if (!around_.fabric.ask(port, smp, transport::to_sim(around_.clock.now()))) return false;
  const auto data = mad::smp_data(smp);
  std::copy(data.begin(), data.end(), message.data.begin());
  return true;
}

void Server::handle(ControlMessage& message, const PeerAddress& from) {
  if (message.type == ControlType::Connect) {
    if (!connect(message, from)) message.type = ControlType::Error;
    return;
  }
  const auto found = clients_.find(message.client);
  if (found == clients_.end() || !(found->second->control_peer() == from)) {
    message.type = ControlType::Error;
    return;
  }
  const ClientSession& client = *found->second;
  const PortIndex port = client.port();
  const mad::PortInfo& info = around_.fabric.port_info(port);
  const auto smp = [](mad::SmAttr attribute) { return static_cast<std::uint16_t>(attribute); };
  bool done = true;
  switch (message.type) {
    case ControlType::Disconnect:
      drop(message.client);
      break;
    case ControlType::GetPort:
      put(PortData{info.lid.raw(), static_cast<std::uint8_t>(info.state), 0}, message);
      break;
    case ControlType::GetVendor: {
      const Fabric& description = around_.fabric.description();
      const Node& node = description.node(description.port(port).node);
      put(VendorData{node.vendor_id, node.device_id, 0xa0, 0, 1}, message);
      break;
    }
    case ControlType::GetGid:
      put(std::array{htobe64(info.gid_prefix), htobe64(around_.fabric.port_guid(port).raw())}, message);
      break;
    case ControlType::GetGuid:
      put(htobe64(around_.fabric.port_guid(port).raw()), message);
      break;
    case ControlType::GetNodeInfo:
      done = ask(port, smp(mad::SmAttr::NodeInfo), 0, message);
      break;
    case ControlType::GetPortInfo:
      done = ask(port, smp(mad::SmAttr::PortInfo), message.data[0], message);
      break;
    case ControlType::GetPKeys:
      done = ask(port, smp(mad::SmAttr::PKeyTable), 0, message);
      break;
    case ControlType::SetIsSm: {
      const auto wanted = take<std::int32_t>(message) != 0 ? sim::IsSm::Yes : sim::IsSm::No;
      const Picoseconds now = transport::to_sim(around_.clock.now());
      done = around_.fabric.set_is_sm(client.id(), wanted, now).has_value();
      around_.wake();
      break;
    }
    case ControlType::Error:
    case ControlType::Connect:
    default:
      done = false;
  }
  if (!done) message.type = ControlType::Error;
}

}  // namespace heddle::simserve
