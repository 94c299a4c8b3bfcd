// Not templates: sockets, timers, the loop; HTTP's parser.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
