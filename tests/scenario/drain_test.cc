// What operators take out of service: under load, one thing after another, over a daemon that is killed, and
// pulled out for good. Nothing may ever be led into what is drained.

#include <fstream>
#include <map>
#include <tuple>

#include "drains.h"
#include "fabric/generators.h"
#include "fabric/ibnetdiscover.h"
#include "support/rebuilt.h"

namespace heddle::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Lmc, Drains, ::testing::Values(0, 1));

TEST_P(Drains, EachUplinkOfALeafOneAfterAnother) {
  begin_loaded();
  for (const std::string& link : uplinks("leaf-1")) {
    const auto given = drain({link});
    ASSERT_TRUE(given) << given.error().message;
    becomes_safe();
    expect_well();
    EXPECT_EQ(world_->links_off().size(), 1U);
    ASSERT_TRUE(end({link}));
    expect_everything_back();
  }
}

TEST_P(Drains, TheLastUplinkIsRefusedWithTheNamesOfItsHostsUnlessTheyGoWithIt) {
  begin_loaded();
  const auto all = uplinks("leaf-1");
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    ASSERT_TRUE(drain({all[i]}));
    becomes_safe();
    expect_well();
  }
  const auto refused = drain({all.back()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Refused);
  EXPECT_THAT(refused.error().message,
              ::testing::AllOf(::testing::HasSubstr("host-2"), ::testing::HasSubstr("host-3"),
                               ::testing::Not(::testing::HasSubstr("host-1"))));
  world_->run_for(30s);
  EXPECT_EQ(world_->links_off().size(), all.size() - 1);
  expect_well();

  world_->watch.fault();  // hosts without a way are what is asked for
  ASSERT_TRUE(drain({all.back()}, Whole::Named, regulation::Force::CutHostsOff));
  becomes_safe();
  for (const std::string& link : all) ASSERT_TRUE(end({link}));
  ASSERT_TRUE(comes_to(0)) << events();
  world_->watch.settled();
  expect_everything_back();
}

TEST_P(Drains, ASpineIsPulledAndPutBackAndNobodyMissesIt) {
  RegulatedWorld& world = begin_loaded();
  const auto given = drain({"spine-1"});
  ASSERT_TRUE(given) << given.error().message;
  becomes_safe();
  world.run_for(30s);
  expect_well();
  EXPECT_EQ(world.links_off().size(), 3U);
  EXPECT_THAT(problems(), ::testing::IsEmpty());
  world.watch.kill(node("spine-1"), world.ps());
  world.run_for(60s);
  EXPECT_THAT(problems(), ::testing::IsEmpty()) << events();
  ASSERT_EQ(world.daemon->regulator().drains().size(), 1U);
  const DrainShown shown = world.daemon->regulator().drains().front();
  EXPECT_TRUE(shown.safe);
  EXPECT_EQ(shown.status.away.size(), 1U);
  EXPECT_EQ(shown.status.drain.by, "ann");
  expect_well();

  world.watch.revive(node("spine-1"), world.ps());
  world.run_for(30s);
  EXPECT_EQ(world.links_off().size(), 3U) << "it is held until it ends";
  ASSERT_TRUE(end({"spine-1"}));
  ASSERT_TRUE(comes_to(0)) << events();
  world.watch.settled();
  expect_everything_back();
}

// Nothing that is left on gives the switch that is gone a way: that is no reason to keep the others.
TEST_P(Drains, GoThoughAnotherSwitchIsGoneByItself) {
  RegulatedWorld& world = begin_loaded();
  traffic(0.3, 2);
  world.watch.kill(node("spine-2"), world.ps());
  world.run_for(30s);
  for (const std::string& what : {uplinks("leaf-1").at(1), std::string{"spine-1"}}) {
    const auto given = drain({what});
    ASSERT_TRUE(given) << given.error().message;
    becomes_safe();
    EXPECT_EQ(figures().unroutable, 0U);
    EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty());
    if (what == "spine-1") break;
    ASSERT_TRUE(end({}));
    world.run_for(30s);
  }
  EXPECT_FALSE(drain({"spine-0"})) << "the last one";
  world.watch.revive(node("spine-2"), world.ps());
  world.run_for(60s);
  ASSERT_TRUE(end({"spine-1"}));
  ASSERT_TRUE(comes_to(0)) << events();
  world.watch.settled();
  expect_everything_back();
}

