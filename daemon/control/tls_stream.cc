#include "control/tls_stream.h"

#include <boost/beast/ssl/ssl_stream.hpp>
#include <utility>

#include "control/http_connection.h"

namespace heddle::control {
namespace {

using Tls = boost::beast::ssl_stream<PlainStream>;

}  // namespace

void greet_in_tls(boost::asio::ip::tcp::socket socket, std::shared_ptr<Door> door, Peer peer,
                  std::shared_ptr<boost::asio::ssl::context> tls) {
  // The stream copies what it needs of the context.
  Tls stream{PlainStream{std::move(socket)}, *tls};
  std::make_shared<Connection<Tls>>(std::move(stream), std::move(door), Access::Read, std::move(peer))
      ->begin();
}

}  // namespace heddle::control
