// What befalls the fabric of wider storms: parts that come late, or go for moments only; what somebody else
// writes; an OpenSM with a plugin of bad manners.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/foreign_set.h"
#include "swarm/storm.h"

namespace heddle::swarm {

using namespace std::chrono_literals;

/// Some cables, and perhaps a switch, are not there when the daemon starts for the first time.
void Storm::leave_out() {
  for (std::size_t count = dice_.below(most_cut + 1); count > 0 && !cables_.empty(); --count) {
    const LinkIndex link = dice_.one_of(cables_);
    if (std::find(cut_.begin(), cut_.end(), link) != cut_.end()) continue;
    cut_.push_back(link);
    world_.watch.cut(link, world_.ps());
    say("cut", truth().link(link).a);
  }
  if (switches_.empty() || dice_.chance(0.5)) return;
  dead_.push_back(dice_.one_of(switches_));
  world_.watch.kill(dead_.back(), world_.ps());
  say("kill", {dead_.back(), PortNum{0}});
}

void Storm::say(const char* what, LinkEnd where) {
  commands_.say(what, name(where.node), where.port, world_.ps());
}

Storm::Act Storm::arrive() {
  const std::size_t which = dice_.below(most_cut + most_dead);
  return [which](Storm& storm) {
    if (which < storm.cut_.size()) return storm.mend(storm.cut_[which]);
    if (!storm.dead_.empty()) storm.revive(storm.dead_.front());
  };
}

/// Gone, and back before a sweep has asked, or while it asks.
Storm::Act Storm::bounce() {
  const std::vector<FabricClock::duration> moments{10us, 200us, 3ms, 30ms, 150ms};
  const FabricClock::duration moment = dice_.one_of(moments);
  if (!switches_.empty() && dice_.chance(0.3)) {
    return [moment, node = dice_.one_of(switches_)](Storm& storm) {
      storm.kill(node);
      storm.world_.run_for(moment);
      storm.revive(node);
    };
  }
  if (cables_.empty()) return [](Storm&) {};
  return [moment, link = dice_.one_of(cables_)](Storm& storm) {
    storm.cut(link);
    storm.world_.run_for(moment);
    storm.mend(link);
  };
}

/// An entry of a table is another one, and nobody says so.
Storm::Act Storm::tamper() {
  const std::size_t which = dice_.below(switches_.size() + 1);
  const auto lid = dice_.below(64);
  const auto port = static_cast<std::uint8_t>(dice_.chance(0.3) ? no_path.raw() : 1 + dice_.below(8));
  return [which, lid, port](Storm& storm) {
    if (which >= storm.switches_.size()) return;
    const NodeIndex node = storm.switches_[which];
    const auto held = storm.world_.fabric.forwarding_table(node);
    if (!storm.world_.fabric.alive(node) || lid >= held.size() || held[lid] == no_path) return;
    storm.world_.watch.fault();
    (void)test::write_entry(storm.world_.fabric, node, lid, PortNum{port}, storm.world_.ps());
  };
}

/// One that nobody turned off, and that is not up.
bool Storm::some_link_trains() const {
  const auto is = [&](LinkEnd end, PhysState state) {
    return world_.fabric.port_info(truth().port_index(end)).physical == state;
  };
  return std::ranges::any_of(truth().links(), [&](const Link& link) {
    const bool off = is(link.a, PhysState::Disabled) || is(link.b, PhysState::Disabled);
    return !off && !(is(link.a, PhysState::LinkUp) && is(link.b, PhysState::LinkUp));
  });
}

/// It is late, dumb, deaf or says things twice; or OpenSM is gone for a while, or looks at everything anew.
Storm::Act Storm::trouble_opensm() {
  switch (dice_.below(4)) {
    case 0:
      return [](Storm& storm) {
        if (storm.world_.opensm) storm.world_.opensm->ask_for_heavy_sweep();
      };
    case 1: {
      const auto away = std::chrono::milliseconds{dice_.below(3000)};
      return [away](Storm& storm) {
        // Who is out of sight when it starts loses its LID to somebody else, as with the real one: also who
        // is behind a link that trains.
        if (!storm.cut_.empty() || !storm.dead_.empty() || storm.some_link_trains()) return;
        storm.world_.watch.fault();
        storm.world_.stop_opensm();
        storm.world_.run_for(away);
        storm.world_.start_opensm();
      };
    }
    case 2:
      return [](Storm& storm) { storm.world_.options.plugin = {}; };
    default:
      break;
  }
  test::PluginManners manners;
  manners.latency = std::vector<std::chrono::milliseconds>{0ms, 30ms, 700ms, 2s}[dice_.below(4)];
  manners.is_dumb = dice_.chance(0.2);
  manners.is_deaf = dice_.chance(0.2);
  manners.times = 1 + static_cast<unsigned>(dice_.below(3));
  return [manners](Storm& storm) { storm.world_.options.plugin = manners; };
}

}  // namespace heddle::swarm
