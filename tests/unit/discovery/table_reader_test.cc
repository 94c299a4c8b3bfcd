// Forwarding tables read back, as whoever owns the fabric and beside another subnet manager.
#include "discovery/table_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "discovery_world.h"

namespace heddle::discovery {
namespace {

using namespace std::chrono_literals;

class TableReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    sim::bring_up(world.sim.fabric);
    world.full();
    world.sim.on_send = [this](const mad::Packet&) { ++asked; };
  }
  /// The next round that ends, if one does by then.
  std::shared_ptr<const TablesRead> until_read(TableReader& reader, FabricClock::duration limit) {
    const auto before = reader.latest();
    const Instant end = world.sim.now + limit;
    const auto over = [&] { return reader.latest() != before; };
    const auto due = [&] {
      const auto next = reader.next_deadline();
      return over() || (next && *next <= world.sim.now);
    };
    while (!over() && world.sim.now < end) {
      if (!world.sim.run(due, end - world.sim.now))
        world.sim.now = std::max(world.sim.now, std::min(end, reader.next_deadline().value_or(end)));
      if (!over()) reader.on_timer(world.sim.now);
    }
    return over() ? reader.latest() : nullptr;
  }
  void use(TableReader& reader) { reader.use(world.discovery.survey(), world.sim.now); }
  [[nodiscard]] std::size_t switches() const { return world.truth().switch_count(); }
  /// As the switches themselves have them.
  void expect_in_force(const TablesRead& read) {
    for (std::uint32_t s = 0; s < read.tables.switch_count(); ++s) {
      const auto row = read.tables.row(routing::SwitchIndex{s});
      const auto table =
          world.sim.fabric.forwarding_table(world.truth().find_node(read.tables.switches()[s]));
      for (std::size_t lid = 1; lid <= read.tables.top().raw(); ++lid) EXPECT_EQ(row[lid], table[lid].raw());
    }
  }

  World world{"tree:k=3,n=3"};
  std::size_t asked = 0;
};

TEST_F(TableReaderTest, EachBlockOfEachSwitchOnce) {
  std::size_t told = 0;
  TableReader reader{world.sim.engine, {}, {}, [&](const std::shared_ptr<const TablesRead>&) { ++told; }};
  EXPECT_EQ(reader.next_deadline(), std::nullopt) << "there is nothing to read yet";
  use(reader);
  const auto read = until_read(reader, 5s);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(told, 1U);
  EXPECT_THAT(read->unread, testing::IsEmpty());
  EXPECT_EQ(read->fabric, world.discovery.survey()->fabric);
  EXPECT_EQ(asked, switches() * read->tables.blocks());
  expect_in_force(*read);
  while (until_read(reader, 15s)) {
  }
  EXPECT_GT(told, 2U) << "tables follow the fabric";
  EXPECT_EQ(until_read(reader, 9min), nullptr) << "every ten minutes";
  EXPECT_NE(until_read(reader, 2min), nullptr);
  reader.hurry(world.sim.now + 5s);
  EXPECT_NE(until_read(reader, 10s), nullptr);
}

TEST_F(TableReaderTest, AsAGuestItTakesAQuarterOfThePace) {
  constexpr std::uint32_t smps_per_second = 100;
  transport::Pace pace{smps_per_second};
  TableReader reader{world.sim.engine,
                     {.guest_smps_per_second = smps_per_second},
                     [&] { return &pace; },
                     [](const std::shared_ptr<const TablesRead>&) {}};
  use(reader);
  EXPECT_EQ(until_read(reader, 9s), nullptr) << "the fabric is to settle";
  const auto read = until_read(reader, 100s);
  ASSERT_NE(read, nullptr);
  const double least = static_cast<double>(asked) / (smps_per_second / 4.0);
  EXPECT_GE(seconds(read->ended - read->began), 0.7 * least);
  EXPECT_LE(seconds(read->ended - read->began), 1.5 * least + 1);
  expect_in_force(*read);
}

TEST_F(TableReaderTest, ASwitchThatDoesNotAnswerIsNamedAndKeepsWhatItSaid) {
  TableReader reader{world.sim.engine, {}, {}, [](const std::shared_ptr<const TablesRead>&) {}};
  use(reader);
  ASSERT_NE(until_read(reader, 5s), nullptr);
  const NodeIndex mute = world.switch_at(2);
  world.sim.fabric.set_agent_faults(mute, {.mute_sma = true});
  reader.hurry(world.sim.now);
  const auto read = until_read(reader, 20s);
  ASSERT_NE(read, nullptr);
  EXPECT_THAT(read->unread, testing::ElementsAre(world.truth().node(mute).guid));
  expect_in_force(*read);
}

TEST_F(TableReaderTest, AFabricThatChangesIsReadAgainInATenthOfTheTime) {
  constexpr std::uint32_t slowly = 10;
  TableReader reader{
      world.sim.engine, {.smps_per_second = slowly}, {}, [](const std::shared_ptr<const TablesRead>&) {}};
  use(reader);
  const auto first = until_read(reader, 20s);
  ASSERT_NE(first, nullptr);
  EXPECT_GT(first->ended - first->began, 1s);
  world.sim.fabric.cut(LinkIndex{static_cast<std::uint32_t>(world.truth().links().size() - 1)}, world.ps());
  world.light();
  use(reader);
  const auto second = until_read(reader, 100s);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->fabric->links().size(), world.truth().links().size() - 1);
  EXPECT_GE(second->began - first->ended, 8 * (first->ended - first->began));
}

}  // namespace
}  // namespace heddle::discovery
