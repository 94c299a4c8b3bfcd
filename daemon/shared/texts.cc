#include "shared/texts.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace heddle::shared {
namespace {

using What = Operation::What;

/// Before a text that stands in its key, and before the place of one that does not.
constexpr char whole = '=';
constexpr char in_parts = '#';

std::string parts_of(std::string_view key, std::string_view stamp) {
  return fmt::format("part/{}/{}", key, stamp);
}

std::string part_of(std::string_view key, std::string_view stamp, std::size_t part) {
  return fmt::format("{}/{:04}", parts_of(key, stamp), part);
}

}  // namespace

void take(Texts& texts, const std::string& prefix, const std::vector<KeyValue>& changed) {
  for (const KeyValue& each : changed) {
    if (each.key.starts_with(prefix + "/")) texts[each.key.substr(prefix.size() + 1)] = each.value;
  }
}

std::optional<std::string> whole_text(const Texts& texts, std::string_view key) {
  const auto found = texts.find(key);
  if (found == texts.end() || found->second.empty()) return std::nullopt;
  const std::string_view value = found->second;
  if (value.front() == whole) return std::string{value.substr(1)};
  const std::size_t gap = value.find(' ');
  if (value.front() != in_parts || gap == std::string_view::npos) return std::nullopt;
  std::size_t count = 0;
  std::from_chars(value.data() + 1, value.data() + gap, count);
  std::string text;
  for (std::size_t part = 0; part < count; ++part) {
    const auto at = texts.find(part_of(key, value.substr(gap + 1), part));
    if (at == texts.end()) return std::nullopt;
    text += at->second;
  }
  return text;
}

Result<void> Writer::commit(std::vector<Operation> operations) {
  const auto committed = store_.commit({guard_, std::move(operations)});
  if (!committed) return fail(committed.error());
  if (!committed->done) return fail(ErrorCode::Refused, "another daemon owns this fabric");
  return {};
}

Result<void> Writer::put(const std::string& key, const std::string& text) {
  // Later stamps are greater, also those of later owners.
  const std::string stamp = fmt::format("{:016x}-{:08x}", guard_.created, ++written_);
  Operation head{.what = What::Put, .key = path(key), .value = whole + text};
  if (text.size() > most_at_once) {
    std::size_t part = 0;
    for (std::size_t from = 0; from < text.size(); from += most_at_once, ++part) {
      auto put = commit({{.what = What::Put,
                          .key = path(part_of(key, stamp, part)),
                          .value = text.substr(from, most_at_once)}});
      if (!put) return put;
    }
    head.value = fmt::format("{}{} {}", in_parts, part, stamp);
  }
  const Operation earlier{
      .what = What::Delete, .key = path(parts_of(key, "")), .end = path(parts_of(key, stamp))};
  return commit({std::move(head), earlier});
}

Result<void> Writer::erase(const std::string& from, const std::string& to) {
  return commit({{.what = What::Delete, .key = path(from), .end = path(to)},
                 {.what = What::Delete, .key = path("part/" + from), .end = path("part/" + to)}});
}

}  // namespace heddle::shared
