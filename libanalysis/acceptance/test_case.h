/// What a test report says of each thing that was looked at (JUnit's terms).
#pragma once

#include <string>
#include <vector>

namespace heddle::acceptance {

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

}  // namespace heddle::acceptance
