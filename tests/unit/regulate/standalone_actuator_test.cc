#include "authority/own/standalone_actuator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/own/port_settings.h"
#include "authority/own/survey_change.h"
#include "discovery/discovery.h"
#include "support/fabric_watch.h"
#include "support/foreign_set.h"
#include "support/sim_world.h"
#include "support/trunks.h"

namespace heddle::regulate {
namespace {

using namespace std::chrono_literals;

/// Discovery, subnet manager and actuator, wired as in the daemon; somebody looks on at every instant.
class World final : private FabricSeat {
 public:
  explicit World(std::string_view generator, unsigned planes = 2, const sim::Options& sim_options = {})
      : sim{generator, sim_options},
        watch{sim.fabric, sim.port()},
        keeper{planes},
        discovery{sim.engine,
                  {.change_bits = discovery::ChangeBits::Clear},
                  [this](const discovery::SweepReport& report) {
                    if (report.survey && report.survey != report.before) {
                      sm.configure(provision::complete(report.survey, known), sim.now);
                    }
                  }},
        sm{sim.engine,
           sim,
           {.ports = {.lmc = static_cast<std::uint8_t>(planes > 1 ? 1 : 0)}},
           [this](const Fabric& fabric) { return keeper.route(fabric); },
           [this](const provision::ProvisionReport& report) {
             if (report.failure) return;
             discovery.adopt(report.survey);
             current = report.survey;
           }},
        actuator{sim.engine, sm, keeper, *this, nullptr} {
    sim.engine.unsolicited_to([this](const mad::Packet& packet, Instant at) {
      if (const auto notice = sm.on_unsolicited(packet, at)) discovery.on_notice(*notice, at);
    });
    discovery.full(sim.now);
    run([this] { return current != nullptr; });
    watch.begin();
  }

  bool run(const std::function<bool()>& done, FabricClock::duration limit = 100s) {
    const Instant end = sim.now + limit;
    while (!done()) {
      const auto due = next_deadline();
      if (due && *due <= sim.now) {
        sm.on_timer(sim.now);
        actuator.on_timer(sim.now);
        continue;
      }
      const Instant until = due && *due < end ? *due : end;
      if (sim.run([&] { return done() || next_deadline() != due; }, until - sim.now)) continue;
      sim.now = until;
      sim.fabric.advance(sim.ps());
      if (until == end) return done();
    }
    return true;
  }
  [[nodiscard]] std::optional<Instant> next_deadline() const {
    const auto first = actuator.next_deadline();
    const auto other = sm.next_deadline();
    return first && (!other || *first < *other) ? first : other;
  }
  /// Until nothing is under way, traps included.
  void settle() {
    run([] { return false; }, 3s);
    run([this] {
      return !sm.busy() && !discovery.busy() && sim.engine.pending() == 0 && !actuator.next_deadline();
    });
    watch.settled();
  }

  Result<void> write(std::optional<unsigned> plane, const std::vector<LinkRef>& avoid) {
    std::optional<Result<void>> answer;
    actuator.write_tables(plane, avoid, sim.now,
                          [&](const Result<void>& result, Instant) { answer = result; });
    EXPECT_FALSE(answer) << "answered from within the call";
    EXPECT_TRUE(run([&] { return answer.has_value(); }));
    return answer.value_or(Result<void>{fail(ErrorCode::Invalid, "no answer")});
  }
  std::vector<LinkOutcome> set(const std::vector<LinkOrder>& orders) {
    std::optional<std::vector<LinkOutcome>> answer;
    actuator.set_links(orders, sim.now, [&](const auto& outcomes, Instant) { answer = outcomes; });
    EXPECT_FALSE(answer) << "answered from within the call";
    EXPECT_TRUE(run([&] { return answer.has_value(); }));
    return answer.value_or(std::vector<LinkOutcome>{});
  }

