#include "shared/etcd_store.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <utility>

#include "base/printable.h"
#include "notify/destination.h"
#include "shared/http_exchange.h"

namespace heddle::shared {
namespace {

namespace json = boost::json;
namespace ssl = boost::asio::ssl;

/// Of the store's own words in ours.
constexpr std::size_t longest_word = 200;

std::string encoded(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// Nothing of what is no base64.
std::string decoded(const std::string& text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  const std::size_t padding = text.size() - std::min(text.size(), text.find_last_not_of('=') + 1);
  if (length < 0 || padding > static_cast<std::size_t>(length)) return {};
  bytes.resize(static_cast<std::size_t>(length) - padding);
  return bytes;
}

/// proto3's JSON has 64-bit numbers as texts, and leaves zeroes out.
std::int64_t number_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return 0;
  if (const auto* number = value->if_int64()) return *number;
  const auto* text = value->if_string();
  std::int64_t number = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  const auto* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string{} : std::string{*text};
}

const json::object& object_at(const json::object& object, std::string_view key) {
  static const json::object none;
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_object() ? value->get_object() : none;
}

const json::array& array_at(const json::object& object, std::string_view key) {
  static const json::array none;
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

json::object range_of(const Operation& operation) {
  json::object range{{"key", encoded(operation.key)}};
  if (!operation.end.empty()) range["range_end"] = encoded(operation.end);
  return range;
}

json::object request_of(const Operation& operation) {
  if (operation.what == Operation::What::Put) {
    return {{"request_put",
             {{"key", encoded(operation.key)},
              {"value", encoded(operation.value)},
              {"lease", std::to_string(operation.lease)}}}};
  }
  json::object range = range_of(operation);
  if (operation.what == Operation::What::Delete) return {{"request_delete_range", std::move(range)}};
  if (operation.since > 0) range["min_mod_revision"] = std::to_string(operation.since);
  return {{"request_range", std::move(range)}};
}

json::object body_of(const Transaction& transaction) {
  json::object body;
  if (transaction.guard) {
    json::array compare;
    compare.push_back(json::object{{"key", encoded(transaction.guard->key)},
                                   {"target", "CREATE"},
                                   {"result", "EQUAL"},
                                   {"create_revision", std::to_string(transaction.guard->created)}});
    body["compare"] = std::move(compare);
  }
  json::array success;
  for (const Operation& operation : transaction.operations) success.push_back(request_of(operation));
  body["success"] = std::move(success);
  return body;
}

std::vector<KeyValue> read_in(const json::object& answer) {
  std::vector<KeyValue> found;
  for (const json::value& each : array_at(answer, "kvs")) {
    if (!each.is_object()) continue;
    const json::object& one = each.get_object();
    found.push_back({decoded(text_at(one, "key")), decoded(text_at(one, "value")),
                     number_at(one, "create_revision"), number_at(one, "mod_revision")});
  }
  return found;
}

Committed committed_in(const json::object& answer, const Transaction& transaction) {
  Committed committed;
  const json::value* succeeded = answer.if_contains("succeeded");
  committed.done = succeeded != nullptr && succeeded->is_bool() && succeeded->get_bool();
  committed.revision = number_at(object_at(answer, "header"), "revision");
  if (!committed.done) return committed;
  const json::array& responses = array_at(answer, "responses");
  for (std::size_t i = 0; i < std::min(responses.size(), transaction.operations.size()); ++i) {
    if (transaction.operations[i].what != Operation::What::Read) continue;
    static const json::object none;
    const json::object& response = responses[i].is_object() ? responses[i].get_object() : none;
    committed.read.push_back(read_in(object_at(response, "response_range")));
  }
  return committed;
}

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
    boost::system::error_code wrong;
    const json::value parsed = json::parse(answer->body, wrong);
    if (wrong || !parsed.is_object()) {
      return fail(ErrorCode::Unreachable, fmt::format("HTTP status {}, and no JSON", answer->status));
    }
    const json::object& object = parsed.get_object();
    if (answer->status == 200 && !object.contains("error")) return object;
    const std::string word = printable(text_at(object, "error").substr(0, longest_word));
    constexpr std::int64_t not_found = 5;  // of google.rpc.Code
    if (number_at(object, "code") == not_found) return fail(ErrorCode::NotFound, word);
    // No leader, a timeout within: another member may know better.
    const bool here_only = answer->status >= 500;
    return fail(here_only ? ErrorCode::Unreachable : ErrorCode::Refused,
                fmt::format("etcd says {} ({})", answer->status, word));
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
