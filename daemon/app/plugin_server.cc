#include "app/plugin_server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <deque>
#include <utility>
#include <vector>

namespace heddle::opensm {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Unix = asio::local::stream_protocol;

constexpr std::size_t longest_line = 64 * 1024;
/// A fabric has one master and a few standbys.
constexpr std::size_t most_plugins = 16;
/// After a connection that could not be accepted.
constexpr std::chrono::milliseconds accept_pause{100};

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

/// One plugin. Outlives the server while an operation is pending.
struct PluginServer::Peer : std::enable_shared_from_this<Peer> {
  Peer(Unix::socket peer, std::shared_ptr<State> owner) : socket{std::move(peer)}, state{std::move(owner)} {}

  void read();
  /// False where the connection has been given up.
  bool take_lines();
  void send(std::string line);
  void write();
  void close() {
    error_code ignored;
    socket.close(ignored);
    open = false;
  }
  [[nodiscard]] bool is_master() const { return greeted && hello.state == "master"; }
  /// What a hello would say after this event.
  void note(const PluginEvent& event);

  Unix::socket socket;
  std::shared_ptr<State> state;
  std::array<char, 4096> room{};
  std::string text;
  std::deque<std::string> outgoing;
  PluginEvent hello;  ///< as it would say it at present
  bool greeted = false;
  bool open = true;
};

struct PluginServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& io, std::string where, Callbacks to)
      : acceptor{io}, pause{io}, path{std::move(where)}, callbacks{std::move(to)} {}

  void accept() {
    acceptor.async_accept([self = shared_from_this()](error_code wrong, Unix::socket peer) {
      if (self->stopped || wrong == asio::error::operation_aborted) return;
      const bool welcome = !wrong && is_trusted(peer.native_handle()) && self->peers.size() < most_plugins;
      if (welcome) {
        self->peers.push_back(std::make_shared<Peer>(std::move(peer), self));
        self->peers.back()->read();
      }
      // One that is gone already is no reason to wait; no file descriptors left is.
      if (wrong && wrong != asio::error::connection_aborted) return self->accept_later();
      self->accept();
    });
  }

  void accept_later() {
    pause.expires_after(accept_pause);
    pause.async_wait([self = shared_from_this()](error_code wrong) {
      if (!wrong && !self->stopped) self->accept();
    });
  }

  void said(const std::shared_ptr<Peer>& peer, const PluginEvent& event) {
    peer->note(event);
    if (peer == active) {
      callbacks.event(event);
      // Whoever is the master by now counts from here on.
      if (!stopped && active && !active->is_master()) choose();
    } else if (!active || (!active->is_master() && peer->is_master())) {
      use(peer);
    }
  }

  void use(const std::shared_ptr<Peer>& peer) {
    if (std::exchange(active, nullptr)) callbacks.gone();
    if (stopped || active) return;
    active = peer;
    callbacks.event(peer->hello);
  }

  /// The master, where there is one; else the active one stays, and where there is none, any is better.
  void choose() {
    const auto master =
        std::find_if(peers.begin(), peers.end(), [](const auto& peer) { return peer->is_master(); });
    if (master != peers.end()) return use(*master);
    if (active) return;
    const auto any = std::find_if(peers.begin(), peers.end(), [](const auto& peer) { return peer->greeted; });
    if (any != peers.end()) use(*any);
  }

  void drop(const std::shared_ptr<Peer>& peer) {
    peer->close();
    std::erase(peers, peer);
    if (peer != active) return;
    active.reset();
    callbacks.gone();
    if (!stopped && !active) choose();
  }

  Unix::acceptor acceptor;
  asio::steady_timer pause;
  std::string path;
  Callbacks callbacks;
  std::vector<std::shared_ptr<Peer>> peers;
  std::shared_ptr<Peer> active;  ///< has said hello
  bool stopped = false;
};

void PluginServer::Peer::note(const PluginEvent& event) {
  using Kind = PluginEvent::Kind;
  switch (event.kind) {
    case Kind::Hello:
      hello = event;
      break;
    case Kind::SmState:
      hello.state = event.state;
      hello.window = hello.window && event.state == "master";
      break;
    case Kind::SubnetUp:
      hello.state = "master";  // only a master brings a subnet up
      hello.window = !event.errors;
      break;
    case Kind::HeavySweepStart:
      hello.window = false;
      break;
    case Kind::RoutingDone:
    case Kind::Plan:
      hello.epoch = event.epoch;
      break;
    default:
      break;
  }
}

void PluginServer::Peer::read() {
  socket.async_read_some(asio::buffer(room), [self = shared_from_this()](error_code wrong, std::size_t got) {
    if (self->state->stopped || !self->open) return;
    if (wrong) return self->state->drop(self);
    self->text.append(self->room.data(), got);
    if (self->take_lines() && self->open) self->read();
  });
}

bool PluginServer::Peer::take_lines() {
  const auto self = shared_from_this();
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const auto event = parse_plugin_event(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (!event || (!greeted && event->kind != PluginEvent::Kind::Hello)) {
      const Error error =
          event ? Error{ErrorCode::Invalid, "OpenSM's plugin did not begin with hello"} : event.error();
      state->drop(self);
      state->callbacks.trouble(error);
      return false;
    }
    greeted = true;
    state->said(self, *event);
    if (state->stopped || !open) return false;
  }
  text.erase(0, begin);
  if (text.size() <= longest_line) return true;
  state->drop(self);
  state->callbacks.trouble({ErrorCode::Invalid, "OpenSM's plugin said a line that has no end"});
  return false;
}

void PluginServer::Peer::send(std::string line) {
  outgoing.push_back(std::move(line));
  if (outgoing.size() == 1) write();
}

void PluginServer::Peer::write() {
  asio::async_write(socket, asio::buffer(outgoing.front()),
                    [self = shared_from_this()](error_code wrong, std::size_t) {
                      if (self->state->stopped || !self->open || self->outgoing.empty()) return;
                      if (wrong) return self->state->drop(self);
                      self->outgoing.pop_front();
                      if (!self->outgoing.empty()) self->write();
                    });
}

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
  state_->pause.cancel();
  for (const auto& peer : std::vector(state_->peers)) peer->close();
  state_->peers.clear();
  state_->active.reset();
  remove_socket(state_->path);
}

bool PluginServer::connected() const { return state_->active != nullptr; }

bool PluginServer::has_others() const {
  return std::any_of(state_->peers.begin(), state_->peers.end(),
                     [this](const auto& peer) { return peer->greeted && peer != state_->active; });
}

bool PluginServer::has_master() const { return state_->active && state_->active->is_master(); }

void PluginServer::say_hello_again() {
  if (state_->active) state_->callbacks.event(state_->active->hello);
}

void PluginServer::tell(PluginCommand command) {
  if (!state_->active) return;
  state_->active->send(command == PluginCommand::NewPlan ? "{\"command\":\"new_plan\"}\n"
                                                         : "{\"command\":\"heavy_sweep\"}\n");
}

}  // namespace heddle::opensm
