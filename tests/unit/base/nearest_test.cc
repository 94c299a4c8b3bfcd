#include "base/nearest.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(Nearest, IsTwoSlipsAwayAtMost) {
  const std::vector<std::string_view> known{"status", "links", "link"};
  EXPECT_EQ(nearest("statsu", known), "status");
  EXPECT_EQ(nearest("sttus", known), "status");
  EXPECT_EQ(nearest("lin", known), "link") << "the nearer of two";
  EXPECT_EQ(nearest("stat", known), "status");
  EXPECT_EQ(nearest("stas", known), "status");
  EXPECT_EQ(nearest("sta", known), std::nullopt);
  EXPECT_EQ(nearest("", {}), std::nullopt);
}

}  // namespace
}  // namespace heddle
