#include "heddle/drain_text.h"

#include <fmt/format.h>

#include "base/json_access.h"
#include "heddle/accounts.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

std::string stand_of(const boost::json::value& drain) {
  if (!truth_at(drain, "safe_to_pull"))
    return fmt::format("NOT safe to pull, {} of {} links still in use", count_at(drain, "on"),
                       count_at(drain, "links"));
  const auto away = array_at(drain, "away").size();
  const auto switches = static_cast<std::size_t>(count_at(drain, "switches"));
  if (away == 0) return "safe to pull";
  if (away < switches) return fmt::format("safe to pull, {} of {} switches out of sight", away, switches);
  return "safe to pull, or away already";
}

}  // namespace

std::string drain_line(const boost::json::value& drain) {
  std::string line = fmt::format("{}: {}; drained {} ago by {}", text_at(drain, "what"), stand_of(drain),
                                 human_seconds(number_at(drain, "for_seconds")), text_at(drain, "by"));
  if (!at_path(drain, "ends_in_seconds").is_null())
    line += fmt::format(", ends in {}", human_seconds(number_at(drain, "ends_in_seconds")));
  if (const std::string reason = text_at(drain, "reason"); !reason.empty())
    line += fmt::format("; {}", reason);
  return with_account_names(line);
}

}  // namespace heddle::cli
