// A disk that takes seconds for each write of the journal: sampling, tables and links that come back do not
// wait for it; links that go off, and answers to operators, do.

#include "story.h"

namespace heddle::test {
namespace {

class SlowDisk : public Story {
 protected:
  RegulatedWorld& begin_slowly(FabricClock::duration disk) {
    WorldOptions options = usual();
    options.disk = disk;
    return begin(ring, options);
  }
  [[nodiscard]] bool disk_knows(LinkIndex link) const {
    const Fabric& truth = world_->fabric.description();
    const LinkRef ref = link_ref(truth, truth.link(link));
    const regulation::Memory& memory = world_->daemon->on_disk();
    if (memory.off.contains(ref)) return true;
    for (const auto& [id, intent] : memory.open) {
      for (const auto& off : intent.off) {
        if (off.link == ref) return true;
      }
    }
    return false;
  }
};

TEST_F(SlowDisk, HoldsNoSampleAndNoLinkIsOffThatItDoesNotKnow) {
  RegulatedWorld& world = begin_slowly(4s);
  traffic(0.05);
  std::uint64_t unknown = 0;
  std::size_t most_off = 0;
  std::uint64_t late = 0;
  const std::uint64_t before = world.daemon->core().sampler().statistics().sweeps;
  world.run(
      [&] {
        for (const LinkIndex link : world.links_off()) unknown += disk_knows(link) ? 0 : 1;
        most_off = std::max(most_off, world.links_off().size());
        late = std::max<std::uint64_t>(late, world.daemon->core().sampler().statistics().late_sweeps);
        return false;
      },
      60s);
  EXPECT_EQ(most_off, 4U) << events();
  EXPECT_EQ(unknown, 0U);
  EXPECT_GE(world.daemon->core().sampler().statistics().sweeps - before, 59U);
  EXPECT_EQ(late, 0U);
  expect_well();
}

TEST_F(SlowDisk, LinksThatAreNeededComeBackAtOnce) {
  RegulatedWorld& world = begin_slowly({});
  traffic(0.05);
  ASSERT_TRUE(comes_to(4));
  world.options.disk = 30s;
  traffic(1.0, 2);
  EXPECT_TRUE(world.run([&] { return world.links_off().size() == 2; }, 10s)) << events();
  EXPECT_GT(world.daemon->core().regulation()->scribe().waiting(), 0U);
  EXPECT_EQ(world.daemon->on_disk().off.size(), 4U) << "the disk does not know it";
  ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 30min));
  EXPECT_EQ(world.daemon->on_disk().off.size(), 2U);
  expect_well();
}

TEST_F(SlowDisk, AnOperatorIsAnsweredWhenTheDiskKnowsIt) {
  RegulatedWorld& world = begin_slowly({});
  world.options.disk = 8s;
  bool answered = false;
  world.daemon->order([&](regulate::Regulator& regulator) {
    regulator.set_mode(regulation::Mode::Off, "root", world.now,
                       [&](const Result<std::string>& said) { answered = said.has_value(); });
  });
  world.run([&] { return answered; }, 7s);
  EXPECT_FALSE(answered);
  EXPECT_THAT(world.daemon->regulator().problems(),
              ::testing::Contains(::testing::Field(
                  &Problem::text, ::testing::HasSubstr("taken nothing of the journal for 7 s"))));
  world.run([&] { return answered; }, 60s);
  EXPECT_TRUE(answered);
  EXPECT_EQ(world.daemon->on_disk().mode, regulation::Mode::Off);
}

TEST_F(SlowDisk, AnOrderThatWasCalledOffWhileItWaitedIsNotGiven) {
  RegulatedWorld& world = begin_slowly({});
  world.options.disk = 30s;
  traffic(0.05);
  const auto stage = [&] { return world.daemon->regulator().governor().stage(); };
  ASSERT_TRUE(world.run([&] { return stage() == regulation::Stage::Closing; }, 1min));
  world.run_for(1s);
  EXPECT_TRUE(world.links_off().empty());
  bool answered = false;
  world.daemon->order([&](regulate::Regulator& regulator) {
    regulator.restore("root", regulate::Regulator::Adopt::No, world.now,
                      [&](const auto&) { answered = true; });
  });
  world.run([&] { return answered && world.daemon->quiet(); }, 30min);
  EXPECT_TRUE(answered);
  EXPECT_TRUE(world.links_off().empty()) << events();
  EXPECT_TRUE(world.daemon->on_disk().open.empty());
  expect_well();
}

}  // namespace
}  // namespace heddle::test
