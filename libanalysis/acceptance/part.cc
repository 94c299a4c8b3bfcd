#include "acceptance/part.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

namespace heddle::acceptance {
namespace {

namespace json = boost::json;

json::array lines_of(std::string_view text) {
  json::array lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Passed:
      return "passed";
    case Verdict::Failed:
      return "failed";
    case Verdict::NotJudged:
      return "not_judged";
    case Verdict::NotAsked:
      return "not_asked";
  }
  return "unknown";
}

Part not_judged(std::string name, const std::string& why) {
  Part part{std::move(name), Verdict::NotJudged, why, {}, {}, {}};
  part.tests = {part.name, {{.of = part.name, .name = part.name, .end = TestCase::End::Error, .why = why}}};
  return part;
}

Part not_asked(std::string name, const std::string& why) {
  Part part = not_judged(std::move(name), why);
  part.verdict = Verdict::NotAsked;
  part.tests.cases.front().end = TestCase::End::Skipped;
  return part;
}

Verdict judge_all(const std::vector<Part>& parts) {
  for (const Verdict worst : {Verdict::Failed, Verdict::NotJudged}) {
    if (std::ranges::any_of(parts, [&](const Part& part) { return part.verdict == worst; })) return worst;
  }
  return Verdict::Passed;
}

json::object view(const std::vector<Part>& parts) {
  json::object each;
  for (const Part& part : parts) {
    json::object found{
        {"verdict", to_string(part.verdict)}, {"summary", part.summary}, {"details", lines_of(part.details)}};
    for (const auto& [key, value] : part.view) found[key] = value;
    each[part.name] = std::move(found);
  }
  const Verdict verdict = judge_all(parts);
  return {{"accepted", verdict == Verdict::Passed},
          {"judged", verdict != Verdict::NotJudged},
          {"parts", std::move(each)}};
}

}  // namespace heddle::acceptance
