// What operators take out of service: under load, one thing after another, over a daemon that is killed, and
// pulled out for good. Nothing may ever be led into what is drained.

#include "regulate/drain_target.h"
#include "routing/outage.h"
#include "story.h"

namespace heddle::test {
namespace {

using regulate::DrainShown;
using regulate::Whole;

/// Two hosts at each of three leaves, three spines.
constexpr std::string_view small_tree = "xgft:2;2,3;1,3";

class Drains : public Story, public ::testing::WithParamInterface<std::uint8_t> {
 protected:
  RegulatedWorld& begin_loaded(regulation::SelectPolicy policy = regulation::SelectPolicy::Trunk) {
    WorldOptions options = usual(GetParam());
    options.governor.select.policy = policy;
    RegulatedWorld& world = begin(small_tree, options);
    // By trunks, which have a link each, there is nothing to turn off.
    traffic(0.6, 2);
    world.run_for(5s);
    return world;
  }
  [[nodiscard]] const Fabric& truth() const { return world_->fabric.description(); }
  Result<std::string> drain(const std::vector<std::string>& names, Whole whole = Whole::Named,
                            regulation::Force force = regulation::Force::No,
                            std::optional<FabricClock::duration> length = std::nullopt) {
    auto target = regulate::drain_target(world_->daemon->regulator().governor().reference(), names, whole);
    if (!target) return fail(target.error());
    target->by = "ann";
    target->reason = "a fan";
    if (length) target->until = world_->now + *length;
    for (const NodeGuid guid : target->nodes) world_->watch.drain(truth().find_node(guid));
    Result<std::string> answer = fail(ErrorCode::Io, "no answer");
    world_->daemon->order([&](regulate::Regulator& regulator) {
      regulator.set_drain(*target, force, world_->now,
                          [&](const Result<std::string>& given) { answer = given; });
    });
    if (!answer) {
      for (const NodeGuid guid : target->nodes) world_->watch.end_drain(truth().find_node(guid));
    }
    return answer;
  }
  Result<std::string> end(const std::vector<std::string>& names) {
    const auto& regulator = world_->daemon->regulator();
    const auto what =
        regulate::drain_named(regulator.governor().drains(), regulator.governor().reference(), names);
    if (!what) return fail(what.error());
    Result<std::string> answer = fail(ErrorCode::Io, "no answer");
    world_->daemon->order([&](regulate::Regulator& ordered) {
      ordered.end_drain(*what, "bob", world_->now, [&](const Result<std::string>& given) { answer = given; });
    });
    return answer;
  }
  [[nodiscard]] bool all_safe() const {
    const auto drains = world_->daemon->regulator().drains();
    return std::ranges::all_of(drains, [](const DrainShown& one) { return one.safe; });
  }
  void becomes_safe() {
    ASSERT_TRUE(world_->run([&] { return all_safe() && world_->daemon->quiet(); }, 2min)) << events();
    ASSERT_FALSE(world_->daemon->regulator().drains().empty());
    expect_off_in_fact();
  }
  /// By the ports themselves, and by the packets that would go there.
  void expect_off_in_fact() const {
    const auto off = world_->links_off();
    for (const DrainShown& one : world_->daemon->regulator().drains()) {
      for (const LinkRef& ref : one.status.drain.links) {
        const LinkIndex link = truth().port(truth().find_port(ref.a)).link;
        EXPECT_EQ(std::count(off.begin(), off.end(), link), 1) << events();
        for (const LinkEnd& end : {truth().link(link).a, truth().link(link).b})
          EXPECT_EQ(world_->plane.sent(truth().port_index(end), world_->ps()).value(), 0);
      }
    }
  }
  /// In equal parts by each of their LIDs.
  void everybody_to_everybody() {
    for (const sim::TrafficId flow : flows_) world_->plane.remove(flow, world_->ps());
    flows_.clear();
    for (const PortIndex from : hosts_) {
      for (const PortIndex to : hosts_) {
        if (from != to) send_by_every_lid(from, to);
      }
    }
  }
  void send_by_every_lid(PortIndex from, PortIndex to) {
    const unsigned lids = 1U << GetParam();
    const Port& port = truth().port(from);
    const BitRate demand = data_rate(port.width, port.speed) * (0.05 / lids);
    for (unsigned lid = 0; lid < lids; ++lid) {
      flows_.push_back(*world_->plane.add(
          {.from = from, .to = to, .demand = demand, .path_offset = static_cast<std::uint8_t>(lid)},
          world_->ps()));
    }
  }
  /// bit/s, of the links between switches.
  [[nodiscard]] double busiest() {
    double most = 0;
    for (const Link& link : truth().links()) {
      const auto is_switch = [&](LinkEnd end) { return truth().node(end.node).type == NodeType::Switch; };
      if (!is_switch(link.a) || !is_switch(link.b)) continue;
      for (const LinkEnd& end : {link.a, link.b})
        most = std::max(most, world_->plane.sent(truth().port_index(end), world_->ps()).value());
    }
    return most;
  }
  [[nodiscard]] NodeIndex node(const std::string& name) const {
    for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) {
      if (truth().node(NodeIndex{i}).description == name) return NodeIndex{i};
    }
    return no_node;
  }
  [[nodiscard]] std::vector<std::string> uplinks(const std::string& leaf) const {
    std::vector<std::string> names;
    for (unsigned p = 1; p <= truth().node(node(leaf)).port_count; ++p) {
      const auto peer = truth().peer({node(leaf), PortNum{static_cast<std::uint8_t>(p)}});
      if (peer && truth().node(peer->node).type == NodeType::Switch)
        names.push_back(fmt::format("{}/{}", leaf, p));
    }
    return names;
  }
  [[nodiscard]] std::vector<std::string> problems() const {
    std::vector<std::string> texts;
    for (const Problem& problem : world_->daemon->regulator().problems()) texts.push_back(problem.text);
    return texts;
  }
  /// Flows of the hosts that were cut off have no way; all others have theirs.
  void expect_nobody_is_led_there(const std::set<std::size_t>& cut) {
    for (const sim::TrafficId id : flows_) {
      const auto is_cut = [&](PortIndex port) {
        return std::ranges::any_of(cut, [&](std::size_t host) { return hosts_[host] == port; });
      };
      const sim::TrafficFlow& flow = world_->plane.flow(id);
      if (is_cut(flow.from) || is_cut(flow.to)) continue;
      EXPECT_EQ(world_->plane.route_end(id, world_->ps()), sim::RouteEnd::Delivered);
    }
    EXPECT_THAT(world_->watch.violations(), ::testing::IsEmpty());
  }
  /// As it was before anything was drained.
  void expect_everything_back() {
    ASSERT_TRUE(comes_to(0)) << events();
    world_->run_for(10s);
    for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) world_->watch.end_drain(NodeIndex{i});
    world_->run_for(10s);
    EXPECT_TRUE(world_->daemon->regulator().drains().empty());
    EXPECT_TRUE(world_->daemon->on_disk().drains.empty());
    EXPECT_TRUE(world_->daemon->on_disk().off.empty()) << events();
    EXPECT_THAT(problems(), ::testing::IsEmpty());
    EXPECT_EQ(figures().unroutable, 0U);
    expect_well();
  }
};

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

TEST_P(Drains, CostsAsMuchAsIsPredicted) {
  RegulatedWorld& world = begin_loaded();
  everybody_to_everybody();
  const auto reference = world.daemon->regulator().governor().reference();
  const auto predict = [&](const std::string& name) {
    const routing::Failure failure{{reference->find_node(truth().node(node(name)).guid)}, {}};
    const double now = routing::outage(*reference, {}, routing::Engine::UpDown, {}, 0)->largest;
    return routing::outage(*reference, failure, routing::Engine::UpDown, {}, 0)->largest / now;
  };
  const double before = busiest();
  for (const char* spine : {"spine-0", "spine-1", "spine-2"}) {
    ASSERT_TRUE(drain({spine}));
    becomes_safe();
    EXPECT_NEAR(busiest() / before, predict(spine), 0.02 * predict(spine)) << spine;
    ASSERT_TRUE(end({spine}));
    expect_everything_back();
  }
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
