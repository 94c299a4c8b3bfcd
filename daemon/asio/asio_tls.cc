// Not templates: what stands between Asio and OpenSSL.
#include <boost/asio/ssl/impl/src.hpp>
