#include "routing/turns.h"

#include <gtest/gtest.h>

#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

using shapes::Sketch;

/// Two parts that only switch 0, below both, joins: 1 with 2 and 3 above it, and 4 with 5 and 6. In a part of
/// two levels the upper two have a switch above them, 7 and 8.
struct TwoParts {
  std::shared_ptr<const Fabric> fabric;
  SwitchGraph graph;
  Ranks ranks;
  LegalPaths full;

  explicit TwoParts(bool second_has_a_top) : TwoParts{built(second_has_a_top)} {}

  [[nodiscard]] Turns turns() const { return Turns{graph, ranks, full}; }

 private:
  explicit TwoParts(std::shared_ptr<const Fabric> f)
      : fabric{std::move(f)},
        graph{SwitchGraph::make(*fabric).value()},
        ranks{graph, {3, 2, 1, 1, 2, 1, 1, 0, 0}},
        full{graph, ranks, nullptr} {}

  static std::shared_ptr<const Fabric> built(bool second_has_a_top) {
    Sketch sketch(9);
    for (const auto& [low, high] :
         {std::pair{0U, 1U}, {0U, 4U}, {1U, 2U}, {1U, 3U}, {2U, 7U}, {3U, 7U}, {4U, 5U}, {4U, 6U}})
      sketch.cable(low, high, 2);
    if (second_has_a_top) {
      sketch.cable(5, 8);
      sketch.cable(6, 8);
    }
    sketch.hosts(0, 1);
    return sketch.build();
  }
};

const Turn there{SwitchIndex{1}, SwitchIndex{0}, SwitchIndex{4}};

// 0 -> 4 -> 5 -> 8 -> 6 -> 4 -> 0 -> 1 -> 2 -> 7 -> 3 -> 1 -> 0: each waits for the next.
TEST(Turns, BothWaysOverOneSwitchAreACircleWherePacketsComeDownAgainOnBothSides) {
  const TwoParts parts(true);
  EXPECT_FALSE(parts.turns().allow({&there, 1}));
}

TEST(Turns, BothWaysOverOneSwitchAreNoCircleWhereOneSideHasNoWayBackDown) {
  const TwoParts parts(false);
  EXPECT_TRUE(parts.turns().allow({&there, 1}));
}

}  // namespace
}  // namespace heddle::routing
