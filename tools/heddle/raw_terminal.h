/// A terminal that gives every key at once and is drawn on as a whole; on leaving, also by a signal that ends
/// the program, it is as it was. One at a time.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "heddle/top_screen.h"

namespace heddle::cli {

class RawTerminal {
 public:
  /// Errors: Unsupported where standard input or output is no terminal.
  [[nodiscard]] static Result<void> check();
  /// Precondition: check().
  RawTerminal();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  /// 80 x 24 where the terminal does not say.
  [[nodiscard]] static ScreenSize size();
  /// Replaces what is shown; line `bold` stands out.
  static void draw(const std::vector<std::string>& lines, std::size_t bold);
  /// What is typed until the time is over, or the size changes: then nothing. "q" at the end of input and
  /// when a signal asks to end.
  [[nodiscard]] static std::string read(std::chrono::milliseconds most);
};

}  // namespace heddle::cli
