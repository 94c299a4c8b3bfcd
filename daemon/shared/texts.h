/// Texts of any length under keys of a store that takes no more than 1.5 MB at once: the parts of a long one
/// go to keys of their own first (PREFIX/part/...), and count from when the key itself names them. So a text
/// is there as a whole, or as it was before.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shared/store.h"

namespace heddle::shared {

/// Keys below the prefix, without it and its '/'.
using Texts = std::map<std::string, std::string, std::less<>>;

/// Of a candidate's beat: what has changed, over what was there.
void take(Texts& texts, const std::string& prefix, const std::vector<KeyValue>& changed);
/// None: not there, or not whole. `key` as in Texts.
[[nodiscard]] std::optional<std::string> whole_text(const Texts& texts, std::string_view key);

/// Writes as the owner. One thread.
class Writer {
 public:
  static constexpr std::size_t most_at_once = std::size_t{512} << 10U;

  Writer(Store& store, std::string prefix, Guard guard)
      : store_{store}, prefix_{std::move(prefix)}, guard_{std::move(guard)} {}

  /// Errors: Refused when another daemon is the owner; those of Store::commit.
  Result<void> put(const std::string& key, const std::string& text);
  /// All keys from the first one to below the last one, and the parts of their texts.
  Result<void> erase(const std::string& from, const std::string& to);

 private:
  Result<void> commit(std::vector<Operation> operations);
  [[nodiscard]] std::string path(const std::string& key) const { return prefix_ + "/" + key; }

  Store& store_;
  std::string prefix_;
  Guard guard_;
  std::uint64_t written_ = 0;  ///< long texts
};

}  // namespace heddle::shared
