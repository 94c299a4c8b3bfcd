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

Memory changed(const Memory& memory, const std::vector<Record>& records) {
  Memory after = memory;
  for (const Record& record : records) apply(after, record);
  return after;
}

TEST(MemoryTest, RecordsBetweenMakeOneOutOfTheOther) {
  Memory full;
  full.mode = Mode::Enforce;
  full.plane = 1;
  full.off[link(1)] = off(1);
  full.overrides[link(2)] = {Wish::Pin, "storage", "ada", std::nullopt};
  full.drains["leaf-0"] = {"leaf-0", {link(3)}, {NodeGuid{3}}, "fans", "ada", Instant{}, std::nullopt, true};
  full.baseline = Baseline{std::make_shared<const std::string>("plan"), "cables.csv", "ada", Instant{}};
  full.open[ChangeId{7}] = Intent{ChangeId{7}, Instant{}, {off(4)}, {link(1)}};
  full.wakes[link(6)] = {std::chrono::seconds{4}, std::chrono::seconds{5}};
  full.wakes[link(7)] = {std::chrono::seconds{6}};
  full.last = ChangeId{9};
  EXPECT_EQ(changed({}, records_between({}, full)), full);
  EXPECT_TRUE(records_between(full, full).empty());

  Memory other = full;
  other.off[link(1)].reason = "operator";
  other.off[link(5)] = off(5);
  other.overrides[link(2)].wish = Wish::Off;
  other.drains.clear();
  other.wakes.erase(link(6));
  other.wakes[link(7)] = {std::chrono::seconds{7}};
  other.open.clear();
  EXPECT_EQ(changed(full, records_between(full, other)), other);

  Memory bare;
  bare.mode = Mode::Enforce;
  bare.last = full.last;
  EXPECT_EQ(changed(full, records_between(full, bare)), bare);
}

TEST(MemoryTest, RecordsBetweenStaySmall) {
  Memory many;
  for (std::uint64_t n = 0; n < 2 * most_links + 1; ++n) many.off[link(1000 * n)] = off(1000 * n);
  const auto records = records_between({}, many);
  EXPECT_EQ(records.size(), 3U);
  EXPECT_EQ(changed({}, records), many);
}

}  // namespace
}  // namespace heddle::regulation
