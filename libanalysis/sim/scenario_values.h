/// Reads the tables of a scenario file: typed values with bounds, and an error that names file, line and key
/// for whatever does not fit. One table at a time; the first error stays.
#pragma once

#include <toml++/toml.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace heddle::sim {

/// "500ms", "30s", "2min", "1.5h", "1d"; nothing for anything else, or for more than 30 days.
[[nodiscard]] std::optional<Picoseconds> parse_duration(std::string_view text);

class TableReader {
 public:
  /// `what` is what messages call the table: "phase", "hosts".
  TableReader(const toml::table& table, std::string file, std::string what);

  // Each leaves `value` as it is where the key is missing, and notes an error where it does not fit.
  void read(std::string_view key, std::string& value);
  void read(std::string_view key, double& value, double least, double most);
  void read(std::string_view key, std::uint64_t& value, std::uint64_t least, std::uint64_t most);
  /// Seconds as a number, or text with a unit.
  void read(std::string_view key, Picoseconds& value, Picoseconds least);
  /// One string, or several.
  void read(std::string_view key, std::vector<std::string>& value);

  /// The node of a key that the caller reads itself; nullptr if it is missing.
  [[nodiscard]] const toml::node* take(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string place(const toml::node& node) const;

  void wrong(const toml::node& node, std::string_view key, std::string_view expected);
  /// About the whole table.
  void wrong(std::string_view message);
  void adopt(const Result<void>& result);

  /// Errors: the first one noted, or a key that nobody has asked for.
  [[nodiscard]] Result<void> finish() const;

 private:
  const toml::table& table_;
  std::string file_;
  std::string what_;
  std::vector<std::string> known_;
  std::optional<Error> error_;
};

}  // namespace heddle::sim
