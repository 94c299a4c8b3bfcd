#include "acceptance/cabling_report.h"

#include <fmt/format.h>

#include <utility>

namespace heddle::acceptance {
namespace {

using cabling::CableCheck;
using cabling::CableEnd;
using cabling::Difference;

std::string placed(const CableEnd& end) {
  return end.location.empty() ? end.text() : fmt::format("{} ({})", end.text(), end.location);
}

std::string cable(const Difference& difference) {
  return fmt::format("{} -- {}", placed(difference.start), placed(difference.end));
}

/// Lists call an adapter "HOST ibp11s0f0" and have HOST beside it once more.
std::string unknown(const CableEnd& end) {
  return end.port.substr(0, end.node.size()) == end.node ? end.port
                                                         : fmt::format("{} {}", end.node, end.port);
}

/// "leaf-0/3 has no cable", or where it leads.
std::string truth(const Difference& difference) {
  std::string text;
  for (const CableEnd* end : {&difference.start, &difference.end}) {
    if (!end->guid) text += fmt::format("the fabric has no {}; ", unknown(*end));
    if (end->guid && !end->number) text += fmt::format("{} has no port {}; ", end->node, end->port);
  }
  const CableEnd& there = difference.start.number ? difference.start : difference.end;
  if (!there.number) return text.substr(0, text.size() - 2);
  return text + (difference.actual.empty() ? fmt::format("{} has no cable", there.text())
                                           : fmt::format("{} leads to {}", there.text(), difference.actual));
}

std::string line_of(const Difference& difference) {
  return difference.line == 0 ? std::string{} : fmt::format("  (line {})", difference.line);
}

TestCase failed_case(const std::string& kind, const Difference& difference, std::string why) {
  return {"cabling", cable(difference), TestCase::End::Failed, kind, std::move(why)};
}

}  // namespace

std::string cabling_text(const CableCheck& check) {
  std::string text;
  for (const Difference& missing : check.missing) {
    text += fmt::format("missing     {}: {}{}\n", cable(missing), truth(missing), line_of(missing));
  }
  for (const Difference& swapped : check.swapped) {
    text += fmt::format("swapped     {}: {}{}\n", cable(swapped), truth(swapped), line_of(swapped));
  }
  for (const Difference& unexpected : check.unexpected) {
    text += fmt::format("unexpected  {}\n", cable(unexpected));
  }
  for (const Difference& rate : check.wrong_rate) {
    text += fmt::format("wrong rate  {}: {}, planned {}{}\n", cable(rate), rate.actual, rate.expected,
                        line_of(rate));
  }
  text +=
      fmt::format("{} of {} cables as planned; {} missing, {} swapped, {} unexpected, {} at another rate\n",
                  check.as_planned, check.planned, check.missing.size(), check.swapped.size(),
                  check.unexpected.size(), check.wrong_rate.size());
  return text;
}

std::vector<TestCase> cabling_cases(const CableCheck& check) {
  std::vector<TestCase> cases;
  for (const CableEnd& end : check.right) cases.push_back({.of = "cabling", .name = placed(end)});
  for (const Difference& missing : check.missing)
    cases.push_back(failed_case("missing", missing, truth(missing)));
  for (const Difference& swapped : check.swapped)
    cases.push_back(failed_case("swapped", swapped, truth(swapped)));
  for (const Difference& extra : check.unexpected)
    cases.push_back(failed_case("unexpected", extra, "not planned"));
  for (const Difference& rate : check.wrong_rate)
    cases.push_back(
        failed_case("wrong_rate", rate, fmt::format("{}, planned {}", rate.actual, rate.expected)));
  return cases;
}

std::string suite_of_cables(const std::string& plan) { return "cabling as in " + plan; }

}  // namespace heddle::acceptance
