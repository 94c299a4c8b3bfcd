/// Reports in JUnit's XML, as acceptance tests and CI servers read them.
#pragma once

#include <string>
#include <vector>

#include "acceptance/test_case.h"

namespace heddle::cli {

using acceptance::TestCase;
using acceptance::TestSuite;

/// One suite is the document's root, several stand in it.
[[nodiscard]] std::string junit_document(const std::vector<TestSuite>& suites);

}  // namespace heddle::cli
