#include "shared/etcd_json.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <charconv>
#include <utility>

#include "base/printable.h"

namespace heddle::shared {
namespace {

namespace json = boost::json;

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

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  const auto* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string{} : std::string{*text};
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

}  // namespace

std::int64_t number_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return 0;
  if (const auto* number = value->if_int64()) return *number;
  const auto* text = value->if_string();
  std::int64_t number = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

const json::object& object_at(const json::object& object, std::string_view key) {
  static const json::object none;
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_object() ? value->get_object() : none;
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

Result<json::object> answer_in(unsigned status, const std::string& body) {
  boost::system::error_code wrong;
  const json::value parsed = json::parse(body, wrong);
  if (wrong || !parsed.is_object()) {
    return fail(ErrorCode::Unreachable, fmt::format("HTTP status {}, and no JSON", status));
  }
  const json::object& object = parsed.get_object();
  if (status == 200 && !object.contains("error")) return object;
  const std::string word = printable(text_at(object, "error").substr(0, longest_word));
  constexpr std::int64_t not_found = 5;  // of google.rpc.Code
  if (number_at(object, "code") == not_found) return fail(ErrorCode::NotFound, word);
  // No leader, a timeout within: another member may know better.
  const bool here_only = status >= 500;
  return fail(here_only ? ErrorCode::Unreachable : ErrorCode::Refused,
              fmt::format("etcd says {} ({})", status, word));
}

}  // namespace heddle::shared
