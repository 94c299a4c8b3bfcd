/// The small control socket of a served fabric: an abstract datagram socket NAME:heddle. One datagram holds
/// one JSON object, its answer comes back to the sender: {"ok": true, "result": {...}} or {"ok": false,
/// "error":
/// "..."}.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "simserve/commands.h"
#include "simserve/datagram_socket.h"
#include "transport/transport.h"

namespace heddle::simserve {

class CommandSocket {
 public:
  /// `wake` is called after each command. Errors: Conflict when the name is taken.
  static Result<std::unique_ptr<CommandSocket>> open(boost::asio::io_context& io, const std::string& name,
                                                     Commands& commands, const transport::Clock& clock,
                                                     std::function<void()> wake);
  ~CommandSocket();
  CommandSocket(const CommandSocket&) = delete;
  CommandSocket& operator=(const CommandSocket&) = delete;
  void stop();

 private:
  CommandSocket(boost::asio::io_context& io, DatagramSocket socket, Commands& commands,
                const transport::Clock& clock, std::function<void()> wake);
  void listen();
  void serve();

  DatagramSocket socket_;
  boost::asio::posix::stream_descriptor waiter_;
  Commands& commands_;
  const transport::Clock& clock_;
  std::function<void()> wake_;
  std::vector<std::uint8_t> room_;
};

/// The asking side, for the command line: waits up to `patience`. Errors: Unreachable when nobody serves the
/// name or no answer comes, or the command's own.
[[nodiscard]] Result<boost::json::object> command(const std::string& name, const boost::json::object& request,
                                                  std::chrono::milliseconds patience = std::chrono::seconds{
                                                      5});

}  // namespace heddle::simserve
