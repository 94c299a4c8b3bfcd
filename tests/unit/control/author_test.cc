#include "control/author.h"

#include <gtest/gtest.h>

namespace heddle::control {
namespace {

TEST(Author, IsWhoTheKernelSaysAndNotWhoTheClientSays) {
  EXPECT_EQ(author("uid 1000", ""), "uid 1000");
  EXPECT_EQ(author("uid 0", "ada"), "uid 0 for ada");
  EXPECT_EQ(author("uid 1000", "root"), "uid 1000 for root");
}

TEST(Author, TakesNoControlSequencesAndNoBooksForNames) {
  EXPECT_EQ(author("uid 0", "a\x1b[2Jb").find('\x1b'), std::string::npos);
  EXPECT_LT(author("uid 0", std::string(10'000, 'x')).size(), 100U);
}

}  // namespace
}  // namespace heddle::control
