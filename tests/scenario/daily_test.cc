// Loads that rise and fall.

#include "story.h"

namespace heddle::test {
namespace {

class Daily : public AnyStory {};

TEST_P(Daily, LinksGoWhenTheFabricIsQuietAndComeBackWhenAJobStarts) {
  for (const std::uint8_t lmc : {0, 1}) {
    RegulatedWorld& world = begin(ring, lmc);
    traffic(0.05);
    ASSERT_TRUE(comes_to(4)) << events();  // one of each trunk
    expect_well();
    EXPECT_EQ(world.daemon->regulator().transitions().failed, 0U);

    traffic(1.0, 2);  // across the ring: more than a link's worth
    const Instant began = world.now;
    ASSERT_TRUE(world.run([&] { return figures().delivered >= figures().wanted * 0.99; }, 1min)) << events();
    // A sample that sees it, the way back of the link, and tables with it.
    EXPECT_LT(world.now - began, 5s);
    expect_well();
    traffic(0.05);
    ASSERT_TRUE(comes_to(4)) << events();
    expect_well();
  }
}

TEST_P(Daily, NothingIsTurnedOffByAdvice) {
  WorldOptions options;
  options.governor = quick();
  options.governor.mode = regulation::Mode::Advise;
  RegulatedWorld& world = begin(ring, options);
  traffic(0.05);
  world.run_for(60s);
  EXPECT_TRUE(world.links_off().empty());
  EXPECT_THAT(events(), ::testing::HasSubstr("advice"));
  ASSERT_TRUE(world.daemon->regulator().governor().plan());
  EXPECT_EQ(world.daemon->regulator().governor().plan()->off.size(), 4U);
}

TEST_P(Daily, LoadThatOscillatesFasterThanTheLeastTimesMovesNoLinkOftenerThanTheyAllow) {
  WorldOptions options;
  options.governor = quick();
  options.governor.quiet = 10s;
  options.governor.least_on = 20s;
  options.sim.training_delay = std::chrono::milliseconds{500};
  RegulatedWorld& world = begin(ring, options);
  constexpr auto length = 400s;
  for (Instant end = world.now + length; world.now < end;) {
    traffic(0.05);
    world.run_for(15s);
    traffic(1.0, 2);
    world.run_for(5s);
  }
  expect_well();
  unsigned most = 0;
  for (const auto& link : world.daemon->regulator().governor().links()) {
    most = std::max(most, link.transitions);
  }
  // Off and on again takes the least time on, the quiet time and what comes between, at the least.
  EXPECT_LE(most, 2 * (length / (options.governor.least_on)) + 2);
  RecordProperty("transitions_of_one_link", static_cast<int>(most));
  // And each return makes the next departure later.
  EXPECT_LE(most, 12U);
}

TEST_P(Daily, LinksThatStayAreReducedAndWidenedAsTheLoadGoes) {
  WorldOptions options;
  options.governor = quick();
  options.governor.select.reductions = {{LinkWidth::X4, LinkSpeed::Sdr}, {LinkWidth::X1, LinkSpeed::Sdr}};
  options.sim.training_delay = std::chrono::milliseconds{500};
  RegulatedWorld& world = begin(ring, options);
  traffic(0.02);
  // While one is away for a moment the rules must hold, so not each of the ring can be.
  const auto& done = world.daemon->regulator().transitions();
  ASSERT_TRUE(world.run([&] { return done.reduced == 2 && world.daemon->quiet(); }, 5min)) << events();
  EXPECT_EQ(world.links_off().size(), 4U);
  EXPECT_GE(figures().delivered, figures().wanted * 0.99);
  expect_well();
  traffic(1.0, 2);
  ASSERT_TRUE(world.run(
      [&] { return figures().delivered >= figures().wanted * 0.99 && world.daemon->quiet(); }, 2min))
      << events();
  expect_well();
  EXPECT_EQ(done.failed, 0U);
}

TEST_P(Daily, ATreeUnderTheGeneralPolicyKeepsEveryRule) {
  WorldOptions options;
  options.governor = quick();
  options.governor.select.policy = regulation::SelectPolicy::General;
  options.governor.first_closing = 0;
  RegulatedWorld& world = begin("tree:k=3,n=3", options);
  traffic(0.05);
  ASSERT_TRUE(world.run([&] { return world.links_off().size() > 10 && world.daemon->quiet(); }, 2min))
      << world.links_off().size() << " links off\n"
      << events();
  expect_well();
  traffic(0.9, 5);
  world.run_for(30s);
  expect_well();
  EXPECT_GE(figures().delivered.value(), figures().wanted.value() * 0.99) << events();
}

INSTANTIATE_TEST_SUITE_P(WrittenBy, Daily, anybody, name_of);

}  // namespace
}  // namespace heddle::test
