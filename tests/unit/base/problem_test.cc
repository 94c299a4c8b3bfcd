#include "base/problem.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "support/places.h"

namespace heddle {
namespace {

TEST(Problem, HasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < problem_names.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(problem_names[i].kind), i) << problem_names[i].name;
    EXPECT_TRUE(names.insert(problem_names[i].name).second) << problem_names[i].name;
  }
}

// The table of docs/problems.md: a row for each kind, with when and what to do, and alerts that there are.
TEST(Problem, IsExplainedToOperators) {
  const auto text_of = [](const char* file) {
    std::ifstream in{test::source_directory() / file};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
  };
  const std::string rules = text_of("tools/prometheus/heddle.alerts.yml");
  EXPECT_NE(rules.find("alert: HeddleProblem\n        expr: heddle_problems > 0"), std::string::npos);
  std::vector<std::string> rows;
  const std::string document = text_of("docs/problems.md");
  const std::regex row{R"(\n\| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \| (?:`([A-Za-z]+)`)? ?\|)"};
  std::string rest = document;
  for (std::smatch match; std::regex_search(rest, match, row); rest = match.suffix()) {
    rows.push_back(match[1]);
    if (!match[4].matched) continue;
    EXPECT_NE(rules.find("alert: " + match[4].str() + "\n"), std::string::npos) << match[4];
  }
  std::vector<std::string> names;
  for (const ProblemName& each : problem_names) names.emplace_back(each.name);
  EXPECT_EQ(rows, names);
}

}  // namespace
}  // namespace heddle
