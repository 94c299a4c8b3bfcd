/// Aligned tables for a terminal.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "base/human.h"
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

}  // namespace heddle::cli
