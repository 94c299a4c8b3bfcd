/// Connections in TLS are compiled in a file of their own: nothing else here takes as long.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "control/visitors.h"

namespace heddle::control {

struct Door;

void greet_in_tls(boost::asio::ip::tcp::socket socket, std::shared_ptr<Door> door, Peer peer,
                  std::shared_ptr<boost::asio::ssl::context> tls);

}  // namespace heddle::control
