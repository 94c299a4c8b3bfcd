/// Reports in JUnit's XML, as acceptance tests and CI servers read them.
#pragma once

#include <string>
#include <vector>

namespace heddle::cli {

struct TestCase {
  enum class End : unsigned char { Passed, Failed, Skipped, Error };
  std::string of;    ///< its class
  std::string name;  ///< printable, as all texts here
  End end = End::Passed;
  std::string kind{};  ///< of what failed
  std::string why{};   ///< for all but Passed
};

struct TestSuite {
  std::string name;
  std::vector<TestCase> cases;
};

/// One suite is the document's root, several stand in it.
[[nodiscard]] std::string junit_document(const std::vector<TestSuite>& suites);

}  // namespace heddle::cli
