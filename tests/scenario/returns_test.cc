// What comes back: a switch together with cables that nobody knew, links that sweeps lost sight of, and links
// of which nobody knows any more who turned them off.

#include "base/random.h"
#include "mad/port_set.h"
#include "story.h"
#include "support/foreign_set.h"

namespace heddle::test {
namespace {

using regulation::LinkState;

class Returns : public Story {
 protected:
  [[nodiscard]] NodeIndex own_switch() const {
    const Fabric& truth = world_->fabric.description();
    const Port& seat = truth.port(world_->port);
    return truth.peer({seat.node, seat.num})->node;
  }
  [[nodiscard]] std::string lost_links() const {
    std::string lost;
    for (const auto& link : world_->daemon->regulator().governor().links()) {
      if (link.state == LinkState::Lost) lost += fmt::format("{} {}; ", to_string(link.link.a), link.reason);
    }
    return lost;
  }
  void settle(FabricClock::duration span = 30s) {
    world_->run_for(span);
    ASSERT_TRUE(world_->run([&] { return world_->daemon->quiet(); })) << events();
  }
  static WorldOptions options() {
    WorldOptions options;
    options.governor = quick();
    options.sim.training_delay = std::chrono::milliseconds{500};
    return options;
  }
};

TEST_F(Returns, ASwitchWithACableThatNobodyKnew) {
  WorldOptions how = options();
  how.lmc = 0;
  for (std::size_t cable = 0; cable < 8; ++cable) {
    world_.reset();
    flows_.clear();
    world_ = std::make_unique<RegulatedWorld>(ring, how, journal_file());
    RegulatedWorld& world = *world_;
    const LinkIndex link = trunk_links()[cable];
    const Link& ends = world.fabric.description().link(link);
    const NodeIndex with_it = ends.a.node == own_switch() ? ends.b.node : ends.a.node;
    world.watch.cut(link, world.ps());
    world.bring_up();
    world.watch.kill(with_it, world.ps());
    settle(60s);
    world.watch.mend(link, world.ps());
    settle(1s);
    world.watch.revive(with_it, world.ps());
    settle(60s);
    EXPECT_EQ(lost_links(), "") << "cable " << cable << "\n" << events();
    hosts_ = sim::host_ports(world.fabric.description());
    traffic(0.05);
    EXPECT_TRUE(comes_to(4)) << "cable " << cable << "\n" << events();
  }
}

// A cable that is new makes the sweep in which much is missing another fabric's.
// Nobody has seen it since the start: what the daemon before had seen is in the journal.
TEST_F(Returns, WhatWentBeforeAStartIsMissedUntilItIsBackOrForgotten) {
  world_ = std::make_unique<RegulatedWorld>(ring, options(), journal_file());
  RegulatedWorld& world = *world_;
  world.bring_up();
  settle();
  const auto problems = [&] { return world.daemon->regulator().problems(); };
  const auto start_again = [&] {
    world.kill();
    world.run_for(5s);
    world.start();
    settle();
  };
  const auto says = [](const std::string& words) {
    return ::testing::Contains(::testing::Field(&Problem::text, ::testing::HasSubstr(words)));
  };
  const LinkIndex cable = trunk_links().front();
  const Link& ends = world.fabric.description().link(cable);
  const NodeIndex away = ends.a.node == own_switch() ? ends.b.node : ends.a.node;
  const std::string name = world.fabric.description().node(away).description;
  const auto lose_both = [&] {
    world.watch.cut(cable, world.ps());
    settle();
    start_again();
    EXPECT_THAT(problems(), says("1 link is down, and nobody ordered it: "));
    EXPECT_THAT(problems(), says(name));
    world.watch.kill(away, world.ps());
    settle();
    start_again();
    EXPECT_THAT(problems(), says("1 switch is gone: " + name));
  };
  const auto bring_both_back = [&] {
    world.watch.revive(away, world.ps());
    world.watch.mend(cable, world.ps());
    settle(60s);
  };
  lose_both();
  bring_both_back();
  EXPECT_THAT(problems(), ::testing::IsEmpty());
  lose_both();
  std::string said;
  world.daemon->order([&](regulate::Regulator& regulator) {
    regulator.forget_gone("ada", world.now, [&](const Result<std::string>& reply) { said = reply.value(); });
  });
  settle();
  EXPECT_THAT(said, ::testing::HasSubstr("1 switch"));
  EXPECT_THAT(events(), ::testing::HasSubstr("1 switch (" + name + ")"));
  EXPECT_THAT(problems(), ::testing::IsEmpty());
  start_again();
  EXPECT_THAT(problems(), ::testing::IsEmpty());
  bring_both_back();
  EXPECT_THAT(problems(), ::testing::IsEmpty());
  lose_both();
}

TEST_F(Returns, LinksThatABadSweepTookForLostWhenACableCame) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    world_ = std::make_unique<RegulatedWorld>(ring, options(), journal_file());
    RegulatedWorld& world = *world_;
    const LinkIndex link = trunk_links()[seed % 8];
    world.watch.cut(link, world.ps());
    world.bring_up();
    world.watch.say(fmt::format("seed {}", seed));
    world.watch.fault();
    Random random{seed};
    world.fate.on_request = [&](std::uint64_t, const mad::Packet&) {
      return random.chance(0.5) ? Fate::Verdict::Lost : Fate::Verdict::Goes;
    };
    world.daemon->sweep();
    settle(5s);
    world.watch.mend(link, world.ps());
    settle(20s);
    world.fate.on_request = nullptr;
    world.daemon->sweep();
    settle(60s);
    EXPECT_EQ(lost_links(), "") << "seed " << seed << "\n" << events();
  }
}

