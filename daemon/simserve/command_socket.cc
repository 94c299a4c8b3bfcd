#include "simserve/command_socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "transport/sim_transport.h"

namespace heddle::simserve {
namespace {

namespace json = boost::json;

constexpr std::size_t largest_command = 64 * 1024;
constexpr int commands_at_a_time = 16;

std::string answer_to(std::string_view text, Commands& commands, Picoseconds now) {
  boost::system::error_code error;
  const json::value request = json::parse(json::string_view{text.data(), text.size()}, error);
  const auto* object = request.if_object();
  if (error || object == nullptr) {
    return json::serialize(json::object{{"ok", false}, {"error", "a command is one JSON object"}});
  }
  auto result = commands.run(*object, now);
  if (!result) return json::serialize(json::object{{"ok", false}, {"error", result.error().message}});
  return json::serialize(json::object{{"ok", true}, {"result", std::move(*result)}});
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

Result<std::unique_ptr<CommandSocket>> CommandSocket::open(boost::asio::io_context& io,
                                                           const std::string& name, Commands& commands,
                                                           const transport::Clock& clock,
                                                           std::function<void()> wake) {
  auto socket = DatagramSocket::bound_to(PeerAddress::abstract(name + ":heddle"));
  if (!socket) return fail(socket.error());
  std::unique_ptr<CommandSocket> opened{
      new CommandSocket(io, std::move(*socket), commands, clock, std::move(wake))};
  opened->listen();
  return opened;
}

CommandSocket::CommandSocket(boost::asio::io_context& io, DatagramSocket socket, Commands& commands,
                             const transport::Clock& clock, std::function<void()> wake)
    : socket_{std::move(socket)},
      waiter_{io, socket_.fd()},
      commands_{commands},
      clock_{clock},
      wake_{std::move(wake)},
      room_(largest_command) {}

CommandSocket::~CommandSocket() { waiter_.release(); }

void CommandSocket::stop() {
  boost::system::error_code ignored;
  waiter_.cancel(ignored);
}

void CommandSocket::listen() {
  waiter_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [this](const boost::system::error_code& error) {
                       if (error) return;
                       serve();
                       listen();
                     });
}

void CommandSocket::serve() {
  PeerAddress from;
  for (int i = 0; i < commands_at_a_time; ++i) {
    const auto size = socket_.receive_from(room_, from);
    if (!size) return;
    const std::size_t length = std::min(*size, room_.size());
    const std::string answer = answer_to({reinterpret_cast<const char*>(room_.data()), length}, commands_,
                                         transport::to_sim(clock_.now()));
    static_cast<void>(socket_.send_to(bytes_of(answer), from));
    wake_();
  }
}

Result<json::object> command(const std::string& name, const json::object& request,
                             std::chrono::milliseconds patience) {
  auto socket = DatagramSocket::bound_to(PeerAddress::abstract(fmt::format("{}:heddle{}", name, ::getpid())));
  if (!socket) return fail(socket.error());
  const PeerAddress server = PeerAddress::abstract(name + ":heddle");
  if (socket->send_to(bytes_of(json::serialize(request)), server) != DatagramSocket::Sent::Done) {
    return fail(
        ErrorCode::Unreachable,
        fmt::format("nobody serves a fabric as \"{}\": start `heddle sim serve FILE --name {}`", name, name));
  }
  pollfd waiting{socket->fd(), POLLIN, 0};
  std::vector<std::uint8_t> room(1024 * 1024);
  const bool came = ::poll(&waiting, 1, static_cast<int>(patience.count())) > 0;
  const auto size = came ? socket->receive(room) : std::nullopt;
  if (!size || *size > room.size()) {
    return fail(ErrorCode::Unreachable, fmt::format("the simulator \"{}\" does not answer", name));
  }
  boost::system::error_code error;
  const json::value answer = json::parse({reinterpret_cast<const char*>(room.data()), *size}, error);
  const auto* object = answer.if_object();
  if (error || object == nullptr) return fail(ErrorCode::Io, "the simulator's answer makes no sense");
  const auto* result = object->if_contains("result");
  if (result != nullptr && result->is_object()) return result->get_object();
  const auto* message = object->if_contains("error");
  const bool told = message != nullptr && message->is_string();
  return fail(ErrorCode::Refused, told ? std::string(message->get_string()) : "the simulator refused");
}

}  // namespace heddle::simserve
