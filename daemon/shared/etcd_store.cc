#include "shared/etcd_store.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "base/printable.h"
#include "notify/destination.h"
#include "shared/etcd_json.h"
#include "shared/http_exchange.h"

namespace heddle::shared {
namespace {

namespace json = boost::json;
namespace ssl = boost::asio::ssl;

bool is_loopback(const std::string& host) {
  boost::system::error_code no_address;
  const auto address = boost::asio::ip::make_address(host, no_address);
  return host == "localhost" || (!no_address && address.is_loopback());
}

class EtcdStore final : public Store {
 public:
  EtcdStore(EtcdOptions options, std::vector<notify::WebAddress> endpoints)
      : options_{std::move(options)}, endpoints_{std::move(endpoints)} {}

  Result<Committed> commit(const Transaction& transaction) override {
    const auto answer = ask("/v3/kv/txn", body_of(transaction));
    if (!answer) return fail(answer.error());
    return committed_in(*answer, transaction);
  }

  Result<LeaseId> grant(std::chrono::seconds length) override {
    const auto answer = ask("/v3/lease/grant", {{"TTL", std::to_string(length.count())}});
    if (!answer) return fail(answer.error());
    const LeaseId lease = number_at(*answer, "ID");
    // Shorter than was asked for would end before we think it does.
    if (lease == no_lease || number_at(*answer, "TTL") < length.count()) {
      return fail(ErrorCode::Refused, "etcd grants no lease of that length");
    }
    return lease;
  }

  Result<void> renew(LeaseId lease) override {
    const auto answer = ask("/v3/lease/keepalive", {{"ID", std::to_string(lease)}});
    if (!answer) return fail(answer.error());
    if (number_at(object_at(*answer, "result"), "TTL") > 0) return {};
    return fail(ErrorCode::NotFound, "the lease has ended");
  }

  Result<void> revoke(LeaseId lease) override {
    if (const auto answer = ask("/v3/lease/revoke", {{"ID", std::to_string(lease)}}); !answer) {
      return fail(answer.error());
    }
    return {};
  }

 private:
  /// Of the first endpoint that answers, beginning with the one that did so last.
  Result<json::object> ask(const char* target, const json::object& body) {
    const std::string text = json::serialize(body);
    std::string failures;
    for (std::size_t tried = 0; tried < endpoints_.size(); ++tried) {
      auto answer = ask_one(endpoints_[in_use_], target, text);
      if (answer || answer.error().code != ErrorCode::Unreachable) return answer;
      failures += fmt::format("{}{}: {}", failures.empty() ? "" : "; ", options_.endpoints[in_use_],
                              answer.error().message);
      in_use_ = (in_use_ + 1) % endpoints_.size();
    }
    return fail(ErrorCode::Unreachable, failures);
  }

  Result<json::object> ask_one(const notify::WebAddress& address, const char* target,
                               const std::string& text) {
    std::unique_ptr<ssl::context> tls;
    if (address.tls) {
      auto made = client_tls();
      if (!made) return fail(made.error());
      tls = *std::move(made);
    }
    const auto answer = post(address, tls.get(), target, text, options_.timeout);
    if (!answer) return fail(answer.error());
    return answer_in(answer->status, answer->body);
  }

  [[nodiscard]] Result<std::unique_ptr<ssl::context>> client_tls() const {
    auto context = std::make_unique<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    boost::system::error_code wrong;
    const char* of = "state.etcd.ca";
    context->set_verify_mode(ssl::verify_peer, wrong);
    if (options_.ca_file.empty()) {
      context->set_default_verify_paths(wrong);
    } else {
      context->load_verify_file(options_.ca_file, wrong);
    }
    if (!wrong && !options_.cert_file.empty()) {
      context->use_certificate_chain_file(options_.cert_file, wrong);
      of = "state.etcd.cert";
      if (!wrong) {
        context->use_private_key_file(options_.key_file, ssl::context::pem, wrong);
        of = "state.etcd.key";
      }
    }
    if (wrong) return fail(ErrorCode::Io, fmt::format("{}: {}", of, wrong.message()));
    return context;
  }

  EtcdOptions options_;
  std::vector<notify::WebAddress> endpoints_;
  std::size_t in_use_ = 0;
};

Result<std::vector<notify::WebAddress>> addresses_of(const EtcdOptions& options) {
  if (options.endpoints.empty()) return fail(ErrorCode::Invalid, "state.etcd.endpoints names nobody");
  std::vector<notify::WebAddress> all;
  for (const std::string& endpoint : options.endpoints) {
    auto address = notify::parse_url(endpoint);
    if (!address) return fail("state.etcd.endpoints", address.error());
    if (!address->tls && !is_loopback(address->host)) {
      return fail(ErrorCode::Invalid,
                  fmt::format("state.etcd.endpoints: {} is plain HTTP to another host, where anybody between "
                              "could give orders; use https, or an etcd on loopback",
                              printable(endpoint)));
    }
    all.push_back(*std::move(address));
  }
  if (options.cert_file.empty() != options.key_file.empty()) {
    return fail(ErrorCode::Invalid, "state.etcd.cert and state.etcd.key go together");
  }
  return all;
}

}  // namespace

std::string end_of(std::string prefix) {
  ++prefix.back();
  return prefix;
}

Result<void> check(const EtcdOptions& options) {
  if (auto all = addresses_of(options); !all) return fail(all.error());
  return {};
}

Result<std::unique_ptr<Store>> etcd_store(const EtcdOptions& options) {
  auto all = addresses_of(options);
  if (!all) return fail(all.error());
  return std::make_unique<EtcdStore>(options, *std::move(all));
}

}  // namespace heddle::shared
