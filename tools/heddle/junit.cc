#include "heddle/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace heddle::cli {
namespace {

using End = TestCase::End;

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string test_case(const TestCase& test) {
  const std::string head = fmt::format("  <testcase classname=\"{}\" name=\"{}\"", test.of, xml(test.name));
  if (test.end == End::Passed) return head + "/>\n";
  std::string what = test.end == End::Failed ? "failure" : test.end == End::Error ? "error" : "skipped";
  if (!test.kind.empty()) what += fmt::format(" type=\"{}\"", test.kind);
  return head + fmt::format(">\n    <{} message=\"{}\"/>\n  </testcase>\n", what, xml(test.why));
}

std::string counts(const TestSuite& suite) {
  const auto of = [&](End end) { return std::ranges::count(suite.cases, end, &TestCase::end); };
  std::string text = fmt::format("tests=\"{}\" failures=\"{}\"", suite.cases.size(), of(End::Failed));
  if (of(End::Error) > 0) text += fmt::format(" errors=\"{}\"", of(End::Error));
  if (of(End::Skipped) > 0) text += fmt::format(" skipped=\"{}\"", of(End::Skipped));
  return text;
}

}  // namespace

std::string junit_document(const std::vector<TestSuite>& suites) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (suites.size() > 1) text += "<testsuites>\n";
  for (const TestSuite& suite : suites) {
    text += fmt::format("<testsuite name=\"{}\" {}>\n", xml(suite.name), counts(suite));
    for (const TestCase& test : suite.cases) text += test_case(test);
    text += "</testsuite>\n";
  }
  return suites.size() > 1 ? text + "</testsuites>\n" : text;
}

}  // namespace heddle::cli
