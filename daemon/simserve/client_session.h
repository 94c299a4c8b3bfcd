/// One foreign program on the simulated fabric: its packet socket, the queue of what it has not taken yet,
/// and what it waits for. A client that does not read fills its own queue and nobody else's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <functional>
#include <memory>

#include "sim/simulated_fabric.h"
#include "simserve/datagram_socket.h"
#include "simserve/pending_requests.h"
#include "transport/transport.h"

namespace heddle::simserve {

/// What the sessions share.
struct Surroundings {
  boost::asio::io_context& io;
  sim::SimulatedFabric& fabric;
  const transport::Clock& clock;
  std::function<void()> wake;  ///< the fabric may have something to deliver
};

class ClientSession : public std::enable_shared_from_this<ClientSession> {
 public:
  /// Called once when the program is found gone.
  using Gone = std::function<void()>;

  static constexpr std::size_t most_queued = 65536;

  ClientSession(Surroundings& around, DatagramSocket socket, PortIndex port, PeerAddress control_peer,
                PeerAddress packet_peer, Gone gone);
  ~ClientSession();

  /// Opens the port on the fabric and begins to listen.
  Result<void> start();
  /// Takes it off the fabric and closes its socket; nothing is called any more.
  void stop();

  /// Asks again and gives back what is overdue.
  void tick(PendingRequests::TimePoint now);
  [[nodiscard]] bool program_is_there() const;

  [[nodiscard]] sim::ClientId id() const { return client_; }
  [[nodiscard]] PortIndex port() const { return port_; }
  [[nodiscard]] const PeerAddress& control_peer() const { return control_peer_; }

 private:
  void listen();
  void read();
  void deliver(const mad::Packet& packet);
  void queue(const PacketMessage& message);
  void flush();
  void wait_for_room();
  void report_gone();

  Surroundings& around_;
  DatagramSocket socket_;
  boost::asio::posix::stream_descriptor waiter_;
  PortIndex port_;
  sim::ClientId client_{0xffffffff};
  PeerAddress control_peer_;
  PeerAddress packet_peer_;
  Gone gone_;
  PendingRequests pending_;
  std::deque<PacketMessage> queue_;
  bool waits_for_room_ = false;
  bool stopped_ = false;
};

}  // namespace heddle::simserve