  [[nodiscard]] const Fabric& truth() const { return sim.fabric.description(); }
  /// Links between switches.
  [[nodiscard]] std::vector<LinkIndex> trunk_links() const { return test::trunk_links(truth()); }
  /// Those that every rule lets go: every two host switches, and the daemon's and every switch, keep a path.
  [[nodiscard]] std::vector<LinkIndex> dispensable_links() const {
    std::vector<LinkIndex> links;
    routing::UpDownOptions options;
    options.ranks = keeper.ranks();
    auto router = routing::UpDownRouter::make(*current->fabric, options).value();
    const NodeIndex seat = truth().peer({truth().port(sim.port()).node, truth().port(sim.port()).num})->node;
    const auto home = router.graph().find(current->fabric->find_node(truth().node(seat).guid));
    for (const LinkIndex link : trunk_links()) {
      auto rest = routing::LinkSet::all(*current->fabric);
      rest.erase(current->fabric->port(current->fabric->find_port(ref(link).a)).link);
      router.update(rest);
      bool all = router.unconnected().empty();
      for (std::uint32_t s = 0; s < router.graph().size(); ++s) {
        all = all && router.paths().distance(home, routing::SwitchIndex{s}) != routing::LegalPaths::far;
      }
      if (all) links.push_back(link);
    }
    EXPECT_FALSE(links.empty());
    return links;
  }
  [[nodiscard]] LinkRef ref(LinkIndex link) const { return link_ref(truth(), truth().link(link)); }
  [[nodiscard]] LinkOrder order(LinkIndex link, LinkTo to) {
    known.push_back({ref(link), truth().link(link).width, truth().link(link).speed});
    return {ref(link), ref(link).a, to, power::mode_of(truth().link(link))};
  }
  [[nodiscard]] const mad::PortInfo& info(const PortRef& port) const {
    return sim.fabric.port_info(truth().find_port(port));
  }

  test::SimWorld sim;
  test::FabricWatch watch;
  provision::UpDownKeeper keeper;
  std::vector<provision::KnownLink> known;
  std::shared_ptr<const Survey> current;
  discovery::Discovery discovery;
  provision::SubnetManager sm;
  StandaloneActuator actuator;

 private:
  [[nodiscard]] std::shared_ptr<const Survey> survey() const override { return current; }
  void take_routes(std::shared_ptr<const Survey> survey) override {
    current = survey;
    discovery.adopt(std::move(survey));
  }
  void look_at(const std::vector<NodeGuid>& nodes, Instant now) override { discovery.rediscover(nodes, now); }
};

TEST(StandaloneActuator, TakesEachLinkOffAndBackWithoutALoopOrALostRoute) {
  for (const char* spec : {"torus:3x3,hosts=1,links=1", "tree:k=2,n=3", "torus:2x2,hosts=1,links=2"}) {
    for (const unsigned planes : {1U, 2U}) {
      World world{spec, planes};
      for (const LinkIndex link : world.dispensable_links()) {
        world.watch.say(fmt::format("{} planes {} link {}", spec, planes, link.raw()));
        for (unsigned plane = 0; plane < planes; ++plane) {
          ASSERT_TRUE(world.write(plane, {world.ref(link)}));
        }
        const auto off = world.set({world.order(link, LinkTo::Off)});
        ASSERT_EQ(off.size(), 1U);
        ASSERT_FALSE(off[0].failure) << off[0].failure->message;
        EXPECT_EQ(world.info(world.ref(link).a).physical, PhysState::Disabled);
        EXPECT_EQ(world.info(world.ref(link).b).state, PortState::Down);
        world.settle();
        const auto on = world.set({world.order(link, LinkTo::On)});
        ASSERT_FALSE(on[0].failure) << on[0].failure->message;
        EXPECT_EQ(world.info(world.ref(link).b).state, PortState::Active);
        ASSERT_TRUE(world.write(std::nullopt, {}));
        world.settle();
      }
      EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty()) << spec << " planes " << planes;
      EXPECT_GT(world.watch.instants(), 0U);
    }
  }
}

TEST(StandaloneActuator, RefusesToTakeALinkOffThatTablesLeadOver) {
  World world{"torus:3x3,hosts=1"};
  const LinkIndex link = world.dispensable_links().front();
  ASSERT_TRUE(world.write(0, {world.ref(link)}));  // plane 1 still uses it
  const auto off = world.set({world.order(link, LinkTo::Off)});
  // Closing it makes the routes of plane 1 avoid it as well, before the port is touched.
  EXPECT_FALSE(off[0].failure);
  EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty());
}