TEST_F(Returns, PortsThatAreDisabledAndOfWhichTheJournalKnowsNothing) {
  RegulatedWorld& world = begin(ring, options());
  EXPECT_THAT(world.daemon->regulator().problems(), ::testing::IsEmpty());
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  EXPECT_THAT(world.daemon->regulator().problems(), ::testing::IsEmpty());
  world.kill();
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(world.path + suffix);
  world.start();
  settle();
  ASSERT_EQ(world.links_off().size(), 4U) << "an operator may have disabled them";
  EXPECT_THAT(world.daemon->regulator().problems(),
              ::testing::ElementsAre(says("4 ports are disabled and not by us: sw-")));
  const auto restore = [&](regulate::Regulator::Adopt adopt) {
    std::string said;
    world.daemon->order([&](regulate::Regulator& regulator) {
      regulator.restore("alice", adopt, world.now,
                        [&](const Result<std::string>& answer) { said = answer.value(); });
    });
    return said;
  };
  (void)restore(regulate::Regulator::Adopt::No);
  settle();
  EXPECT_EQ(world.links_off().size(), 4U);
  EXPECT_THAT(restore(regulate::Regulator::Adopt::DisabledPorts),
              ::testing::HasSubstr("4 disabled ports are enabled: sw-"));
  ASSERT_TRUE(comes_to(0)) << events();
  settle();
  EXPECT_THAT(world.daemon->regulator().problems(), ::testing::IsEmpty());
  EXPECT_EQ(lost_links(), "");
  expect_well();
}

// 2000001251 of the swarm.
TEST_F(Returns, PortsOfASwitchThatIsSilentWhenTheyAreAdopted) {
  RegulatedWorld& world = begin(ring, options());
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  world.kill();
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(world.path + suffix);
  std::vector<NodeIndex> silent;
  for (const LinkIndex off : world.links_off()) {
    const Link& link = world.fabric.description().link(off);
    for (const LinkEnd& end : {link.a, link.b})
      if (end.node != own_switch()) silent.push_back(end.node);
  }
  world.watch.fault();
  world.fabric.set_agent_faults(silent.front(), {.mute_sma = true});
  world.start();
  settle();
  world.daemon->order([&](regulate::Regulator& regulator) {
    regulator.restore("alice", regulate::Regulator::Adopt::DisabledPorts, world.now,
                      [](const Result<std::string>&) {});
  });
  world.run_for(1s);
  EXPECT_NE(world.links_off().size(), 0U) << "or nobody was silent";
  world.fabric.set_agent_faults(silent.front(), {});
  world.daemon->sweep();
  EXPECT_TRUE(comes_to(0)) << events();
  settle();
  EXPECT_THAT(world.daemon->regulator().problems(), ::testing::IsEmpty());
}

