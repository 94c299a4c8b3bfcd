// The daemon beside an OpenSM: by its plugin, and by a file.

#include "story.h"

namespace heddle::test {
namespace {

class BesideOpenSm : public AnyStory {
 protected:
  [[nodiscard]] bool all_quiet() { return world_->daemon->quiet() && world_->opensm->quiet(); }
  /// All links are on, and whatever is asked for arrives.
  void expect_back_under_load() {
    traffic(1.0, 2);
    const auto arrives = [&] { return figures().delivered >= figures().wanted * 0.99; };
    ASSERT_TRUE(world_->run(arrives, 2min)) << events();
    ASSERT_TRUE(world_->run([&] { return all_quiet(); }, 1min)) << events();
    world_->watch.settled();
    expect_well();
  }
};

class BesidePlugin : public BesideOpenSm {};

TEST_P(BesideOpenSm, LinksGoWhenTheFabricIsQuietAndComeBackUnderLoad) {
  for (const std::uint8_t lmc : {0, 1}) {
    RegulatedWorld& world = begin(ring, lmc);
    traffic(0.05);
    ASSERT_TRUE(comes_to(4)) << events();
    expect_well();
    EXPECT_EQ(world.daemon->regulator().transitions().failed, 0U) << events();
    expect_back_under_load();
  }
}

// OpenSM alone does not see links that are off.
TEST_P(BesideOpenSm, OpenSmIsKilledWhileLinksAreOffAndAnotherOneComes) {
  for (const std::uint8_t lmc : {0, 1}) {
    RegulatedWorld& world = begin(ring, lmc);
    traffic(0.05);
    ASSERT_TRUE(comes_to(4)) << events();
    world.stop_opensm();
    world.run_for(5s);
    world.start_opensm();
    ASSERT_TRUE(world.run([&] { return all_quiet(); }, 1min)) << events();
    EXPECT_EQ(world.links_off().size(), 4U) << events();
    expect_back_under_load();
  }
}

TEST_P(BesideOpenSm, OpenSmStaysAwayAndAllComesBack) {
  RegulatedWorld& world = begin();
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  world.stop_opensm();
  world.run_for(40s);
  EXPECT_THAT(world.daemon->core().problems(), ::testing::Contains(says("no OpenSM")));
  world.start_opensm();
  ASSERT_TRUE(comes_to(4, 3min)) << events();
  expect_back_under_load();
}

TEST_P(BesideOpenSm, AHeavySweepAtAnyMomentOfAChange) {
  for (FabricClock::duration when = 0s; when < 12s; when += 431ms) {
    RegulatedWorld& world = begin();
    world.watch.say(fmt::format("swept after {} ms", when / 1ms));
    traffic(0.05);
    world.run_for(when);
    world.opensm->ask_for_heavy_sweep();
    ASSERT_TRUE(comes_to(4)) << events();
    expect_well();
    if (HasFailure()) return;
  }
}

TEST_P(BesidePlugin, OneThatIsLateAndSaysEverythingTwice) {
  struct Case {
    FabricClock::duration latency;
    unsigned times;
  };
  for (const auto& [latency, times] : {Case{2s, 1}, Case{0s, 2}, Case{700ms, 3}}) {
    RegulatedWorld& world = begin();
    world.options.plugin.latency = latency;
    world.options.plugin.times = times;
    traffic(0.05);
    ASSERT_TRUE(comes_to(4, 5min)) << events();
    expect_well();
    expect_back_under_load();
  }
}

TEST_P(BesidePlugin, OneThatIsDumbOrDeafTurnsNothingOff) {
  for (const bool dumb : {true, false}) {
    RegulatedWorld& world = begin();
    world.options.plugin.is_dumb = dumb;
    world.options.plugin.is_deaf = !dumb;
    traffic(0.05);
    world.run_for(3min);
    EXPECT_TRUE(world.links_off().empty()) << events();
    expect_well();
    world.options.plugin = PluginManners{};
    ASSERT_TRUE(comes_to(4, 5min)) << events();
    expect_back_under_load();
  }
}

// OpenSM missed that links are Active: without them the plan would part hosts.
TEST_P(BesidePlugin, OneWhoseOpenSmTakesLinksForDownLooksAgain) {
  const auto stay = [&] {
    std::vector<LinkIndex> links = trunk_links();
    for (const LinkIndex off : world_->links_off()) std::erase(links, off);
    return links;
  };
  begin();
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  const auto needed = stay();
  for (const bool looks : {false, true}) {
    RegulatedWorld& world = begin();
    world.options.plugin.looks_again = looks;
    const Fabric& truth = world.fabric.description();
    for (const LinkIndex link : needed)
      world.opensm->mistake(truth.port_index(truth.link(link).a), PortState::Armed);
    traffic(0.05);
    if (!looks) {
      world.watch.fault();  // what OpenSM takes for down it routes around
      world.run_for(100s);
      EXPECT_TRUE(world.links_off().empty()) << events();
      EXPECT_THAT(events(), ::testing::HasSubstr("hosts would be cut off"));
      continue;
    }
    EXPECT_TRUE(comes_to(4, 100s)) << events();
    expect_well();
  }
  expect_back_under_load();
}

INSTANTIATE_TEST_SUITE_P(Authority, BesideOpenSm, ::testing::Values(WrittenBy::Plugin, WrittenBy::File),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Authority, BesidePlugin, ::testing::Values(WrittenBy::Plugin), name_of);

}  // namespace
}  // namespace heddle::test