// Random run 700148 of the real programs: the other cable of a leaf was cut when the tables had just been
// written without the one that goes.
TEST(StandaloneActuator, TakesNoLinkOffThatHostsHaveNoWayButBySinceACut) {
  World world{"tree:k=2,n=2"};
  std::vector<LinkIndex> up;  // of one leaf
  for (const LinkIndex link : world.trunk_links()) {
    const Link& each = world.truth().link(link);
    const auto is_leaf = [&](NodeIndex node) { return world.truth().node(node).description == "leaf-1"; };
    if (is_leaf(each.a.node) || is_leaf(each.b.node)) up.push_back(link);
  }
  ASSERT_EQ(up.size(), 2U);
  ASSERT_TRUE(world.write(std::nullopt, {world.ref(up[0])}));
  world.watch.cut(up[1], world.sim.ps());
  world.settle();
  const auto off = world.set({world.order(up[0], LinkTo::Off)});
  ASSERT_TRUE(off[0].failure);
  EXPECT_EQ(off[0].failure->code, ErrorCode::Refused);
  EXPECT_THAT(off[0].failure->message, testing::HasSubstr("may still lead over"));
  world.settle();
  EXPECT_THAT(world.watch.violations(), testing::IsEmpty());
}

TEST(StandaloneActuator, ChangesNothingOfAPortButItsState) {
  World world{"torus:3x3,hosts=1"};
  const LinkIndex link = world.dispensable_links().front();
  const PortRef port = world.ref(link).a;
  // What somebody set after the daemon last looked.
  mad::PortInfo set = provision::unchanged(world.info(port), 0);
  set.hoq_life = 7;
  set.vl_high_limit = 9;
  set.neighbor_mtu = 3;
  ASSERT_TRUE(test::set_at(world.sim.fabric, world.truth().find_node(port.node), mad::SmAttr::PortInfo,
                           port.port.raw(), set, world.sim.ps()));
  ASSERT_TRUE(world.write(std::nullopt, {world.ref(link)}));
  const mad::PortInfo before = world.info(port);
  ASSERT_EQ(before.hoq_life, 7);
  ASSERT_FALSE(world.set({world.order(link, LinkTo::Off)})[0].failure);
  ASSERT_FALSE(world.set({world.order(link, LinkTo::On)})[0].failure);
  const mad::PortInfo& after = world.info(port);
  EXPECT_EQ(after.hoq_life, 7);
  EXPECT_EQ(after.vl_high_limit, 9);
  EXPECT_EQ(after.link_width_enabled, before.link_width_enabled);
  EXPECT_EQ(after.link_speed_enabled, before.link_speed_enabled);
  EXPECT_EQ(after.link_speed_ext_enabled, before.link_speed_ext_enabled);
}

TEST(StandaloneActuator, RunsALinkInAReducedWidthAndBackInFull) {
  World world{"torus:3x3,hosts=1,width=4x,speed=EDR"};
  const LinkIndex link = world.dispensable_links().front();
  ASSERT_TRUE(world.write(std::nullopt, {world.ref(link)}));
  LinkOrder narrow = world.order(link, LinkTo::Reduced);
  narrow.mode = {LinkWidth::X1, LinkSpeed::Edr};
  const auto reduced = world.set({narrow});
  ASSERT_FALSE(reduced[0].failure) << reduced[0].failure->message;
  const PortIndex at = world.truth().find_port(world.ref(link).b);
  EXPECT_EQ(world.sim.fabric.active_width(at), LinkWidth::X1);
  const auto full = world.set({world.order(link, LinkTo::On)});
  ASSERT_FALSE(full[0].failure) << full[0].failure->message;
  EXPECT_EQ(world.sim.fabric.active_width(at), LinkWidth::X4);
  EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty());
}

