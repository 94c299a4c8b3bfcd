/// Lines of a CSV file (RFC 4180) as spreadsheets write them: quoted cells, line ends of any system, a byte
/// order mark.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cabling {

struct CsvLine {
  std::size_t number = 0;          ///< from 1, of the line in which it begins
  std::vector<std::string> cells;  ///< without blanks around them
};

/// Hands out a line after the other; lines that are empty but for commas and blanks are left out.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text);
  /// False at the end.
  bool next(CsvLine& line);

 private:
  void read(CsvLine& line);
  std::string read_cell();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t number_ = 1;
};

}  // namespace heddle::cabling
