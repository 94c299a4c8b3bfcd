#include "planned/tables_in_force.h"

#include <gtest/gtest.h>

#include <array>

#include "unit/planned/subnets.h"

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

// Random run 1200614 of the real programs: OpenSM's own leaf died for a while, a switch could not be read
// afterwards, as the way to it led over a cable that had been cut, and lost entries that worked.
TEST(TablesInForce, WhoIsDoubtedAndDoesNotAnswerKeepsWhatIsKnown) {
  const auto graph = routing::SwitchGraph::make(*fabric_of("tree:k=2,n=2")).value();
  const routing::SwitchIndex silent{0};
  const routing::SwitchIndex read{1};
  TablesInForce tables;
  tables.confirm(graph.guid(silent), all(3), all(3));
  tables.confirm(graph.guid(read), all(5), all(5));
  tables.doubt_all();
  EXPECT_FALSE(tables.knows(graph.guid(silent)));
  EXPECT_FALSE(tables.knows(graph.guid(read)));
  tables.confirm(graph.guid(silent), all(0), all(0xfe));  // as the plugin marks what was not answered
  tables.confirm(graph.guid(read), all(6), all(6));
  tables.trust(graph.guid(read));
  EXPECT_FALSE(tables.knows(graph.guid(silent)));
  EXPECT_TRUE(tables.knows(graph.guid(read)));
  EXPECT_EQ(tables.of(graph, Lid{4}).port(silent, Lid{4}), PortNum{3});
  EXPECT_EQ(tables.of(graph, Lid{4}).port(read, Lid{4}), PortNum{6});
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
