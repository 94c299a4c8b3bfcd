#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/printable.h"
#include "jobs/job.h"

namespace heddle::jobs {
namespace {

constexpr std::size_t most_bytes = 255;      ///< of a name: more than DNS takes
constexpr std::ptrdiff_t most_brackets = 8;  ///< in a name: Slurm has five dimensions at most

/// One element between commas: a prefix that is complete, and the rest. Each step leads to a name, so that
/// the bounds on names and brackets bound the work.
class HostlistExpansion {
 public:
  explicit HostlistExpansion(std::size_t most) : most_{most} {}

  Result<void> expand(std::string_view element) {
    if (std::ranges::count(element, '[') > most_brackets)
      return wrong(fmt::format("more than {} brackets in a name", most_brackets));
    return expand({}, element);
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  static tl::unexpected<Error> wrong(const std::string& why) {
    return fail(ErrorCode::Invalid, "in a list of hosts: " + why);
  }

  Result<void> expand(const std::string& prefix, std::string_view rest) {
    const auto open = rest.find('[');
    if (prefix.size() + std::min(open, rest.size()) > most_bytes)
      return wrong(fmt::format("a name of more than {} bytes", most_bytes));
    if (open == std::string_view::npos) {
      if (rest.find(']') != std::string_view::npos) return wrong("a ] without [");
      if (names_.size() >= most_) return wrong(fmt::format("more than {} hosts", most_));
      names_.push_back(prefix + std::string{rest});
      return {};
    }
    const auto close = rest.find(']', open);
    if (close == std::string_view::npos) return wrong("a [ without ]");
    const std::string before = prefix + std::string{rest.substr(0, open)};
    const std::string_view after = rest.substr(close + 1);
    std::string_view ranges = rest.substr(open + 1, close - open - 1);
    if (ranges.empty()) return wrong("[] with nothing in it");
    while (!ranges.empty()) {
      const auto comma = std::min(ranges.find(','), ranges.size());
      if (auto done = expand_range(before, ranges.substr(0, comma), after); !done) return done;
      ranges.remove_prefix(std::min(comma + 1, ranges.size()));
    }
    return {};
  }

  /// "7", "01-16": as many digits as the first number has.
  Result<void> expand_range(const std::string& before, std::string_view range, std::string_view after) {
    const auto dash = range.find('-');
    const std::string_view from = range.substr(0, dash);
    const std::string_view to = dash == std::string_view::npos ? from : range.substr(dash + 1);
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const auto read = [](std::string_view text, std::uint64_t& into) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
      return error == std::errc{} && end == text.data() + text.size();
    };
    if (!read(from, first) || !read(to, last) || last < first)
      return wrong(fmt::format("{} is no range of numbers", in_quotes(range)));
    if (before.size() + from.size() > most_bytes)
      return wrong(fmt::format("a name of more than {} bytes", most_bytes));
    if (last - first >= most_) return wrong(fmt::format("more than {} hosts", most_));
    for (std::uint64_t i = first; i <= last; ++i) {
      if (auto done = expand(before + fmt::format("{:0{}}", i, from.size()), after); !done) return done;
    }
    return {};
  }

  std::size_t most_;
  std::vector<std::string> names_;
};

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t most) {
  HostlistExpansion expansion{most};
  while (!text.empty()) {
    std::size_t end = 0;
    for (bool inside = false; end < text.size() && (inside || text[end] != ','); ++end) {
      if (text[end] == '[') inside = true;
      if (text[end] == ']') inside = false;
    }
    if (end > 0) {
      if (auto done = expansion.expand(text.substr(0, end)); !done) return fail(done.error());
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return expansion.take();
}

}  // namespace heddle::jobs
