#include "acceptance/health_text.h"

#include <fmt/format.h>

#include "base/human.h"
#include "base/json_access.h"

namespace heddle::acceptance {
namespace {

using boost::json::value;

std::string finding_text(const value& finding) {
  const std::string blame = text_at(finding, "blame");
  const std::string first = blame.empty() ? "" : fmt::format("look at {} first: ", blame);
  return fmt::format("{:<7} {}  {}  (for {})\n        {}\n        {}{}\n", text_at(finding, "sure"),
                     text_at(finding, "rule"), text_at(finding, "where"),
                     human_seconds(number_at(finding, "since_seconds")), text_at(finding, "what"), first,
                     text_at(finding, "advice"));
}

}  // namespace

std::string health_text(const value& health) {
  std::string text;
  for (const value& order : array_at(health, "isolated_links")) {
    text += fmt::format("out of use for {} more: {}: {}\n", human_seconds(number_at(order, "for_seconds")),
                        text_at(order, "link"), text_at(order, "reason"));
  }
  const auto& findings = array_at(health, "findings");
  if (findings.empty()) {
    return text + fmt::format("well: {} ports, nothing found\n", count_at(health, "ports"));
  }
  for (const value& finding : findings) text += finding_text(finding);
  const bool advised = text_at(health, "isolate") == "advise";
  for (const value& order : array_at(health, "isolate_links")) {
    text += fmt::format("{} {}: {}\n",
                        advised ? "would be taken out:" : "is being taken out:", text_at(order, "link"),
                        text_at(order, "reason"));
  }
  return text + fmt::format("{} sure, {} likely\n", count_at(health, "sure"), count_at(health, "likely"));
}

}  // namespace heddle::acceptance