TEST(StandaloneActuator, TellsOfALinkThatIsOnWhileAnotherStillTrains) {
  World world{"torus:3x3,hosts=1"};
  const LinkIndex slow = world.dispensable_links().front();
  const LinkIndex quick = world.dispensable_links().back();
  ASSERT_TRUE(world.write(std::nullopt, {world.ref(slow)}));
  ASSERT_FALSE(world.set({world.order(slow, LinkTo::Off)})[0].failure);
  world.settle();
  world.sim.fabric.set_training_delay(slow, 70s);
  std::vector<LinkRef> told;
  Instant told_at;
  world.actuator.tell_of_links([&](const std::vector<LinkRef>& links, Instant at) {
    told.insert(told.end(), links.begin(), links.end());
    told_at = at;
  });
  auto patient = world.order(slow, LinkTo::On);
  patient.patience = 80s;
  std::vector<LinkOutcome> outcomes;
  const Instant ordered = world.sim.now;
  world.actuator.set_links({patient, world.order(quick, LinkTo::On)}, ordered,
                           [&](const auto& all, Instant) { outcomes = all; });
  EXPECT_TRUE(told.empty()) << "told from within the call";
  ASSERT_TRUE(world.run([&] { return !outcomes.empty(); }, 100s));
  EXPECT_EQ(told, std::vector{world.ref(quick)});
  EXPECT_LT(told_at, ordered + 1s);
  EXPECT_EQ(outcomes[1].at, told_at);
  EXPECT_FALSE(outcomes[0].failure) << outcomes[0].failure->message;
  EXPECT_GE(*outcomes[0].at, ordered + 70s);
}

TEST(StandaloneActuator, ALinkIsOnWhenNoLateCopyOfASetCanTakeItDownAnyMore) {
  for (const LinkTo late : {LinkTo::Off, LinkTo::On}) {
    World world{"torus:3x3,hosts=1"};
    const LinkIndex link = world.dispensable_links().front();
    const PortIndex port = world.truth().find_port(world.ref(link).a);
    ASSERT_TRUE(world.write(std::nullopt, {world.ref(link)}));
    // The first copy comes when the link has trained; the next one is answered at once.
    const PhysState asked = late == LinkTo::Off ? PhysState::Disabled : PhysState::Polling;
    bool is_next_late = true;
    world.sim.on_send = [&](const mad::Packet& packet) {
      const mad::Header header = mad::read_header(packet.mad);
      const bool sets = header.method == mad::Method::Set &&
                        header.attribute == static_cast<std::uint16_t>(mad::SmAttr::PortInfo) &&
                        mad::decode<mad::PortInfo>(mad::smp_data(packet.mad)).physical == asked;
      const bool is_late = sets && std::exchange(is_next_late, false);
      world.sim.fabric.set_mad_faults(is_late ? sim::MadFaults{.delayed = Ratio{1}, .delay = 500ms}
                                              : sim::MadFaults{});
    };
    ASSERT_FALSE(world.set({world.order(link, LinkTo::Off)})[0].failure);
    const auto on = world.set({world.order(link, LinkTo::On)});
    EXPECT_FALSE(is_next_late);
    ASSERT_FALSE(on[0].failure) << on[0].failure->message;
    world.sim.on_send = nullptr;
    world.sim.fabric.set_mad_faults({});
    world.run([&] { return world.info(world.ref(link).a).state != PortState::Active; }, 10s);
    EXPECT_EQ(world.sim.fabric.port_info(port).state, PortState::Active);
  }
}

TEST(StandaloneActuator, ALinkThatDoesNotTrainIsReportedAndLeftTrying) {
  World world{"torus:3x3,hosts=1"};
  const LinkIndex link = world.dispensable_links().front();
  ASSERT_TRUE(world.write(std::nullopt, {world.ref(link)}));
  ASSERT_FALSE(world.set({world.order(link, LinkTo::Off)})[0].failure);
  world.settle();
  world.watch.cut(link, world.sim.ps());
  const auto on = world.set({world.order(link, LinkTo::On)});
  ASSERT_TRUE(on[0].failure);
  EXPECT_EQ(on[0].failure->code, ErrorCode::Unreachable);
  EXPECT_EQ(world.info(world.ref(link).a).physical, PhysState::Polling);
  world.watch.mend(link, world.sim.ps());
  world.settle();
  EXPECT_EQ(world.info(world.ref(link).a).state, PortState::Active);
}

}  // namespace
}  // namespace heddle::regulate
