#include "notice/notice.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"

namespace heddle::notice {
namespace {

/// Events of these kinds tell of something that went wrong; what regulation did on purpose is no warning.
constexpr std::array<std::string_view, 3> kinds_that_warn{"failed", "excluded", "lost"};

}  // namespace

std::string_view to_string(What what) {
  switch (what) {
    case What::Event:
      return "event";
    case What::ProblemBegan:
      return "began";
    case What::ProblemChanged:
      return "changed";
    case What::ProblemEnded:
      return "ended";
  }
  return "?";
}

std::string cut(std::string_view text, std::size_t most) {
  constexpr std::string_view dots = "...";
  if (text.size() <= most) return std::string{text};
  if (most < dots.size()) return std::string(dots.substr(0, most));
  std::size_t end = most - dots.size();
  const auto continues = [&] { return (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U; };
  while (end > 0 && continues()) --end;
  return std::string{text.substr(0, end)}.append(dots);
}

Notice bounded(Notice notice) {
  notice.kind = cut(printable(notice.kind), most_kind);
  notice.links = cut(printable(notice.links), most_links);
  notice.text = cut(printable(notice.text), most_text);
  return notice;
}

std::string timestamp(WallTime at) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(at);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(whole)),
                     (at - whole).count());
}

Severity severity(const Notice& notice) {
  switch (notice.what) {
    case What::ProblemBegan:
    case What::ProblemChanged:
      return Severity::Warning;
    case What::ProblemEnded:
      return Severity::Notice;
    case What::Event:
      break;
  }
  const bool warns = std::ranges::find(kinds_that_warn, notice.kind) != kinds_that_warn.end();
  return warns ? Severity::Warning : Severity::Informational;
}

}  // namespace heddle::notice
