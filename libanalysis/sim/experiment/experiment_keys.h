/// How an experiment file is read: values with bounds, keys that nobody asked for, and the first thing that
/// is wrong with its line. Within this module only.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/packet/config.h"

namespace heddle::packet {

inline constexpr std::int64_t most_bytes = 1'000'000'000;
inline constexpr std::int64_t most_cycles = 1'000'000'000'000;

/// A value by its name in the file.
template <class T>
struct Word {
  std::string_view text;
  T value;
};
/// The first thing that is wrong with a file, with its line.
class Complaints {
 public:
  void note(const toml::node& node, std::string_view key, std::string_view what) {
    if (!error_) {
      error_ = Error{ErrorCode::Invalid,
                     fmt::format("{}:{}: {}: {}", *node.source().path, node.source().begin.line, key, what)};
    }
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

/// One table: typed values with bounds; keys that nobody asked for are wrong.
class Keys {
 public:
  Keys(const toml::table& table, Complaints& complaints) : table_{table}, complaints_{complaints} {}
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  ~Keys() {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(asked_, key.str()) == asked_.end())
        complaints_.note(node, key.str(), "is not a key here");
    }
  }

  const toml::node* find(std::string_view key) {
    asked_.push_back(key);
    return table_.get(key);
  }

  template <class T>
  void integer(std::string_view key, T& value, std::int64_t least, std::int64_t most) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const auto read = whole(*node, key, least, most)) value = static_cast<T>(*read);
  }
  void number(std::string_view key, double& value, double least, double most) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const auto read = real(*node, key, least, most)) value = *read;
  }
  void flag(std::string_view key, bool& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const auto read = node->value_exact<bool>()) {
      value = *read;
    } else {
      complaints_.note(*node, key, "must be true or false");
    }
  }
  void text(std::string_view key, std::string& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (auto read = node->value_exact<std::string>()) {
      value = std::move(*read);
    } else {
      complaints_.note(*node, key, "must be text in quotes");
    }
  }
  template <class Words, class T>
  void word(std::string_view key, T& value, const Words& words) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string>();
    std::string possible;
    for (const auto& word : words) {
      if (text && word.text == *text) {
        value = word.value;
        return;
      }
      possible += fmt::format("{}\"{}\"", possible.empty() ? "" : ", ", word.text);
    }
    complaints_.note(*node, key, "must be one of " + possible);
  }
  template <class T>
  void integers(std::string_view key, std::vector<T>& values, std::int64_t least, std::int64_t most) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    values.clear();
    for (const toml::node& node : *array) {
      if (const auto read = whole(node, key, least, most)) values.push_back(static_cast<T>(*read));
    }
  }
  /// [[number, ...], ...]
  template <class T>
  void lists(std::string_view key, std::vector<std::vector<T>>& values, std::int64_t least,
             std::int64_t most) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    values.clear();
    for (const toml::node& node : *array) {
      const toml::array* inner = node.as_array();
      if (inner == nullptr) {
        complaints_.note(node, key, "must be a list of lists");
        return;
      }
      values.emplace_back();
      for (const toml::node& item : *inner) {
        if (const auto read = whole(item, key, least, most)) values.back().push_back(static_cast<T>(*read));
      }
    }
  }
  void numbers(std::string_view key, std::vector<double>& values, double least, double most) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    values.clear();
    for (const toml::node& node : *array) {
      if (const auto read = real(node, key, least, most)) values.push_back(*read);
    }
  }
  void texts(std::string_view key, std::vector<std::string>& values) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    for (const toml::node& node : *array) {
      if (const auto read = node.value_exact<std::string>()) {
        values.push_back(*read);
      } else {
        complaints_.note(node, key, "must be a list of texts in quotes");
      }
    }
  }
  template <class F>
  void table(std::string_view key, F&& read) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (const toml::table* inner = node->as_table()) {
      Keys keys{*inner, complaints_};
      read(keys);
    } else {
      complaints_.note(*node, key, "must be a table");
    }
  }
  template <class F>
  void tables(std::string_view key, F&& read) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    for (const toml::node& node : *array) {
      if (const toml::table* inner = node.as_table()) {
        Keys keys{*inner, complaints_};
        read(keys);
      } else {
        complaints_.note(node, key, "must be a list of tables");
      }
    }
  }
  /// [[lane, weight], ...]
  void entries(std::string_view key, std::vector<TableEntry>& entries) {
    const toml::array* array = list(key);
    if (array == nullptr) return;
    entries.clear();
    for (const toml::node& node : *array) {
      const toml::array* pair = node.as_array();
      if (pair == nullptr || pair->size() != 2) {
        complaints_.note(node, key, "must be a list of [lane, weight]");
        return;
      }
      const auto lane = whole((*pair)[0], key, 0, 31);
      const auto weight = whole((*pair)[1], key, 0, 1'000'000);
      if (!lane || !weight) return;
      entries.push_back({static_cast<std::uint8_t>(*lane), static_cast<std::uint32_t>(*weight)});
    }
  }
  void wrong(std::string_view key, std::string_view what) {
    const toml::node* node = table_.get(key);
    complaints_.note(node != nullptr ? *node : static_cast<const toml::node&>(table_), key, what);
  }
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }

 private:
  const toml::array* list(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return nullptr;
    if (node->as_array() == nullptr) complaints_.note(*node, key, "must be a list");
    return node->as_array();
  }
  std::optional<std::int64_t> whole(const toml::node& node, std::string_view key, std::int64_t least,
                                    std::int64_t most) {
    const auto read = node.value_exact<std::int64_t>();
    if (read && *read >= least && *read <= most) return read;
    complaints_.note(node, key, fmt::format("must be a whole number from {} to {}", least, most));
    return std::nullopt;
  }
  std::optional<double> real(const toml::node& node, std::string_view key, double least, double most) {
    const auto read = node.is_number() ? node.value<double>() : std::nullopt;
    if (read && *read >= least && *read <= most) return read;
    complaints_.note(node, key, fmt::format("must be a number from {} to {}", least, most));
    return std::nullopt;
  }

  const toml::table& table_;
  Complaints& complaints_;
  std::vector<std::string_view> asked_;
};

/// What may stand in [planes.NAME], here or in an included file, by NAME.
using PlaneBases = std::map<std::string, const toml::table*, std::less<>>;

/// Bytes as whole flits, rounded up.
[[nodiscard]] inline std::int32_t in_flits(std::int64_t bytes, int flit_bytes) {
  return static_cast<std::int32_t>((bytes + flit_bytes - 1) / flit_bytes);
}

/// Keys of [plane], and of each [[variant]], which begins with what [plane] says. `base` names one of the
/// bases, whose keys are read first.
void read_plane(Keys& keys, DataPlane& plane, const PlaneBases& bases, Complaints& complaints);

}  // namespace heddle::packet