// It may come back, and would find no way.
TEST_P(Drains, TheOnlyCableOfASwitchThatIsGoneIsNotTakenUnasked) {
  RegulatedWorld& world = begin("torus:2x1,hosts=1,links=1", usual(GetParam()));
  world.run_for(5s);
  world.watch.kill(node("sw-1-0"), world.ps());
  world.run_for(30s);
  const auto refused = drain(uplinks("sw-0-0"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("no path from sw-"));
}

TEST_P(Drains, TheOthersAreRegulatedWhileASpineIsAway) {
  RegulatedWorld& world = begin_loaded(regulation::SelectPolicy::General);
  traffic(0.05);
  ASSERT_TRUE(drain({"spine-1"}));
  becomes_safe();
  world.watch.kill(node("spine-1"), world.ps());
  EXPECT_TRUE(world.run([&] { return world.links_off().size() > 4 && world.daemon->quiet(); }, 5min))
      << events();
  EXPECT_TRUE(all_safe());
  EXPECT_THAT(problems(), ::testing::IsEmpty()) << events();
  traffic(0.9, 2);
  EXPECT_TRUE(comes_to(3)) << events();
  EXPECT_TRUE(all_safe());
  expect_well();
}

// Two of three: the half of a director that is to be serviced.
TEST_P(Drains, SeveralSwitchesGoTogether) {
  RegulatedWorld& world = begin_loaded();
  traffic(0.3, 2);
  const auto given = drain({"spine-1", "spine-2"});
  ASSERT_TRUE(given) << given.error().message;
  becomes_safe();
  EXPECT_EQ(world.links_off().size(), 6U);
  expect_well();
  for (const char* name : {"spine-1", "spine-2"}) world.watch.kill(node(name), world.ps());
  world.run_for(60s);
  EXPECT_THAT(problems(), ::testing::IsEmpty()) << events();
  const auto refused = drain({"spine-0"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("host-5"));
  for (const char* name : {"spine-1", "spine-2"}) world.watch.revive(node(name), world.ps());
  ASSERT_TRUE(end({"spine-1", "spine-2"}));
  ASSERT_TRUE(comes_to(0)) << events();
  world.watch.settled();
  expect_everything_back();
}

// A director whose boards are named as vendors do: half of it by a pattern, then all of it by its housing.
TEST_P(Drains, HalfOfADirectorAndThenTheWholeOfIt) {
  const auto named = test::rebuilt(**generate(small_tree), [](Node& node) {
    if (node.description != "spine-1" && node.description != "spine-2") return;
    node.description = "MF0;big:CS7500/S" + node.description.substr(6) + "/U1";
    node.system_image_guid = 0x77;
  });
  const std::string file = directory_ / "director.ibnetdiscover";
  std::ofstream{file} << write_ibnetdiscover(*named);
  RegulatedWorld& world = begin(file, usual(GetParam()));
  traffic(0.3, 2);
  world.run_for(5s);
  for (const auto& [name, whole, off] :
       {std::tuple{"MF0;big:CS7500/S2*", Whole::Named, 3U}, {"MF0;big:CS7500/S1/U1", Whole::Chassis, 6U}}) {
    const auto given = drain({name}, whole);
    ASSERT_TRUE(given) << given.error().message;
    becomes_safe();
    EXPECT_EQ(world.links_off().size(), off);
    expect_well();
    ASSERT_TRUE(end({}));
    expect_everything_back();
  }
}

// The order to end it comes while there is nothing at the cables' other ends.
TEST_P(Drains, EndsWhileTheSwitchIsAwayAlsoAfterARestart) {
  for (const bool restarts : {false, true}) {
    RegulatedWorld& world = begin_loaded();
    ASSERT_TRUE(drain({"spine-1"}));
    becomes_safe();
    world.watch.kill(node("spine-1"), world.ps());
    world.run_for(30s);
    if (restarts) {
      world.kill();
      world.run_for(5s);
      world.start();
      ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 1min));
      world.run_for(60s);
      EXPECT_THAT(problems(), ::testing::IsEmpty()) << events();
      ASSERT_EQ(world.daemon->regulator().drains().size(), 1U);
      EXPECT_TRUE(world.daemon->regulator().drains().front().safe);
      EXPECT_EQ(world.daemon->regulator().drains().front().status.away.size(), 1U);
    }
    ASSERT_TRUE(end({"spine-1"}));
    world.run_for(2min);
    EXPECT_TRUE(world.daemon->regulator().drains().empty());
    EXPECT_THAT(problems(), ::testing::Not(::testing::IsEmpty())) << "it is expected back";
    world.watch.revive(node("spine-1"), world.ps());
    ASSERT_TRUE(comes_to(0, 5min)) << events();
    world.run_for(60s);
    world.watch.settled();
    expect_everything_back();
  }
}

