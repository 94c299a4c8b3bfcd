/// What `heddle top` shows: the daemon's answers and the keys so far as lines of a screen. Pure: no terminal,
/// no clock.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

enum class TopKey : std::uint8_t { None, Up, Down, PageUp, PageDown, Home, End, Quit };

/// What was asked for, as a query for GET /v1/links or /v1/jobs, and how it is shown.
class TopScreen {
 public:
  /// `sort` as in GET /v1/links.
  explicit TopScreen(std::string sort) : sort_{std::move(sort)} {}

  /// "/v1/links?...", or "/v1/jobs?...": what the next screen of this size needs.
  [[nodiscard]] std::string target(ScreenSize size);
  /// Takes input as a terminal sends it. True when the operator wants to leave.
  enum class Wish : std::uint8_t { Stay, Leave };
  Wish type(std::string_view input);

  void status(boost::json::value answer) { status_ = std::move(answer); }
  /// To target(). One to what was shown before is not taken.
  void rows(boost::json::value answer);
  /// Shown in place of figures; empty for none.
  void problem(std::string sentence) { problem_ = std::move(sentence); }

  /// Exactly size.rows lines, none wider than size.columns. The line of column titles is `title_line`.
  [[nodiscard]] std::vector<std::string> lines(ScreenSize size) const;
  static constexpr std::size_t title_line = 3;

 private:
  enum class Shows : std::uint8_t { Links, Jobs };

  void press(TopKey key);
  void press(char key);
  [[nodiscard]] std::size_t matched() const;
  [[nodiscard]] std::string what() const;

  Shows shows_ = Shows::Links;
  std::string sort_;
  std::string kind_;
  std::size_t first_ = 0;  ///< row at the top of the list
  std::size_t page_ = 10;  ///< rows on a screen
  boost::json::value status_;
  boost::json::value rows_;
  std::string problem_;
};

/// The first `width` characters of UTF-8 text, the last one replaced by "~" where it is longer; padded with
/// spaces to the right (Left) or to the left (Right).
enum class Side : std::uint8_t { Left, Right };
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width, Side side = Side::Left);

}  // namespace heddle::cli
