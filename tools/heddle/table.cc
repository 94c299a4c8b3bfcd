#include "heddle/table.h"

#include <algorithm>
#include <cassert>
#include <ostream>

namespace heddle::cli {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out, Colour colour) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = width_of(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, width_of(row[c]));
    widths.push_back(width);
  }
  const auto line = [&](const auto& cell_at) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_at(c);
      const std::string padding(widths[c] - width_of(cell), ' ');
      if (c > 0) text += "  ";
      text += columns_[c].align == Align::Right ? padding + cell : cell + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  const std::string title = line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  out << (colour == Colour::On ? "\033[1m" + title + "\033[0m" : title) << '\n';
  for (const auto& row : rows_) {
    out << line([&](std::size_t c) -> const std::string& { return row[c]; }) << '\n';
  }
}

}  // namespace heddle::cli
