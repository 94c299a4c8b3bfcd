#include "control/tls.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>

#include "control/tokens.h"

namespace heddle::control {

namespace ssl = boost::asio::ssl;

Result<std::shared_ptr<ssl::context>> load_tls(const TlsFiles& files) {
  const int version = files.min_version == "TLS12"   ? TLS1_2_VERSION
                      : files.min_version == "TLS13" ? TLS1_3_VERSION
                                                     : 0;
  if (version == 0) {
    return fail(ErrorCode::Invalid,
                fmt::format("metrics.tls.min_version must be TLS12 or TLS13, not '{}'", files.min_version));
  }
  const auto key = read_secret(files.key_file);
  if (!key) return fail("metrics.tls.key_file", key.error());
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* raw = context->native_handle();
  SSL_CTX_set_min_proto_version(raw, version);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // A connection that waits keeps no buffers, and the server no sessions.
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  boost::system::error_code wrong;
  const auto failed = [&](const char* what, const std::string& file) {
    return fail(ErrorCode::Invalid, fmt::format("metrics.tls.{} {}: {}", what, file, wrong.message()));
  };
  context->use_certificate_chain_file(files.cert_file, wrong);
  if (wrong) return failed("cert_file", files.cert_file);
  context->use_private_key(boost::asio::buffer(*key), ssl::context::pem, wrong);
  if (wrong) return failed("key_file", files.key_file);
  if (SSL_CTX_check_private_key(raw) != 1) {
    return fail(ErrorCode::Invalid, fmt::format("metrics.tls.key_file {}: is not the key of {}",
                                                files.key_file, files.cert_file));
  }
  if (files.client_ca_file.empty()) return context;
  context->load_verify_file(files.client_ca_file, wrong);
  if (wrong) return failed("client_ca_file", files.client_ca_file);
  SSL_CTX_set_client_CA_list(raw, SSL_load_client_CA_file(files.client_ca_file.c_str()));
  context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, wrong);
  if (wrong) return failed("client_ca_file", files.client_ca_file);
  return context;
}

}  // namespace heddle::control