TEST_P(Drains, ALeafGoesWithItsHostsOnlyIfToldSo) {
  RegulatedWorld& world = begin_loaded();
  const auto refused = drain({"leaf-1"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("host-2"));
  ASSERT_TRUE(drain({"leaf-1"}, Whole::Named, regulation::Force::CutHostsOff));
  becomes_safe();
  world.watch.kill(node("leaf-1"), world.ps());
  world.run_for(60s);
  EXPECT_THAT(problems(), ::testing::IsEmpty()) << events();
  expect_nobody_is_led_there({2, 3});
  world.watch.revive(node("leaf-1"), world.ps());
  ASSERT_TRUE(end({"leaf-1"}));
  ASSERT_TRUE(comes_to(0)) << events();
  world.run_for(60s);
  world.watch.settled();
  expect_everything_back();
}

TEST_P(Drains, WhereTheDaemonIsCannotBeDrained) {
  begin_loaded();
  const auto refused = drain({"leaf-0"}, Whole::Named, regulation::Force::CutHostsOff);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("move them to another switch"));
  EXPECT_TRUE(world_->daemon->regulator().drains().empty());
}

TEST_P(Drains, ItsTimeEndsIt) {
  begin_loaded();
  ASSERT_TRUE(drain({"spine-2"}, Whole::Named, regulation::Force::No, 60s));
  becomes_safe();
  EXPECT_EQ(world_->links_off().size(), 3U);
  world_->run_for(60s);
  expect_everything_back();
}

class DrainsBesidePlugin : public Drains {
 protected:
  [[nodiscard]] WrittenBy written_by() const override { return WrittenBy::Plugin; }
  /// Of all switches but one, read from them.
  [[nodiscard]] std::map<NodeGuid, std::vector<std::uint8_t>> tables_but_of(const std::string& name) const {
    std::map<NodeGuid, std::vector<std::uint8_t>> tables;
    for (const Node& each : truth().nodes()) {
      if (each.type == NodeType::Switch && each.description != name)
        tables[each.guid] = world_->opensm->read_table(each.guid);
    }
    return tables;
  }
};
INSTANTIATE_TEST_SUITE_P(Lmc, DrainsBesidePlugin, ::testing::Values(0, 1));

