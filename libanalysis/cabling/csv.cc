#include "cabling/csv.h"

#include <algorithm>

namespace heddle::cabling {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string without_blanks_around(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return std::string{text.substr(first, text.find_last_not_of(" \t\r") - first + 1)};
}

}  // namespace

CsvReader::CsvReader(std::string_view text) : text_{text} {
  if (text_.substr(0, byte_order_mark.size()) == byte_order_mark) at_ = byte_order_mark.size();
}

bool CsvReader::next(CsvLine& line) {
  while (at_ < text_.size()) {
    read(line);
    if (std::any_of(line.cells.begin(), line.cells.end(), [](const auto& cell) { return !cell.empty(); })) {
      return true;
    }
  }
  return false;
}

void CsvReader::read(CsvLine& line) {
  line.number = number_;
  line.cells.clear();
  while (true) {
    line.cells.push_back(read_cell());
    if (at_ >= text_.size()) return;
    if (text_[at_++] == '\n') {
      ++number_;
      return;
    }
  }
}

/// Stops at the comma or line end that closes the cell, or at the end of the text.
std::string CsvReader::read_cell() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  if (at_ >= text_.size() || text_[at_] != '"') {
    const auto end = std::min(text_.find_first_of(",\n", at_), text_.size());
    const auto cell = text_.substr(at_, end - at_);
    at_ = end;
    return without_blanks_around(cell);
  }
  std::string cell;
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\n') ++number_;
    if (text_[at_] != '"') {
      cell += text_[at_];
    } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
      cell += text_[at_++];
    } else {
      break;
    }
  }
  at_ = std::min(text_.find_first_of(",\n", std::min(at_, text_.size())), text_.size());
  return without_blanks_around(cell);
}

}  // namespace heddle::cabling
