/// TLS for the TCP side. The names of the options and of versions are those of Prometheus' web configuration.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace boost::asio::ssl {
class context;
}

namespace heddle::control {

struct TlsFiles {
  std::string cert_file;       ///< the certificate and those that it was issued by, PEM
  std::string key_file;        ///< of the certificate, PEM
  std::string client_ca_file;  ///< empty: clients need no certificate
  std::string min_version = "TLS12";
};

/// Errors: Io or Refused for a file that cannot be read, or whose key others may read; Invalid with what
/// OpenSSL says.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> load_tls(const TlsFiles& files);

}  // namespace heddle::control
