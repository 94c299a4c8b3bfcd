#include "regulation/memory.h"

#include <gtest/gtest.h>

#include "regulation/governor.h"

namespace heddle::regulation {
namespace {

LinkRef link(std::uint64_t n) { return {{NodeGuid{n}, PortNum{1}}, {NodeGuid{n + 100}, PortNum{2}}}; }

OffRecord off(std::uint64_t n) {
  OffRecord record;
  record.link = link(n);
  record.port = record.link.a;
  record.full = {LinkWidth::X4, LinkSpeed::Hdr};
  record.reason = "idle";
  return record;
}

TEST(MemoryTest, AnIntentIsOpenUntilItsOutcome) {
  Memory memory;
  apply(memory, Intent{ChangeId{7}, Instant{}, {off(1), off(2)}, {}});
  EXPECT_EQ(memory.open.size(), 1U);
  EXPECT_EQ(memory.last, ChangeId{7});
  EXPECT_TRUE(memory.off.empty());

  apply(memory, Outcome{ChangeId{7}, Instant{}, {off(1)}, {}, "one did not answer"});
  EXPECT_TRUE(memory.open.empty());
  EXPECT_EQ(memory.off.size(), 1U);
  EXPECT_TRUE(memory.off.contains(link(1)));

  apply(memory, Outcome{ChangeId{8}, Instant{}, {}, {link(1)}, ""});
  EXPECT_TRUE(memory.off.empty());
}

TEST(MemoryTest, AutoTakesAnOverrideAway) {
  Memory memory;
  apply(memory, OverrideRecord{link(1), {Wish::Pin, "storage", "ada", std::nullopt}});
  EXPECT_EQ(memory.overrides.at(link(1)).wish, Wish::Pin);
  apply(memory, OverrideRecord{link(1), {Wish::Auto, "", "ada", std::nullopt}});
  EXPECT_TRUE(memory.overrides.empty());
}

TEST(MemoryTest, ModeAndPlaneAreTheLastSaid) {
  Memory memory;
  apply(memory, ModeRecord{Mode::Enforce, "ada"});
  apply(memory, PlaneRecord{1});
  EXPECT_EQ(memory.mode, Mode::Enforce);
  EXPECT_EQ(memory.plane, 1U);
  EXPECT_EQ(mode_from(to_string(Mode::Enforce)), Mode::Enforce);
  EXPECT_FALSE(mode_from("on").has_value());
}

}  // namespace
}  // namespace heddle::regulation
