// The control socket: who may do what follows from who is at the other end.

#include <fmt/format.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "control/http_listener.h"

namespace heddle::control {
namespace {

namespace asio = boost::asio;
using Unix = asio::local::stream_protocol;

/// The kernel tells the groups that the peer had when it connected: a directory service is not asked, which
/// might take its time.
bool in_group(int socket, const ucred& peer, gid_t wanted) {
  if (peer.gid == wanted) return true;
  std::vector<gid_t> groups(64);
  for (int tries = 0; tries < 2; ++tries) {
    auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const int got = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size);
    groups.resize(size / sizeof(gid_t));
    if (got == 0) return std::ranges::find(groups, wanted) != groups.end();
    if (errno != ERANGE) return false;
  }
  return false;
}

std::optional<gid_t> group_id(const std::string& name) {
  std::vector<char> text(65536);
  group entry{};
  group* found = nullptr;
  if (name.empty() || getgrnam_r(name.c_str(), &entry, text.data(), text.size(), &found) != 0 ||
      found == nullptr) {
    return std::nullopt;
  }
  return found->gr_gid;
}

/// Who has connected, and what they may do.
struct Caller {
  Access access = Access::Read;
  Peer peer;
};

std::optional<Caller> admit(int socket, std::optional<gid_t> group, bool others_may_read) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  Caller caller{peer.uid == 0 ? Access::Root : Access::Change, fmt::format("uid {}", peer.uid)};
  if (peer.uid == 0 || peer.uid == geteuid() || (group && in_group(socket, peer, *group))) return caller;
  caller.access = Access::Read;
  if (others_may_read) return caller;
  return std::nullopt;
}

template <class Greet>
class UnixListener final : public Listener<Unix, Greet> {
 public:
  UnixListener(asio::io_context& io, Unix::acceptor acceptor, std::shared_ptr<Door> door, Greet greet,
               std::string path)
      : Listener<Unix, Greet>{io, std::move(acceptor), std::move(door), std::move(greet)},
        path_{std::move(path)} {}
  ~UnixListener() override { unlink(path_.c_str()); }
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

 private:
  std::string path_;
};

}  // namespace

Result<void> check_socket_path(const std::string& path) {
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (!path.empty() && path.size() <= longest) return {};
  return fail(ErrorCode::Invalid, fmt::format("{}: must have 1 to {} characters", path, longest));
}

Result<std::unique_ptr<HttpServer>> serve_unix(asio::io_context& io, const UnixSocketRules& rules,
                                               Handler handler, HttpLimits limits) {
  const auto cannot = [&](const std::string& reason) {
    return fail(ErrorCode::Io, fmt::format("control.socket {}: {}", rules.path, reason));
  };
  if (auto good = check_socket_path(rules.path); !good) return fail("control.socket", good.error());
  boost::system::error_code wrong;
  struct stat status {};
  if (lstat(rules.path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) return cannot("is there already, and is not a socket");
    Unix::socket probe{io};
    probe.connect(Unix::endpoint{rules.path}, wrong);
    if (!wrong) {
      return fail(ErrorCode::Conflict,
                  fmt::format("control.socket {}: another heddled listens on it", rules.path));
    }
    unlink(rules.path.c_str());
  }
  Unix::acceptor acceptor{io};
  acceptor.open(Unix{}, wrong);
  // Nobody gets in between bind and chmod.
  const mode_t old_mask = umask(0177);
  if (!wrong) acceptor.bind(Unix::endpoint{rules.path}, wrong);
  umask(old_mask);
  if (wrong) return cannot(wrong.message());
  const auto group = group_id(rules.group);
  if (group && geteuid() == 0 && chown(rules.path.c_str(), static_cast<uid_t>(-1), *group) != 0) {
    return cannot(std::strerror(errno));
  }
  if (chmod(rules.path.c_str(), rules.others_may_read ? 0666 : 0660) != 0)
    return cannot(std::strerror(errno));
  acceptor.listen(asio::socket_base::max_listen_connections, wrong);
  if (wrong) return cannot(wrong.message());
  const auto greet = [group, read = rules.others_may_read](Unix::socket socket,
                                                           const std::shared_ptr<Door>& door) {
    const auto caller = admit(socket.native_handle(), group, read);
    if (!caller) return;
    std::make_shared<Connection<PlainStream>>(PlainStream{std::move(socket)}, door, caller->access,
                                              caller->peer)
        ->begin();
  };
  auto door = std::make_shared<Door>(Door{std::move(handler), limits, {}});
  return std::make_unique<UnixListener<decltype(greet)>>(io, std::move(acceptor), std::move(door), greet,
                                                         rules.path);
}

}  // namespace heddle::control