// Before it, while it goes on, and after it: all is on, and nothing says otherwise.
TEST_F(Returns, RestoreAtEachMomentOfARediscovery) {
  for (const auto training : {20ms, 100ms, 500ms}) {
    for (int moment = -20; moment <= 40; ++moment) {
      WorldOptions how = options();
      how.sim.training_delay = training;
      RegulatedWorld& world = begin(ring, how);
      traffic(0.05);
      ASSERT_TRUE(comes_to(4)) << events();
      const auto restore = [&] {
        world.daemon->order([&](regulate::Regulator& regulator) {
          regulator.restore("alice", regulate::Regulator::Adopt::No, world.now,
                            [](const Result<std::string>&) {});
        });
      };
      if (moment < 0) {
        restore();
        world.run_for(-moment * 10ms);
      }
      std::vector<NodeGuid> nodes;
      for (const Node& node : world.fabric.description().nodes()) {
        if (node.type == NodeType::Switch) nodes.push_back(node.guid);
      }
      if (moment % 2 == 0) {
        world.daemon->sweep();
      } else {
        world.daemon->look_at(nodes);
      }
      if (moment >= 0) {
        world.run_for(moment * 500us);
        restore();
      }
      settle(40s);
      SCOPED_TRACE(fmt::format("moment {}, training {} ms\n{}", moment, training.count(), events()));
      EXPECT_THAT(world.links_off(), ::testing::IsEmpty());
      EXPECT_EQ(world.daemon->on_disk().off.size(), 0U);
      EXPECT_EQ(world.daemon->on_disk().open.size(), 0U);
      EXPECT_THAT(world.daemon->regulator().governor().links_in(LinkState::Off), ::testing::IsEmpty());
      EXPECT_EQ(lost_links(), "");
      expect_well();
      if (HasFailure()) return;
    }
  }
}

// An operator turns off one of a switch's two links, the other one is cut, the daemon is started again and
// knows the link by its journal only; then the operator takes it all back, in vain for what cannot be
// reached.
TEST_F(Returns, ALinkThatIsRestoredWhileItsSwitchIsAway) {
  for (std::size_t i = 0; i < 4; ++i) {
    RegulatedWorld& world = begin("tree:k=2,n=2", options());
    const Fabric& truth = world.fabric.description();
    const LinkIndex off = trunk_links()[i];
    const Link& ends = truth.link(off);
    if (ends.a.node == own_switch() || ends.b.node == own_switch()) continue;
    // The end at which the port was disabled: that one is nearer to the manager.
    const NodeIndex away =
        truth.node(ends.a.node).description.starts_with("spine") ? ends.a.node : ends.b.node;
    const auto links = trunk_links();
    const auto other = std::find_if(links.begin(), links.end(), [&](LinkIndex link) {
      return link != off && (truth.link(link).a.node == away || truth.link(link).b.node == away);
    });
    ASSERT_NE(other, links.end());
    std::string refused;
    world.daemon->order([&](regulate::Regulator& regulator) {
      regulator.set_override(link_ref(truth, ends), {regulation::Wish::Off, "a test", "alice", std::nullopt},
                             regulation::Force::No, world.now, [&](const Result<std::string>& answer) {
                               refused = answer ? "" : answer.error().message;
                             });
    });
    ASSERT_TRUE(comes_to(1)) << refused << events();
    world.watch.cut(*other, world.ps());
    settle(10s);
    world.kill();
    world.start();
    settle(10s);
    world.daemon->order([&](regulate::Regulator& regulator) {
      regulator.restore("alice", regulate::Regulator::Adopt::No, world.now,
                        [](const Result<std::string>&) {});
    });
    settle(10s);
    world.watch.mend(*other, world.ps());
    settle(40s);
    SCOPED_TRACE(fmt::format("cable {}\n{}", i, events()));
    EXPECT_THAT(world.links_off(), ::testing::IsEmpty());
    EXPECT_EQ(world.daemon->on_disk().off.size(), 0U);
    EXPECT_THAT(world.daemon->regulator().governor().links_in(LinkState::Off), ::testing::IsEmpty());
    EXPECT_EQ(lost_links(), "");
    expect_well();
  }
}

