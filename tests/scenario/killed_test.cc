// The daemon killed before and after each MAD and each write of a change, and started again: it ends in a
// state that the rules allow, and no link stays off that nobody asked for.

#include "story.h"

namespace heddle::test {
namespace {

class Killing : public AnyStory {
 protected:
  /// Everything that is off is off because the journal says so, and the other way round.
  void expect_accounted_for() {
    const Fabric& truth = world_->fabric.description();
    std::set<LinkRef> off;
    for (const LinkIndex link : world_->links_off()) off.insert(link_ref(truth, truth.link(link)));
    std::set<LinkRef> known;
    for (const auto& [link, record] : world_->daemon->on_disk().off) known.insert(link);
    EXPECT_EQ(off, known);
    EXPECT_TRUE(world_->daemon->on_disk().open.empty()) << events();
  }

  /// A change that is cut short at this moment, and what a second daemon makes of it. False when there was no
  /// such moment.
  bool killed_at(std::uint64_t moment, double load_after, FabricClock::duration disk = {}) {
    WorldOptions options = usual();
    options.disk = disk;
    RegulatedWorld& world = begin(ring, options);
    const std::uint64_t first = world.fate.moments;
    world.watch.say(fmt::format("killed at moment {}", moment));
    world.fate.on_moment = [&](Fate::Moment, std::uint64_t number) {
      return number == first + moment ? Fate::Life::Ends : Fate::Life::GoesOn;
    };
    traffic(0.05);
    if (world.daemon) (void)comes_to(4, 60s);
    if (world.daemon) {
      traffic(1.0, 2);
      world.run([&] { return figures().delivered >= figures().wanted * 0.99; }, 30s);
    }
    if (world.daemon) return false;
    SCOPED_TRACE(fmt::format("killed at moment {}", moment));
    // Nobody is there for a while; what travels goes on.
    world.run_for(3s);
    traffic(load_after, 2);
    world.start();
    EXPECT_TRUE(world.run([&] { return world.daemon->quiet(); }, 60s));
    world.run_for(30s);
    const auto at_rest = [&] { return world.daemon->quiet() && world.daemon->on_disk().open.empty(); };
    EXPECT_TRUE(world.run(at_rest, 60s)) << events();
    world.watch.settled();
    expect_well();
    expect_accounted_for();
    return true;
  }
};

// Under load what the dead daemon had turned off and is needed has to come back.
TEST_P(Killing, AtEveryMomentOfAChangeThenLoad) {
  std::uint64_t moment = first_case(3);
  while (killed_at(moment, 1.0)) {
    EXPECT_GE(figures().delivered, figures().wanted * 0.99) << "moment " << moment << "\n" << events();
    if (HasFailure()) return;
    moment += step();
  }
  EXPECT_GT(moment, 100U);
  RecordProperty("moments", static_cast<int>(moment));
}

// What the disk had not taken yet is gone with the daemon.
TEST_P(Killing, AtEveryMomentOfAChangeOnASlowDisk) {
  std::uint64_t moment = first_case(4);
  while (killed_at(moment, 1.0, 1500ms)) {
    EXPECT_GE(figures().delivered, figures().wanted * 0.99) << "moment " << moment << "\n" << events();
    if (HasFailure()) return;
    moment += step();
  }
  EXPECT_GT(moment, 100U);
}

// The disk has no room for the Intent, and then has: whoever starts after a crash at any later moment knows
// all that may be off.
TEST_P(Killing, AtEveryMomentAfterAnIntentThatTheDiskRefused) {
  const std::uint64_t every = 11 * step();  // the moments around the ports are what counts, and are many
  for (std::uint64_t moment = first_case(5);; moment += every) {
    RegulatedWorld& world = begin();
    std::optional<std::uint64_t> refused;
    world.fate.refuses = [&](const regulation::Record& record) {
      if (refused || !std::holds_alternative<regulation::Intent>(record)) return false;
      refused = world.fate.moments;
      return true;
    };
    world.fate.on_moment = [&](Fate::Moment, std::uint64_t number) {
      return refused && number == *refused + moment ? Fate::Life::Ends : Fate::Life::GoesOn;
    };
    traffic(0.05);
    (void)comes_to(4, 60s);
    if (world.daemon) break;
    world.fate.refuses = nullptr;
    const Fabric& truth = world.fabric.description();
    std::set<LinkRef> off;
    for (const LinkIndex link : world.links_off()) off.insert(link_ref(truth, truth.link(link)));
    {
      const auto journal = journal::open_journal(world.path, {{}, Instant{}}).value();
      std::set<LinkRef> known;
      for (const auto& [link, record] : journal->memory().off) known.insert(link);
      for (const auto& [id, intent] : journal->memory().open) {
        for (const auto& record : intent.off) known.insert(record.link);
      }
      for (const LinkRef& link : off) {
        EXPECT_TRUE(known.contains(link))
            << to_string(link.a) << " is off, and nobody knows it: moment " << moment;
      }
    }
    world.start();
    world.run_for(60s);
    SCOPED_TRACE(fmt::format("killed {} moments after the refusal", moment));
    expect_accounted_for();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(WrittenBy, Killing, anybody, name_of);

}  // namespace
}  // namespace heddle::test
