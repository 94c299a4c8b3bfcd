#include "authority/own/troubles.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::provision {
namespace {

using testing::ElementsAre;
using testing::Field;

auto says(const std::string& text) { return Field(&Trouble::text, text); }

TEST(Troubles, HaveASentenceForEachPlaceWhereThereAreFew) {
  Troubles troubles;
  for (const char* name : {"a", "b", "c"}) troubles.add({}, name, "not taken", "not sent");
  troubles.add({{}, "c has no cable"});
  EXPECT_THAT(troubles.take(), ElementsAre(says("c has no cable"), says("a: not taken: not sent"),
                                           says("b: not taken: not sent"), says("c: not taken: not sent")));
  EXPECT_TRUE(troubles.take().empty());
}

TEST(Troubles, HaveOneSentenceForManyPlaces) {
  Troubles troubles;
  for (int i = 0; i < 972; ++i) troubles.add({}, fmt::format("leaf-{}", i), "not taken", "not sent");
  troubles.add({}, "leaf-1", "not taken", "refused");
  EXPECT_THAT(
      troubles.take(),
      ElementsAre(says("at 972 places: not taken: not sent: leaf-0, leaf-1, leaf-2, leaf-3, leaf-4, and "
                       "967 more"),
                  says("leaf-1: not taken: refused")));
}

}  // namespace
}  // namespace heddle::provision
