#include "notice/problem_watch.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace heddle::notice {
namespace {

constexpr std::array<std::string_view, 4> units_of_time{" s", " ms", " min", " h"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// How many characters of a unit of time stand here; 0: none.
std::size_t unit_at(std::string_view text) {
  for (const std::string_view unit : units_of_time) {
    if (!text.starts_with(unit)) continue;
    const bool ends =
        text.size() == unit.size() || std::isalnum(static_cast<unsigned char>(text[unit.size()])) == 0;
    if (ends) return unit.size();
  }
  return 0;
}

}  // namespace

std::string without_spans(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && (is_digit(text[end]) || (end > 0 && text[end] == '.'))) ++end;
    const std::size_t unit = end > 0 ? unit_at(text.substr(end)) : 0;
    if (unit == 0) rest += text.substr(0, std::max<std::size_t>(end, 1));
    text.remove_prefix(std::max<std::size_t>(end + unit, 1));
  }
  return rest;
}

ProblemWatch::ProblemWatch(const std::vector<OpenProblem>& open, Instant now, const WatchOptions& options)
    : options_{options} {
  const Instant not_before = now + options_.settle_at_start - options_.settle;
  for (const OpenProblem& problem : open)
    told_[problem.kind] = {problem.text, problem.since, now, not_before};
}

std::vector<Notice> ProblemWatch::look(const Problems& problems, Instant now, WallTime wall) {
  std::map<std::string, std::string> seen;
  for (const Problem& problem : problems) {
    std::string& text = seen[std::string(problem_names[static_cast<std::size_t>(problem.kind)].name)];
    text += (text.empty() ? "" : "; ") + problem.text;
  }
  std::vector<Notice> notices;
  const auto tell = [&](What what, const std::string& kind, const Told& of) {
    notices.push_back(bounded({0, wall, what, kind, {}, of.text, of.since}));
  };
  for (const auto& [kind, text] : seen) {
    const auto [known, is_new] = told_.try_emplace(kind, Told{text, wall, now, now});
    Told& told = known->second;
    told.last_seen = std::max(told.last_seen, now);
    if (is_new) {
      tell(What::ProblemBegan, kind, told);
    } else if (without_spans(told.text) != without_spans(text) &&
               now - told.changed >= options_.between_changes) {
      told.text = text;
      told.changed = now;
      tell(What::ProblemChanged, kind, told);
    }
  }
  std::erase_if(told_, [&](const auto& each) {
    const bool ended = !seen.contains(each.first) && now - each.second.last_seen >= options_.settle;
    if (ended) tell(What::ProblemEnded, each.first, each.second);
    return ended;
  });
  return notices;
}

std::vector<OpenProblem> ProblemWatch::open() const {
  std::vector<OpenProblem> all;
  for (const auto& [kind, told] : told_) {
    const Notice told_text = bounded({0, {}, What::ProblemBegan, kind, {}, told.text, {}});
    all.push_back({told_text.kind, told_text.text, told.since});
  }
  return all;
}

}  // namespace heddle::notice
