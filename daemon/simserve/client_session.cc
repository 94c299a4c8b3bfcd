#include "simserve/client_session.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "transport/sim_transport.h"

namespace heddle::simserve {
namespace {

/// Datagrams read in one go, so that one client's flood leaves the others their turn.
constexpr int batch = 64;

std::span<const std::uint8_t> bytes_of(const PacketMessage& message) {
  return {reinterpret_cast<const std::uint8_t*>(&message), sizeof message};
}

}  // namespace

ClientSession::ClientSession(Surroundings& around, DatagramSocket socket, PortIndex port,
                             PeerAddress control_peer, PeerAddress packet_peer, Gone gone)
    : around_{around},
      socket_{std::move(socket)},
      waiter_{around.io, socket_.fd()},
      port_{port},
      control_peer_{control_peer},
      packet_peer_{packet_peer},
      gone_{std::move(gone)} {}

ClientSession::~ClientSession() { stop(); }

Result<void> ClientSession::start() {
  const auto client =
      around_.fabric.attach(port_, [this](const mad::Packet& packet, Picoseconds) { deliver(packet); });
  if (!client) return fail(client.error());
  client_ = *client;
  listen();
  return {};
}

void ClientSession::stop() {
  if (std::exchange(stopped_, true)) return;
  around_.fabric.detach(client_);
  around_.wake();
  // Now and not with the last handler: who comes next may be given this name.
  waiter_.release();
  socket_.close();
}

void ClientSession::listen() {
  waiter_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (error || self->stopped_) return;
                       self->read();
                       if (!self->stopped_) self->listen();
                     });
}

void ClientSession::read() {
  const Picoseconds now = transport::to_sim(around_.clock.now());
  const auto real_now = std::chrono::steady_clock::now();
  PacketMessage message;
  for (int i = 0; i < batch; ++i) {
    const auto size = socket_.receive({reinterpret_cast<std::uint8_t*>(&message), sizeof message});
    if (!size) break;
    if (*size != sizeof message) continue;
    pending_.sent(message, real_now);
    around_.fabric.send(now, client_, from_wire(message));
  }
  around_.wake();
}

void ClientSession::deliver(const mad::Packet& packet) {
  const PacketMessage message = to_wire(packet);
  pending_.answered(message, std::chrono::steady_clock::now());
  queue(message);
}

void ClientSession::queue(const PacketMessage& message) {
  if (stopped_ || queue_.size() >= most_queued) return;
  queue_.push_back(message);
  if (!waits_for_room_) flush();
}

void ClientSession::flush() {
  while (!queue_.empty()) {
    switch (socket_.send(bytes_of(queue_.front()))) {
      case DatagramSocket::Sent::Done:
      case DatagramSocket::Sent::Failed:
        queue_.pop_front();
        break;
      case DatagramSocket::Sent::Full:
        wait_for_room();
        return;
      case DatagramSocket::Sent::PeerGone:
        queue_.clear();
        report_gone();
        return;
    }
  }
}

void ClientSession::wait_for_room() {
  waits_for_room_ = true;
  waiter_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->waits_for_room_ = false;
                       if (!error && !self->stopped_) self->flush();
                     });
}

void ClientSession::tick(PendingRequests::TimePoint now) {
  const PendingRequests::Due due = pending_.due(now);
  const Picoseconds fabric_now = transport::to_sim(around_.clock.now());
  for (const PacketMessage& message : due.again) {
    around_.fabric.send(fabric_now, client_, from_wire(message));
  }
  for (const PacketMessage& message : due.lost) queue(message);
  if (!due.again.empty()) around_.wake();
}

bool ClientSession::program_is_there() const {
  return packet_peer_.family() != AF_UNIX || is_bound(packet_peer_);
}

void ClientSession::report_gone() {
  // From a handler of its own: the caller may be delivering to this very session.
  boost::asio::post(around_.io, [self = shared_from_this()] {
    if (!self->stopped_) self->gone_();
  });
}

}  // namespace heddle::simserve
