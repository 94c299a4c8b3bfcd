// Links that take their time to come back, each its own.

#include <algorithm>

#include "story.h"

namespace heddle::test {
namespace {

class WakeTimes : public Story {
 protected:
  [[nodiscard]] const regulation::Governor& governor() const {
    return world_->daemon->regulator().governor();
  }
  [[nodiscard]] const std::map<LinkRef, regulation::Wakes>& wakes() const {
    return governor().memory().wakes;
  }
  [[nodiscard]] LinkRef ref(LinkIndex link) const {
    const Fabric& fabric = world_->fabric.description();
    return link_ref(fabric, fabric.link(link));
  }
  [[nodiscard]] regulation::LinkStatus status(const LinkRef& link) const {
    for (const auto& each : governor().links()) {
      if (each.link == link) return each;
    }
    ADD_FAILURE();
    return {};
  }
  /// Low load for long enough that links go off, and high until what that needs is back.
  void there_and_back() {
    traffic(0.02);
    world_->run_for(15min);
    ASSERT_FALSE(world_->links_off().empty()) << events();
    traffic(0.9);
    world_->run_for(30s);
    ASSERT_TRUE(world_->run(
        [&] {
          return governor().links_in(regulation::LinkState::Opening).empty() && world_->daemon->quiet();
        },
        10min))
        << events();
  }
};

// A link that is up after 3 s is used while another one trains for 100 s, longer than any order is waited for
// at first; that one is left on from then on, by the time from its first order.
TEST_F(WakeTimes, AQuickLinkDoesNotWaitForASlowOne) {
  WorldOptions how = usual();
  how.governor.longest_wake = 60s;
  RegulatedWorld& world = begin("torus:2x2,hosts=1,links=3,width=4x,speed=DDR", how);
  traffic(0.02);
  ASSERT_TRUE(comes_to(8));
  const std::vector<LinkIndex> off = world.links_off();
  for (const LinkIndex link : off) world.fabric.set_training_delay(link, 3s);
  world.fabric.set_training_delay(off.front(), 100s);
  traffic(0.95);
  const Instant ordered = world.now;
  const auto used = [&] {
    return std::ranges::count_if(
        off, [&](LinkIndex link) { return status(ref(link)).state == regulation::LinkState::Active; });
  };
  ASSERT_TRUE(world.run([&] { return used() > 0; }, 20s)) << events();
  ASSERT_TRUE(world.run([&] { return wakes().contains(ref(off.front())); }, 10min)) << events();
  const auto slow = wakes().at(ref(off.front())).front();
  EXPECT_GE(slow, 100s);
  EXPECT_LE(slow, world.now - ordered);
  for (const auto& [link, took] : wakes()) {
    if (link == ref(off.front())) continue;
    EXPECT_GE(took.front(), 3s);
    EXPECT_LE(took.front(), 6s);
  }
  EXPECT_EQ(status(ref(off.front())).exempt, regulation::Exempt::SlowWake);
  traffic(0.02);
  world.run_for(5min);
  EXPECT_FALSE(world.links_off().empty()) << events();
  EXPECT_FALSE(std::ranges::count(world.links_off(), off.front())) << events();
  expect_well();
}

// All training drawn from 2 to 180 s, and what it takes not known at the start: links go and come, what took
// minutes stays on, what is known survives the daemon, and no packet is led into a link that trains.
TEST_F(WakeTimes, AreLearntFromWhateverLinksShow) {
  WorldOptions how = usual();
  how.sim.training_delay = 2s;
  how.sim.longest_training = 180s;
  how.governor.most_transitions = 1000;
  RegulatedWorld& world = begin("torus:3x3,hosts=1,links=2,width=4x,speed=DDR", how);
  for (int i = 0; i < 8; ++i) there_and_back();
  std::size_t known = 0;
  for (const auto& link : governor().links()) {
    known += link.wake.source == regulation::WakeSource::Link ? 1 : 0;
    const bool slow = link.wake.longest > how.governor.longest_wake;
    EXPECT_EQ(link.exempt == regulation::Exempt::SlowWake, slow);
  }
  EXPECT_GT(known, 0U) << events();
  const auto before = wakes();
  world.kill();
  world.start();
  ASSERT_TRUE(world.run([&] { return world.daemon->quiet(); }, 5min));
  EXPECT_EQ(wakes(), before);
  expect_well();
}

// As thousands do that were turned on at once, each of which trains for its own time.
class LinksThatComeOneByOne : public WakeTimes {
 protected:
  static constexpr auto apart = 20ms;

  /// Ends when the first is there.
  void SetUp() override {
    begin("torus:4x4,hosts=1,links=3,width=4x,speed=DDR", usual());
    traffic(0.02);
    ASSERT_TRUE(
        world_->run([&] { return world_->links_off().size() > 30 && world_->daemon->quiet(); }, 5min));
    coming_ = world_->links_off();
    auto trains = 3s + 0ms;
    for (const LinkIndex link : coming_) world_->fabric.set_training_delay(link, trains += apart);
    first_ = world_->daemon->reports.size();
    world_->daemon->order([&](regulate::Regulator& regulator) {
      regulator.restore("alice", regulate::Regulator::Adopt::No, world_->now,
                        [](const Result<std::string>&) {});
    });
    ASSERT_TRUE(world_->run([&] { return !runs().empty(); }, 20s));
  }
  [[nodiscard]] bool is_up(LinkIndex link) const {
    return status(ref(link)).state == regulation::LinkState::Active;
  }
  [[nodiscard]] std::span<const provision::ProvisionReport> runs() const {
    return std::span{world_->daemon->reports}.subspan(first_);
  }

  std::vector<LinkIndex> coming_;
  std::size_t first_ = 0;  ///< of the runs
};

// Of selene-compute 6,000 links come up within three minutes: 3,824 runs, each of which takes tables of all
// switches through its hands, and would have a processor for itself.
TEST_F(LinksThatComeOneByOne, AreTakenInTogether) {
  ASSERT_TRUE(
      world_->run([&] { return std::ranges::all_of(coming_, [&](auto link) { return is_up(link); }); }, 20s));
  world_->run_for(1s);
  EXPECT_LE(runs().size(), 3 * coming_.size() * apart / 250ms);  // 96 before
  expect_well();
}

// But for the rest that is under way.
TEST_F(LinksThatComeOneByOne, DoNotHoldUpACableThatFails) {
  const std::vector<LinkIndex> trunks = trunk_links();
  const auto cable = std::ranges::find_if(
      trunks, [&](LinkIndex link) { return std::ranges::find(coming_, link) == coming_.end(); });
  const Instant cut = world_->now;
  world_->watch.cut(*cable, world_->ps());
  ASSERT_TRUE(world_->run([&] { return status(ref(*cable)).state == regulation::LinkState::Lost; }, 1s))
      << events();
  EXPECT_LE(world_->now - cut, 300ms);
  EXPECT_FALSE(is_up(coming_.back()));
  EXPECT_EQ(figures().unroutable, 0U);
  EXPECT_EQ(figures().into_off_link, 0U);
}

}  // namespace
}  // namespace heddle::test