// OpenSM drops whatever has no link that is on.
TEST_P(DrainsBesidePlugin, ChangeNoTableWhenOpenSmForgetsWhatIsDrained) {
  for (const std::string& what :
       {std::string{"spine-1"}, std::string{"leaf-1"}, std::string{"host-2 mlx5_0"}}) {
    RegulatedWorld& world = begin_loaded();
    traffic(0.3, 2);
    SCOPED_TRACE(what);
    if (what != "spine-1") world.watch.fault();  // hosts without a way are what is asked for
    const auto given = drain({what}, Whole::Named, regulation::Force::CutHostsOff);
    ASSERT_TRUE(given) << given.error().message;
    ASSERT_TRUE(world.run([&] { return !world.links_off().empty(); }, 2min)) << events();
    const auto before = tables_but_of(what);
    becomes_safe();
    world.opensm->ask_for_heavy_sweep();  // no switch tells of a host whose link its own port has left
    world.run_for(60s);
    ASSERT_FALSE(world.opensm->is_in_sight(truth().node(node(what)).guid));
    EXPECT_EQ(tables_but_of(what), before);
    world.watch.kill(node(what), world.ps());
    world.run_for(60s);
    EXPECT_EQ(tables_but_of(what), before);
    EXPECT_THAT(problems(), ::testing::IsEmpty()) << events();
    world.watch.revive(node(what), world.ps());
    world.run_for(30s);
    EXPECT_EQ(tables_but_of(what), before);
    ASSERT_TRUE(end({}));
    ASSERT_TRUE(comes_to(0)) << events();
    world.run_for(60s);
    world.watch.settled();
    expect_everything_back();
  }
}

// No plan avoids a cable that has failed: the plugin took it for one that the spine is to keep, and went on
// using the others.
TEST_P(DrainsBesidePlugin, TakeOutASwitchOfWhichACableHasFailed) {
  RegulatedWorld& world = begin_loaded();
  traffic(0.3, 2);
  const PortIndex port = truth().port_index({node("spine-1"), PortNum{2}});
  world.watch.cut(truth().port(port).link, world.ps());
  world.run_for(30s);
  const auto given = drain({"spine-1"});
  ASSERT_TRUE(given) << given.error().message;
  ASSERT_TRUE(world.run([&] { return all_safe() && world.daemon->quiet(); }, 2min)) << events();
  ASSERT_FALSE(world.daemon->regulator().drains().empty());
  EXPECT_EQ(world.links_off().size(), 2U);
  EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty());
  world.watch.mend(truth().port(port).link, world.ps());
  ASSERT_TRUE(end({}));
  ASSERT_TRUE(comes_to(0)) << events();
  world.run_for(60s);
  world.watch.settled();
  expect_everything_back();
}

// At each moment of a drain, in turn.
TEST_P(Drains, IsHeldByWhoeverComesAfterADaemonThatWasKilled) {
  constexpr std::uint64_t every = 11 * stride;
  std::uint64_t moment = first_case(GetParam());
  for (bool was_killed = true; was_killed; moment += every) {
    RegulatedWorld& world = begin_loaded();
    SCOPED_TRACE(fmt::format("killed at moment {}", moment));
    const std::uint64_t first = world.fate.moments;
    world.fate.on_moment = [&](Fate::Moment, std::uint64_t number) {
      return number == first + moment ? Fate::Life::Ends : Fate::Life::GoesOn;
    };
    const bool told = drain({"spine-1"}).has_value();
    if (!world.fate.dead) (void)world.run([&] { return all_safe() && world.daemon->quiet(); }, 2min);
    if (world.fate.dead) world.run_for(1ms);
    was_killed = !world.daemon;
    if (!was_killed) break;
    world.run_for(3s);
    world.start();
    ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 60s));
    world.run_for(60s);
    ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 60s));
    // What is on disk is held; what an operator was told is on disk.
    const bool kept = !world.daemon->on_disk().drains.empty();
    if (told && moment > 1) {
      EXPECT_TRUE(kept);
    }
    EXPECT_EQ(world.links_off().size(), kept ? 3U : 0U) << events();
    if (kept) {
      becomes_safe();
      ASSERT_TRUE(end({}));
    }
    expect_everything_back();
    if (HasFailure()) return;
  }
  EXPECT_GT(moment, 30U);
}

}  // namespace
}  // namespace heddle::test
