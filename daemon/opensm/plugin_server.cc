#include "opensm/plugin_server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <deque>

namespace heddle::opensm {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Unix = asio::local::stream_protocol;

constexpr std::size_t longest_line = 64 * 1024;

bool is_trusted(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

Unix::endpoint endpoint_of(const std::string& path) {
  if (path.front() == '@') return Unix::endpoint(std::string(1, '\0') + path.substr(1));
  return Unix::endpoint(path);
}

/// A socket in the file system is ours to remove; anything else is not.
void remove_socket(const std::string& path) {
  struct stat status {};
  if (path.front() != '@' && ::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) {
    ::unlink(path.c_str());
  }
}

}  // namespace

/// Outlives the server while an operation is pending.
struct PluginServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& io, std::string where, Callbacks to)
      : acceptor{io}, socket{io}, path{std::move(where)}, callbacks{std::move(to)} {}

  void accept() {
    acceptor.async_accept([self = shared_from_this()](error_code wrong, Unix::socket peer) {
      if (self->stopped || wrong == asio::error::operation_aborted) return;
      if (!wrong && is_trusted(peer.native_handle())) self->use(std::move(peer));
      self->accept();
    });
  }

  void use(Unix::socket peer) {
    drop();
    socket = std::move(peer);
    ++connection;
    read();
  }

  void drop() {
    error_code ignored;
    socket.close(ignored);
    text.clear();
    outgoing.clear();
    if (std::exchange(greeted, false)) callbacks.gone();
  }

  void read() {
    socket.async_read_some(asio::buffer(room),
                           [self = shared_from_this(), mine = connection](error_code wrong, std::size_t got) {
                             if (self->stopped || mine != self->connection) return;
                             if (wrong) return self->drop();
                             self->text.append(self->room.data(), got);
                             if (self->take_lines() && mine == self->connection) self->read();
                           });
  }

  /// False where the connection has been given up.
  bool take_lines() {
    const auto mine = connection;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      const auto event = parse_plugin_event(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
      if (!event || (!greeted && event->kind != PluginEvent::Kind::Hello)) {
        const Error error =
            event ? Error{ErrorCode::Invalid, "OpenSM's plugin did not begin with hello"} : event.error();
        drop();
        callbacks.trouble(error);
        return false;
      }
      greeted = true;
      callbacks.event(*event);
      if (stopped || mine != connection) return false;
    }
    text.erase(0, begin);
    if (text.size() <= longest_line) return true;
    drop();
    callbacks.trouble({ErrorCode::Invalid, "OpenSM's plugin said a line that has no end"});
    return false;
  }

  void send(std::string line) {
    outgoing.push_back(std::move(line));
    if (outgoing.size() == 1) write();
  }

  void write() {
    asio::async_write(socket, asio::buffer(outgoing.front()),
                      [self = shared_from_this(), mine = connection](error_code wrong, std::size_t) {
                        if (self->stopped || mine != self->connection || self->outgoing.empty()) return;
                        if (wrong) return self->drop();
                        self->outgoing.pop_front();
                        if (!self->outgoing.empty()) self->write();
                      });
  }

  Unix::acceptor acceptor;
  Unix::socket socket;
  std::string path;
  Callbacks callbacks;
  std::array<char, 4096> room{};
  std::string text;
  std::deque<std::string> outgoing;
  std::uint64_t connection = 0;
  bool greeted = false;
  bool stopped = false;
};

Result<std::unique_ptr<PluginServer>> PluginServer::listen(asio::io_context& io, const std::string& path,
                                                           Callbacks callbacks) {
  if (path.empty()) return fail(ErrorCode::Invalid, "the path of the plugin's socket is empty");
  auto state = std::make_shared<State>(io, path, std::move(callbacks));
  error_code wrong;
  remove_socket(path);
  state->acceptor.open(Unix{}, wrong);
  if (!wrong) state->acceptor.bind(endpoint_of(path), wrong);
  if (!wrong) state->acceptor.listen(4, wrong);
  if (wrong) {
    return fail(ErrorCode::Io,
                fmt::format("cannot listen for OpenSM's plugin on {}: {}", path, wrong.message()));
  }
  state->accept();
  return std::unique_ptr<PluginServer>(new PluginServer(std::move(state)));
}

PluginServer::PluginServer(std::shared_ptr<State> state) : state_{std::move(state)} {}

PluginServer::~PluginServer() {
  state_->stopped = true;
  error_code ignored;
  state_->acceptor.close(ignored);
  state_->socket.close(ignored);
  remove_socket(state_->path);
}

bool PluginServer::connected() const { return state_->greeted; }

void PluginServer::tell(PluginCommand command) {
  if (!state_->greeted) return;
  state_->send(command == PluginCommand::NewPlan ? "{\"command\":\"new_plan\"}\n"
                                                 : "{\"command\":\"heavy_sweep\"}\n");
}

}  // namespace heddle::opensm
