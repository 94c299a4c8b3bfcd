#include "planned/tables_in_force.h"

#include <gtest/gtest.h>

#include <array>

namespace heddle::planned {
namespace {

constexpr NodeGuid leaf{0x10};
constexpr NodeGuid spine{0x20};
using Block = std::array<std::uint8_t, routing::lids_per_block>;

Block all(std::uint8_t port) {
  Block block;
  block.fill(port);
  return block;
}

// The Set may have arrived, and only its answer be lost.
TEST(TablesInForce, ASwitchOfWhichAnAnswerIsMissingIsToBeRead) {
  TablesInForce tables;
  tables.confirm(leaf, all(3), all(3));
  EXPECT_TRUE(tables.knows(leaf));
  tables.confirm(leaf, all(0), all(4));  // OpenSM has zeroes where nothing was confirmed
  tables.doubt(leaf);
  EXPECT_FALSE(tables.knows(leaf));
  EXPECT_FALSE(tables.empty());
  tables.confirm(leaf, all(4), all(4));
  EXPECT_FALSE(tables.knows(leaf)) << "one of several may have been answered";
  tables.trust(leaf);
  EXPECT_TRUE(tables.knows(leaf));
}

TEST(TablesInForce, WhoIsGoneIsNotDoubtedWhenItIsBack) {
  TablesInForce tables;
  tables.confirm(leaf, all(3), all(3));
  tables.confirm(spine, all(5), all(5));
  tables.doubt(leaf);
  tables.keep(std::array{spine});
  tables.confirm(leaf, all(3), all(3));
  EXPECT_TRUE(tables.knows(leaf));
  EXPECT_TRUE(tables.knows(spine));
}

}  // namespace
}  // namespace heddle::planned