// Its ports come up with the power, and nobody has seen that it was gone.
TEST_F(Returns, WhatAnOperatorWantsOffGoesOffAgainAfterItsSwitchHadNoPowerForAMoment) {
  WorldOptions how = options();
  how.governor.mode = regulation::Mode::Advise;
  RegulatedWorld& world = begin(ring, how);
  const Fabric& truth = world.fabric.description();
  const auto links = trunk_links();
  const auto apart = std::ranges::find_if(links, [&](LinkIndex link) {
    const Link& ends = truth.link(link);
    return ends.a.node != own_switch() && ends.b.node != own_switch();
  });
  ASSERT_NE(apart, links.end());
  world.daemon->order([&](regulate::Regulator& regulator) {
    regulator.set_override(link_ref(truth, truth.link(*apart)),
                           {regulation::Wish::Off, "a test", "alice", std::nullopt}, regulation::Force::No,
                           world.now, [](const Result<std::string>&) {});
  });
  ASSERT_TRUE(comes_to(1)) << events();
  const NodeIndex with_it = truth.link(*apart).a.node;
  world.watch.kill(with_it, world.ps());
  world.watch.revive(with_it, world.ps());
  settle();
  ASSERT_THAT(world.links_off(), ::testing::IsEmpty());
  EXPECT_TRUE(comes_to(1)) << events();
  EXPECT_EQ(world.links_off(), std::vector<LinkIndex>{*apart});
  settle();
  expect_well();
}

// As ibportstate does: nobody but the fabric says that the link is on.
TEST_F(Returns, ALinkThatIsOffAndThatSomebodyElseTurnsOn) {
  RegulatedWorld& world = begin(ring, options());
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  const auto [link, off] = *world.daemon->on_disk().off.begin();
  const Fabric& truth = world.fabric.description();
  const PortIndex port = truth.find_port(off.port);
  mad::PortInfo set = mad::unchanged(world.fabric.port_info(port), 0);
  set.physical = PhysState::Polling;
  const Port& at = truth.port(port);
  ASSERT_TRUE(set_at(world.fabric, at.node, mad::SmAttr::PortInfo, at.num.raw(), set, world.ps()));
  const auto is_known = [&, ref = link] { return !world.daemon->on_disk().off.contains(ref); };
  EXPECT_TRUE(world.run(is_known, 2min)) << events();
  expect_well();
}

TEST_F(Returns, AJournalWhoseFileWasDeletedTurnsNothingOff) {
  RegulatedWorld& world = begin(ring, options());
  std::filesystem::remove(world.path);
  EXPECT_THAT(world.daemon->regulator().problems(),
              ::testing::ElementsAre(::testing::AllOf(
                  says("the file was deleted"), ::testing::Field(&Problem::kind, ProblemKind::Journal))));
  traffic(0.05);
  world.run_for(60s);
  EXPECT_EQ(world.links_off().size(), 0U) << events();
  expect_well();
}

// Who starts beside a host that is silent does not see that its LID is taken.
TEST_F(Returns, NobodyGetsTheLidOfAHostThatIsSilentAfterARestart) {
  world_ = std::make_unique<RegulatedWorld>(ring, options(), journal_file());
  RegulatedWorld& world = *world_;
  const Fabric& truth = world.fabric.description();
  hosts_ = sim::host_ports(truth);
  const PortIndex silent = hosts_[1];
  const PortIndex late = hosts_.back();
  const NodeIndex mute = truth.port(silent).node;
  const auto lid = [&](PortIndex port) { return world.fabric.port_info(port).lid; };
  world.watch.cut(truth.port(late).link, world.ps());
  world.bring_up();
  const Lid taken = lid(silent);
  world.kill();
  world.watch.fault();
  world.fabric.set_agent_faults(mute, {.mute_sma = true});
  world.watch.mend(truth.port(late).link, world.ps());
  world.start();
  settle();
  EXPECT_NE(lid(late), no_lid);
  EXPECT_NE(lid(late), taken);
  world.fabric.set_agent_faults(mute, {});
  world.daemon->sweep();
  settle();
  EXPECT_EQ(lid(silent), taken) << "and nobody moves him";
  expect_well();
}

}  // namespace
}  // namespace heddle::test
