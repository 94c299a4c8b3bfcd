/// Serves a simulated fabric to any number of programs that use libibumad, by the protocol of libumad2sim:
/// ibsim's clients do not see the difference. Local abstract sockets, and UDP on loopback if wanted. One
/// thread, that of the io_context; never blocks on a client.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "simserve/client_session.h"

namespace heddle::simserve {

struct ServerOptions {
  std::string name = "sim";               ///< IBSIM_SOCKNAME
  std::optional<std::uint16_t> udp_port;  ///< IBSIM_SERVER_PORT; packets at the ports that follow
};

class Server {
 public:
  /// Everything in `around` must outlive the server. Errors: Conflict when the name or the port is taken.
  static Result<std::unique_ptr<Server>> open(Surroundings around, const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void stop();
  [[nodiscard]] std::size_t client_count() const { return clients_.size(); }

 private:
  struct Listener {
    Listener(boost::asio::io_context& io, DatagramSocket bound)
        : socket{std::move(bound)}, waiter{io, socket.fd()} {}
    ~Listener() { waiter.release(); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    DatagramSocket socket;
    boost::asio::posix::stream_descriptor waiter;
  };

  Server(Surroundings around, const ServerOptions& options);

  void listen(Listener& listener);
  void serve(Listener& listener);
  void tick();
  /// Programs that have ended are clients no more.
  void call_the_roll();
  void handle(ControlMessage& message, const PeerAddress& from);
  [[nodiscard]] Result<void> connect(ControlMessage& message, const PeerAddress& from);
  /// The attribute as the agent of the port tells it; false if it does not answer.
  bool ask(PortIndex port, std::uint16_t attribute, std::uint32_t modifier, ControlMessage& message);
  void drop(std::uint32_t number);

  Surroundings around_;
  ServerOptions options_;
  std::unique_ptr<Listener> local_;
  std::unique_ptr<Listener> udp_;
  boost::asio::steady_timer timer_;
  int ticks_ = 0;
  std::map<std::uint32_t, std::shared_ptr<ClientSession>> clients_;
  bool stopped_ = false;
};

}  // namespace heddle::simserve
