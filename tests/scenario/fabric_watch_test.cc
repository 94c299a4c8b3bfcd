// The watch looks at what a change can change. Here it is held against looking at everything, while somebody
// writes whatever comes to mind: it must find the same at every instant.

#include "support/fabric_watch.h"

#include <algorithm>
#include <random>
#include <set>

#include "mad/header.h"
#include "mad/port_set.h"
#include "story.h"
#include "support/foreign_set.h"
#include "whole_check.h"

namespace heddle::test {
namespace {

constexpr Picoseconds life = std::chrono::milliseconds{50};

/// Sits between the fabric and the watch.
class SecondOpinion final : public sim::ChangeListener {
 public:
  SecondOpinion(RegulatedWorld& world, WholeCheck::Rests rests)
      : world_{world}, whole_{world.watch.watched(), life}, rests_{rests} {
    world_.watch.judge_writes(life, [](const routing::Target&, Lid) { return true; });
    if (rests == WholeCheck::Rests::No) world_.watch.never_rests();
    whole_.begin();
    world_.fabric.set_change_listener(this);
  }
  ~SecondOpinion() override { world_.fabric.set_change_listener(&world_.watch); }
  SecondOpinion(const SecondOpinion&) = delete;
  SecondOpinion& operator=(const SecondOpinion&) = delete;

  void changed(const sim::Change& change, Picoseconds at) override {
    world_.watch.changed(change, at);
    ++instants;
    compare(at_ = at);
  }
  void settled() {
    world_.watch.settled();
    compare(at_);
    whole_.rest();
  }

  std::size_t instants = 0;
  std::size_t well = 0;
  std::size_t loops = 0;
  std::size_t deadlocks = 0;
  /// Wrongs that say so.
  [[nodiscard]] std::size_t count(std::string_view what) const {
    return static_cast<std::size_t>(std::count_if(found_.begin(), found_.end(), [&](const std::string& text) {
      return text.find(what) != std::string::npos;
    }));
  }

 private:
  void compare(Picoseconds at) {
    WholeCheck::Verdict whole = whole_.look(rests_, at);
    WholeCheck::Verdict watch;
    for (const std::string& text : world_.watch.wrongs()) {
      if (text.find("loop to LID") != std::string::npos) {
        ++watch.loops;
      } else if (text.starts_with("cycle of channel dependencies")) {
        ++watch.deadlocks;
      } else {
        watch.others.push_back(text);
      }
    }
    std::sort(whole.others.begin(), whole.others.end());
    std::sort(watch.others.begin(), watch.others.end());
    ASSERT_EQ(watch.loops > 0, whole.loops > 0) << instants;
    ASSERT_EQ(watch.deadlocks, whole.deadlocks) << instants;
    ASSERT_EQ(watch.others, whole.others) << instants;
    well += world_.watch.wrongs().empty() ? 1 : 0;
    loops += watch.loops;
    deadlocks += watch.deadlocks;
    if (watch.loops == 0 && watch.deadlocks > 0) found_.insert("a cycle without a loop");
    found_.insert(watch.others.begin(), watch.others.end());
  }

  RegulatedWorld& world_;
  WholeCheck whole_;
  WholeCheck::Rests rests_;
  Picoseconds at_{0};
  std::set<std::string> found_;
};

struct Sketch {
  const char* source;
  std::uint8_t lmc;
  WholeCheck::Rests rests;
  int steps = 1000;
  std::vector<const char*> kinds{"has no way"};  ///< of what must have been found at least once
};
void PrintTo(const Sketch& sketch, std::ostream* out) {
  *out << sketch.source << " at LMC " << int{sketch.lmc};
}

/// Somebody writes what they like.
class Planted : public Story {
 protected:
  void set(NodeIndex node, mad::SmAttr attribute, std::uint32_t modifier, const auto& value) {
    (void)set_at(world_->fabric, node, attribute, modifier, value, world_->ps());
  }
  void write(NodeIndex node, Lid lid, std::uint8_t port) {
    const auto table = world_->fabric.forwarding_table(node);
    mad::LftBlock block;
    const std::size_t first = lid.raw() / routing::lids_per_block * routing::lids_per_block;
    for (std::size_t i = 0; i < routing::lids_per_block; ++i)
      block.ports[i] = first + i < table.size() ? table[first + i] : no_path;
    block.ports[lid.raw() - first] = PortNum{port};
    set(node, mad::SmAttr::LinearForwardingTable, lid.raw() / routing::lids_per_block, block);
  }
  void set_state(LinkEnd end, PortState state, PhysState physical) {
    mad::PortInfo info = mad::unchanged(world_->fabric.port_info(truth().port_index(end)), 0);
    info.state = state;
    info.physical = physical;
    set(end.node, mad::SmAttr::PortInfo, end.port.raw(), info);
  }
  void activate(LinkIndex link) {
    for (const PortState state : {PortState::Armed, PortState::Active}) {
      for (const LinkEnd& end : {truth().link(link).a, truth().link(link).b})
        set_state(end, state, PhysState::NoChange);
    }
  }
  [[nodiscard]] const Fabric& truth() const { return world_->fabric.description(); }

