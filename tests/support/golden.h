/// Golden files: what a program prints is compared with tests/golden/<name>. Run the tests with
/// HEDDLE_UPDATE_GOLDEN=1 in the environment to write the files anew, then read the difference before
/// committing it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/places.h"

namespace heddle {

inline void expect_golden(const std::string& name, const std::string& actual) {
  const auto path = test::source_directory() / "tests/golden" / name;
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << actual;
    return;
  }
  std::ifstream file{path, std::ios::binary};
  ASSERT_TRUE(file) << path << " is missing: write it with HEDDLE_UPDATE_GOLDEN=1";
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(actual, expected.str()) << path << " differs: HEDDLE_UPDATE_GOLDEN=1 writes it anew";
}

}  // namespace heddle
