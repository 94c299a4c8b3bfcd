/// Aligned tables for a terminal, and quantities as a person reads them.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "heddle/command.h"

namespace heddle::cli {

enum class Align : unsigned char { Left, Right };

struct Column {
  std::string title;
  Align align = Align::Left;
};

/// Collects rows, then prints them with columns as wide as their widest cell. Widths count UTF-8 characters.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}
  /// Missing cells are empty; there must not be more cells than columns.
  void add(std::vector<std::string> cells);
  void print(std::ostream& out, Colour colour) const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "12.3 Gbit/s", "45.1 %", "3.2 GB", "1.5 ms"; "-" for what is not a number.
[[nodiscard]] std::string human(BitRate rate);
[[nodiscard]] std::string human(Ratio ratio);
[[nodiscard]] std::string human_bytes(double bytes);
[[nodiscard]] std::string human_seconds(double seconds);
/// A bit error rate: "1.2e-12", "0"; "unknown" for what is not a number.
[[nodiscard]] std::string human_ber(double rate);

}  // namespace heddle::cli
