// The TCP side: everybody may read, nobody may change anything.

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <optional>

#include "control/http_listener.h"
#include "control/tls_stream.h"

namespace heddle::control {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

/// An IPv6 host has a whole /64 of addresses, so that is what counts as one peer.
Peer peer_of(const asio::ip::address& address) {
  if (!address.is_v6()) return address.to_string();
  if (address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), 0);
  return asio::ip::address_v6{bytes}.to_string() + "/64";
}

std::optional<Tcp::endpoint> endpoint_of(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  unsigned short port = 0;
  const char* end = address.data() + address.size();
  if (const auto got = std::from_chars(address.data() + colon + 1, end, port);
      got.ec != std::errc{} || got.ptr != end) {
    return std::nullopt;
  }
  boost::system::error_code wrong;
  const auto parsed = asio::ip::make_address(host, wrong);
  if (wrong) return std::nullopt;
  return Tcp::endpoint{parsed, port};
}

}  // namespace

Result<void> check_tcp_address(const std::string& address) {
  if (endpoint_of(address)) return {};
  return fail(ErrorCode::Invalid,
              fmt::format("{}: expected an address and a port, as 127.0.0.1:9683 or [::1]:9683", address));
}

Result<std::unique_ptr<HttpServer>> serve_tcp(asio::io_context& io, const TcpRules& rules, Handler handler,
                                              HttpLimits limits) {
  if (auto good = check_tcp_address(rules.address); !good) return fail(good.error());
  const auto endpoint = endpoint_of(rules.address);
  boost::system::error_code wrong;
  Tcp::acceptor acceptor{io};
  acceptor.open(endpoint->protocol(), wrong);
  if (!wrong) acceptor.set_option(asio::socket_base::reuse_address{true}, wrong);
  if (!wrong) acceptor.bind(*endpoint, wrong);
  if (!wrong) acceptor.listen(asio::socket_base::max_listen_connections, wrong);
  if (wrong) {
    return fail(ErrorCode::Io, fmt::format("cannot listen on {}: {}", rules.address, wrong.message()));
  }
  const auto greet = [](Tcp::socket socket, const std::shared_ptr<Door>& door) {
    boost::system::error_code gone;
    const auto from = socket.remote_endpoint(gone);
    if (gone) return;
    Peer peer = peer_of(from.address());
    const auto secrets = door->rules.guard ? door->rules.guard->secrets() : TcpGuard::Secrets{};
    if (secrets.tls) return greet_in_tls(std::move(socket), door, std::move(peer), secrets.tls);
    std::make_shared<Connection<PlainStream>>(PlainStream{std::move(socket)}, door, Access::Read,
                                              std::move(peer))
        ->begin();
  };
  auto door = std::make_shared<Door>(Door{std::move(handler), limits, {rules.hosts, rules.guard}});
  return std::make_unique<Listener<Tcp, decltype(greet)>>(io, std::move(acceptor), std::move(door), greet);
}

}  // namespace heddle::control
