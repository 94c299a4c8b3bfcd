// What is done next with a connection: from every state to every plane, whatever the other end does.

#include "core/paths.h"

#include <gtest/gtest.h>

namespace heddle::apm {
namespace {

/// Two ends of a connection, whose adapters arm at once when both have asked for it, and where the other end
/// follows the first packet.
struct Adapter {
  Seen seen;
  void load(const Path& path) {
    seen.alternate = path;
    seen.state = Migration::Rearm;
  }
  void migrate() {
    seen.primary = seen.alternate;
    seen.state = Migration::Migrated;
  }
};

void arm(Adapter& a, Adapter& b) {
  const auto ready = [](const Adapter& end) { return end.seen.state != Migration::Migrated; };
  if (ready(a) && ready(b)) a.seen.state = b.seen.state = Migration::Armed;
}

/// The packets of one end come by the way that the other one expects.
bool agree(const Adapter& a, const Adapter& b) {
  return (a.seen.primary.dlid & 1U) == (b.seen.primary.source_bits & 1U) &&
         (b.seen.primary.dlid & 1U) == (a.seen.primary.source_bits & 1U);
}

void carry_out(const Next& next, Adapter& own, Adapter& other) {
  if (next.step == Step::Load) own.load(next.path);
  if (next.step == Step::Migrate) {
    own.migrate();
    // The first packet on the alternate path: the other end migrates, if it is armed.
    if (other.seen.state == Migration::Armed) other.migrate();
  }
  arm(own, other);
}

TEST(Paths, APlaneIsTheLowestBitOfBothLids) {
  EXPECT_EQ(plane_of(Path{0x10, 0}), 0U);
  EXPECT_EQ(plane_of(Path{0x13, 3}), 1U);
  EXPECT_FALSE(plane_of(Path{0x11, 0}));
  EXPECT_EQ(in_plane({0x12, 2}, 1), (Path{0x13, 3}));
  EXPECT_EQ(in_plane({0x13, 0}, 0), (Path{0x12, 0}));
}

TEST(Paths, WhatIsWhereItShouldBeIsArmedForTheOtherPlane) {
  EXPECT_EQ(next_step({Migration::Migrated, {0x10, 0}, {}}, 0), (Next{Step::Load, {0x11, 1}}));
  EXPECT_EQ(next_step({Migration::Rearm, {0x10, 0}, {0x11, 1}}, 0).step, Step::Rest);
  EXPECT_EQ(next_step({Migration::Armed, {0x10, 0}, {0x11, 1}}, std::nullopt).step, Step::Rest);
}

TEST(Paths, WhatIsElsewhereMovesWhenItIsArmed) {
  EXPECT_EQ(next_step({Migration::Armed, {0x10, 0}, {0x11, 1}}, 1).step, Step::Migrate);
  EXPECT_EQ(next_step({Migration::Rearm, {0x10, 0}, {0x11, 1}}, 1).step, Step::Wait);
  EXPECT_EQ(next_step({Migration::Migrated, {0x10, 0}, {}}, 1).step, Step::Load);
}

// Each mixture of planes at the beginning, each order in which the ends act, to each plane.
TEST(Paths, BothEndsComeToThePlaneWhateverTheOrderInWhichTheyAct) {
  for (unsigned start = 0; start < 4; ++start) {
    for (unsigned order = 0; order < 256; ++order) {
      for (const unsigned target : {0U, 1U}) {
        Adapter a;
        Adapter b;
        const auto to_b = static_cast<std::uint16_t>(start & 1U);
        const auto to_a = static_cast<std::uint16_t>(start >> 1U);
        a.seen.primary = {static_cast<std::uint16_t>(0x20 + to_b), static_cast<std::uint8_t>(to_a)};
        b.seen.primary = {static_cast<std::uint16_t>(0x10 + to_a), static_cast<std::uint8_t>(to_b)};
        for (unsigned turn = 0; turn < 24; ++turn) {
          const bool first = turn < 8 ? ((order >> turn) & 1U) != 0 : turn % 2 == 0;
          Adapter& own = first ? a : b;
          carry_out(next_step(own.seen, target), own, first ? b : a);
          ASSERT_TRUE(agree(a, b) || start == 1 || start == 2) << "start " << start << " order " << order;
        }
        EXPECT_EQ(plane_of(a.seen.primary), target) << "start " << start << " order " << order;
        EXPECT_EQ(plane_of(b.seen.primary), target) << "start " << start << " order " << order;
        EXPECT_EQ(a.seen.state, Migration::Armed);
        EXPECT_EQ(b.seen.state, Migration::Armed);
        EXPECT_TRUE(agree(a, b));
      }
    }
  }
}

}  // namespace
}  // namespace heddle::apm
