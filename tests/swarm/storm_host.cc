// What befalls the host of the daemon: death at any moment, power, disk, stops, the calendar.

#include <fmt/format.h>

#include <utility>

#include "journal/journal.h"
#include "swarm/storm.h"

namespace heddle::swarm {

using namespace std::chrono_literals;

void Storm::pass(FabricClock::duration span) {
  for (const Instant end = world_.now + span; world_.now < end;) {
    world_.run_for(end - world_.now);
    if (!world_.daemon) start_again(100ms);
  }
  if (plan_.wall) judge_records();
}

/// Whatever the calendar says, what was done is past.
void Storm::judge_records() {
  if (said_future_ || !world_.daemon) return;
  for (const regulation::OffRecord& record : world_.daemon->regulator().governor().off_links()) {
    if (record.since <= world_.now) continue;
    said_future_ = true;
    outcome_.wrong.push_back("a link went off in the future, by the records");
    return;
  }
}

void Storm::kill_now() {
  excuse();  // what it knew of faults, it has to find anew
  if (disk_) disk_->end_process();
  world_.fate.on_moment = nullptr;
  world_.kill();
}

void Storm::start_again(FabricClock::duration away) {
  world_.fate.dead = false;
  world_.run_for(away);
  start_daemon();
}

/// As systemd does, until its disk lets it read the journal.
void Storm::wait_for_journal() {
  for (int tries = 0;; ++tries) {
    if (tries == 20) disk_->set_manners({0, plan_.lying});
    const auto journal = journal::open_journal(world_.path, world_.options.calendar);
    if (journal) break;
    if (journal.error().code == ErrorCode::Invalid) {
      if (!forgot_)
        outcome_.wrong.push_back("an honest disk damages the journal: " + journal.error().message);
      // What the message says.
      for (const char* suffix : {"", "-wal", "-journal"}) disk_->remove(world_.path + suffix);
    }
    world_.run_for(100ms);
  }
  // What reads it once more has no say of its own in this.
  disk_->set_manners({0, plan_.lying});
}

/// After so many of its MADs and writes.
Storm::Act Storm::kill_at_any_moment() {
  const std::uint64_t after = dice_.below(dice_.chance(0.5) ? 30 : 3000);
  const bool power = plan_.power && dice_.chance(0.5);
  return [after, power](Storm& storm) {
    const std::uint64_t end = storm.world_.fate.moments + after;
    storm.world_.fate.on_moment = [&storm, end, power](test::Fate::Moment, std::uint64_t number) {
      if (number < end) return test::Fate::Life::GoesOn;
      storm.excuse();
      if (power) storm.forgot_ |= storm.plan_.lying;
      if (storm.disk_ && power) storm.disk_->lose_power();
      if (storm.disk_ && !power) storm.disk_->end_process();
      return test::Fate::Life::Ends;
    };
  };
}

Storm::Act Storm::lose_power() {
  const auto away = std::chrono::milliseconds{dice_.below(2000)};
  return [away](Storm& storm) {
    storm.forgot_ |= storm.plan_.lying;
    storm.disk_->lose_power();
    storm.kill_now();
    storm.start_again(away);
  };
}

Storm::Act Storm::change_manners() {
  const double fails = std::vector<double>{0, 0.002, 0.02, 0.3}[dice_.below(4)];
  return [fails](Storm& storm) { storm.disk_->set_manners({fails, storm.plan_.lying}); };
}

/// Something may happen to a cable meanwhile.
Storm::Act Storm::stop_daemon() {
  const auto half = std::chrono::milliseconds{25 + dice_.below(dice_.chance(0.5) ? 100 : 3000)};
  const auto first = dice_.chance(0.5) ? test::WorldShell::First::Answers : test::WorldShell::First::Timers;
  const Act meanwhile = plan_.cuts && dice_.chance(0.5) ? cut_or_mend() : Act{[](Storm&) {}};
  return [half, first, meanwhile](Storm& storm) {
    storm.excuse();
    storm.world_.daemon->pause();
    storm.world_.run_for(half);
    meanwhile(storm);
    storm.world_.run_for(half);
    if (storm.world_.daemon) storm.world_.daemon->go_on(first);
  };
}

/// A daemon reads it when it starts.
Storm::Act Storm::change_calendar() {
  const std::vector<std::chrono::milliseconds> jumps{1s, 1min, 24h, 24h * 400};
  const auto jump = dice_.one_of(jumps) * (dice_.chance(0.5) ? 1 : -1);
  const bool restarts = dice_.chance(0.7);
  return [jump, restarts](Storm& storm) {
    storm.world_.options.calendar.wall += jump;
    if (!restarts) return;
    storm.kill_now();
    storm.start_again(10ms);
  };
}

}  // namespace heddle::swarm