  std::mt19937 random_{17};
  std::size_t any(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
};

class FabricWatchProperty : public Planted, public testing::WithParamInterface<Sketch> {};

TEST_P(FabricWatchProperty, FindsWhatLookingAtEverythingFinds) {
  WorldOptions how = usual(GetParam().lmc);
  how.governor.mode = regulation::Mode::Advise;
  RegulatedWorld& world = begin(GetParam().source, how);
  world.kill();
  SecondOpinion opinion(world, GetParam().rests);
  const routing::ForwardingTables good = world.watch.watched().tables();
  const routing::SwitchGraph& graph = world.watch.watched().graph();
  const Lid top = good.top();
  std::vector<std::pair<routing::SwitchIndex, Lid>> changed;
  std::vector<LinkIndex> cables;
  for (std::uint32_t i = 0; i < truth().links().size(); ++i) {
    const Link& link = truth().link(LinkIndex{i});
    if (truth().node(link.a.node).type == NodeType::Switch &&
        truth().node(link.b.node).type == NodeType::Switch)
      cables.push_back(LinkIndex{i});
  }
  std::optional<LinkIndex> cut;
  std::vector<LinkIndex> disabled;
  const auto put_back = [&](std::size_t most) {
    for (; most > 0 && !changed.empty(); --most) {
      std::swap(changed[any(changed.size())], changed.back());
      const auto [s, lid] = changed.back();
      changed.pop_back();
      write(graph.node(s), lid, good.port(s, lid).raw());
    }
  };
  for (int step = 0; step < GetParam().steps && !HasFatalFailure(); ++step) {
    const std::size_t what = any(100);
    const routing::SwitchIndex s{static_cast<std::uint32_t>(any(graph.size()))};
    const Node& node = truth().node(graph.node(s));
    if (what < 40) {
      // Mostly to another switch, so that packets run far.
      const Lid lid{static_cast<std::uint16_t>(1 + any(top.raw()))};
      const auto hops = graph.hops(s);
      const std::uint8_t other =
          what < 5 ? no_path.raw() : static_cast<std::uint8_t>(any(node.port_count + 1U));
      write(graph.node(s), lid, what < 12 || hops.empty() ? other : hops[any(hops.size())].out.raw());
      changed.emplace_back(s, lid);
    } else if (what < 80) {
      put_back(1);
    } else if (what < 84) {
      put_back(changed.size());
    } else if (what < 88) {
      const LinkIndex link = cables[any(cables.size())];
      set_state(truth().link(link).a, PortState::Down, PhysState::Disabled);
      disabled.push_back(link);
    } else if (what < 91 && !disabled.empty()) {
      set_state(truth().link(disabled.back()).a, PortState::Down, PhysState::Polling);
      world.run_for(600ms);
      activate(disabled.back());
      disabled.pop_back();
    } else if (what < 93) {
      if (cut) {
        world.watch.mend(*cut, world.ps());
        world.run_for(600ms);
        activate(*cut);
        cut.reset();
      } else {
        world.watch.cut(*(cut = cables[any(cables.size())]), world.ps());
      }
    } else if (what < 95) {
      world.watch.fault();
    } else if (what < 98) {
      opinion.settled();
    } else {
      world.run_for(30ms);
    }
  }
  EXPECT_GT(opinion.well, 0U);
  EXPECT_GT(opinion.loops, 0U);
  EXPECT_GT(opinion.deadlocks, 0U);
  for (const char* kind : GetParam().kinds) EXPECT_GT(opinion.count(kind), 0U) << kind;
}

TEST_F(Planted, TwoPortsWithOneLidAreAViolationAndTheWatchGoesOn) {
  RegulatedWorld& world = begin("xgft:2;2,4;1,2", usual(0));
  world.kill();
  const auto switches = world.watch.watched().graph();
  const auto give_lid = [&](Lid lid) {
    mad::PortInfo info = mad::unchanged(
        world.fabric.port_info(truth().node(switches.node(routing::SwitchIndex{0})).first_port), 0);
    info.lid = lid;
    set(switches.node(routing::SwitchIndex{0}), mad::SmAttr::PortInfo, 0, info);
  };
  const auto lid_of = [&](routing::SwitchIndex s) {
    return world.fabric.port_info(truth().node(switches.node(s)).first_port).lid;
  };
  const Lid own = lid_of(routing::SwitchIndex{0});
  give_lid(lid_of(routing::SwitchIndex{1}));
  EXPECT_THAT(world.watch.violations(), ::testing::ElementsAre(::testing::HasSubstr("LID")));
  give_lid(own);
  EXPECT_EQ(world.watch.violations().size(), 1U);
}

// Four routes of two hops around a ring, in one direction, wait for one another in a circle. One turns round
// before the last one does. What waits for a cable that is cut is dropped.
TEST_F(Planted, PacketsFollowAnEntryForTheirLifeOnly) {
  for (const auto& [is_long_ago, is_cut] : {std::pair{false, false}, {true, false}, {false, true}}) {
    RegulatedWorld& world = begin("torus:4,hosts=1", usual(0));
    world.kill();
    const routing::SwitchGraph& graph = world.watch.watched().graph();
    std::vector<routing::SwitchIndex> around{routing::SwitchIndex{0}};
    while (around.size() < 4) {
      for (const routing::Hop& hop : graph.hops(around.back())) {
        if (std::ranges::find(around, hop.peer) != around.end()) continue;
        around.push_back(hop.peer);
        break;
      }
    }
    const auto port_to = [&](std::size_t from, std::size_t to) {
      const auto hops = graph.hops(around[from % 4]);
      return std::ranges::find(hops, around[to % 4], &routing::Hop::peer)->out.raw();
    };
    // To the switch opposite of this one, and to its host.
    const auto lead = [&](std::size_t from, std::size_t over) {
      for (const routing::Target& target : graph.targets()) {
        if (target.at != around[(from + 2) % 4]) continue;
        for (const std::size_t next : {from + 1, from + 3})
          write(graph.node(around[next % 4]), target.base, port_to(next, from + 2));
        write(graph.node(around[from % 4]), target.base, port_to(from, over));
      }
    };
    for (std::size_t from = 0; from < 3; ++from) lead(from, from + 1);
    lead(3, 3 + 3);
    world.watch.packets_live(Picoseconds{1'000'000'000'000});
    world.run_for(10s);
    lead(0, 3);
    world.run_for(is_long_ago ? 1100ms : 900ms);
    ASSERT_THAT(world.watch.wrongs(), ::testing::IsEmpty());
    const LinkEnd by{graph.node(around[0]), PortNum{port_to(0, 1)}};
    if (is_cut) world.watch.cut(truth().port(by).link, world.ps());
    lead(3, 4);
    if (is_long_ago || is_cut) {
      EXPECT_THAT(world.watch.wrongs(), ::testing::IsEmpty());
    } else {
      EXPECT_THAT(world.watch.wrongs(), ::testing::Contains(::testing::HasSubstr("[under way]")));
    }
  }
}

// World 6000010173 of the swarm: a switch was there from the start, and its cables were not.
TEST_F(Planted, WhoComesWithACableIsNotSeenAtOnce) {
  world_ = std::make_unique<RegulatedWorld>("torus:3x3,hosts=1", usual(0), journal_file());
  RegulatedWorld& world = *world_;
  const auto is_switch = [&](LinkEnd end) { return truth().node(end.node).type == NodeType::Switch; };
  const Port& seat = truth().port(world.port);
  NodeIndex apart{0};
  while (!is_switch({apart, PortNum{0}}) || apart == truth().peer({seat.node, seat.num})->node)
    apart = NodeIndex{apart.raw() + 1};
  std::vector<LinkIndex> cables;
  for (std::uint32_t i = 0; i < truth().links().size(); ++i) {
    const Link& link = truth().link(LinkIndex{i});
    const bool is_between = is_switch(link.a) && is_switch(link.b);
    if (is_between && (link.a.node == apart || link.b.node == apart)) cables.push_back(LinkIndex{i});
  }
  ASSERT_EQ(cables.size(), 4U);
  for (const LinkIndex cable : cables) world.watch.cut(cable, world.ps());
  world.bring_up();
  for (const LinkIndex cable : cables) {
    world.watch.settled();
    world.watch.mend(cable, world.ps());
    world.run_for(10s);
    ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }));
  }
  world.watch.settled();
  EXPECT_THAT(world.watch.violations(), ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Some, FabricWatchProperty,
    testing::Values(Sketch{"torus:3x3,hosts=1",
                           0,
                           WholeCheck::Rests::Yes,
                           1000,
                           {"a cycle without a loop", "has no way", "runs in circles", "a packet to LID"}},
                    Sketch{"torus:4,hosts=1,links=2",
                           1,
                           WholeCheck::Rests::Yes,
                           1000,
                           {"directed routes", "not Active", "link that is off"}},
                    Sketch{"xgft:2;2,4;1,2", 1, WholeCheck::Rests::Yes, 1000, {"sends it to a host"}},
                    Sketch{"grown:seed=3,hosts=24",
                           0,
                           WholeCheck::Rests::Yes,
                           3000,
                           {"has no cable", "into a link that failed"}},
                    Sketch{"torus:3x3,hosts=1", 1, WholeCheck::Rests::No}));

}  // namespace
}  // namespace heddle::test
