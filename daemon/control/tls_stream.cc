#include "control/tls_stream.h"

#include <boost/beast/ssl/ssl_stream.hpp>
#include <utility>

#include "control/http_connection.h"

namespace heddle::control {
namespace {

using Plain = boost::beast::basic_stream<boost::asio::ip::tcp, boost::asio::any_io_executor>;
using Tls = boost::beast::ssl_stream<Plain>;

}  // namespace

void greet_in_tls(boost::asio::ip::tcp::socket socket, std::shared_ptr<Door> door, Peer peer,
                  std::shared_ptr<boost::asio::ssl::context> tls) {
  // The stream copies what it needs of the context.
  Tls stream{Plain{std::move(socket)}, *tls};
  std::make_shared<Connection<Tls>>(std::move(stream), std::move(door), Access::Read, std::move(peer))
      ->begin();
}

}  // namespace heddle::control
