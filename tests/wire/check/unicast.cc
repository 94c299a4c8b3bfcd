#include "check/unicast.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace wire {
namespace {

constexpr int no_entry = 0xff;

Channel channel(const Topology& topology, End from) {
  const int cable = topology.cable_at(from);
  return 2 * cable + (topology.cable(cable).a == from ? 0 : 1);
}

}  // namespace

const std::array<std::pair<unsigned, Wrong>, 6> Unicast::kinds{{{NoEntry, Wrong::DeadEnd},
                                                                {Held, Wrong::Off},
                                                                {Training, Wrong::NotActive},
                                                                {Fallen, Wrong::KnownCut},
                                                                {Circle, Wrong::Loop},
                                                                {Elsewhere, Wrong::Misdelivery}}};

Unicast::Unicast(const World& world, const Rules& rules, Report& report)
    : world_{world},
      topology_{world.topology()},
      rules_{rules},
      report_{report},
      dependencies_{topology_.cables().size()},
      is_source_(topology_.switches().size()),
      has_hosts_(topology_.switches().size()),
      has_manager_(topology_.switches().size()),
      pairs_(World::lid_limit),
      owners_(World::lid_limit),
      is_reached_(World::lid_limit),
      walk_(topology_.switches().size()) {}

bool Unicast::update_sources() {
  const auto sources = is_source_;
  const auto managers = has_manager_;
  for (int s = 0; s < topology_.switch_count(); ++s) {
    is_source_[static_cast<std::size_t>(s)] = world_.has_ends(s, World::Ends::Any) ? 1 : 0;
    has_hosts_[static_cast<std::size_t>(s)] = world_.has_ends(s, World::Ends::Hosts) ? 1 : 0;
  }
  for (const End manager : world_.managers()) {
    const int node = topology_.is_switch(manager.node) ? manager.node : topology_.peer(manager).node;
    if (node >= 0) has_manager_[static_cast<std::size_t>(topology_.node(node).switch_number)] = 1;
  }
  return sources != is_source_ || managers != has_manager_;
}

bool Unicast::is_managers(int lid) const {
  return lid == world_.base_lid(lid) && world_.managers().contains(world_.owner(lid));
}

bool Unicast::is_judged(int lid, int source) const {
  const End owner = world_.owner(lid);
  if (topology_.is_switch(owner.node)) return has_manager_[static_cast<std::size_t>(source)] != 0;
  return is_source_[static_cast<std::size_t>(source)] != 0 || is_managers(lid);
}

bool Unicast::is_promised(int lid, int source) const {
  const End owner = world_.owner(lid);
  if (topology_.is_switch(owner.node) || is_managers(lid)) return true;
  if (topology_.is_aggregation(owner.node)) return has_manager_[static_cast<std::size_t>(source)] != 0;
  return has_hosts_[static_cast<std::size_t>(source)] != 0;
}

void Unicast::excuse(int node) {
  const int number = topology_.node(node).switch_number;
  for (const int lid : world_.lids()) {
    auto& pairs = pairs_[static_cast<std::size_t>(lid)];
    for (int s = 0; s < static_cast<int>(pairs.size()); ++s) {
      Pair& pair = pairs[static_cast<std::size_t>(s)];
      if ((s == number || world_.owner(lid).node == node) && pair.standing == Standing::Established)
        pair.standing = Standing::Broken;
    }
  }
}

void Unicast::check(const Changes& changes, Time now) {
  for (const int node : changes.dead) excuse(node);
  if (changes.hosts && update_sources()) {
    for (const int lid : world_.lids()) check_lid(lid, now);
    return;
  }
  for (const int lid : changes.lids) check_lid(lid, now);
}

unsigned Unicast::step(int switch_number, int lid, const Candidate& candidate, int& next) const {
  next = -1;
  const int node = topology_.switches()[static_cast<std::size_t>(switch_number)];
  const End owner = world_.owner(lid);
  if (candidate.value == 0) return owner.node == node ? 0U : Elsewhere;
  const End out{node, candidate.value};
  const int cable = candidate.value == no_entry ? -1 : topology_.cable_at(out);
  if (cable < 0) return NoEntry;
  const Link& link = world_.link(cable);
  if (!link.is_usable()) {
    if (link.is_unknown()) return Unknown;
    if (link.excuses(candidate.written, rules_.grace)) return Excused;
    // No other link leads to a port than its own: while that trains, an entry over it takes nothing from
    // anybody.
    const bool is_last = topology_.peer(out) == owner;
    if (link.has_fallen() && link.is_cut()) return is_last ? Excused : Fallen;
    if (link.has_fallen()) return Training | (is_last ? 0U : FreshTraining);
    const bool fresh = !is_last && candidate.since > link.held_since();
    if (link.is_training()) return Training | (fresh ? FreshTraining : 0U);
    return Held | (fresh ? FreshHeld : 0U);
  }
  const End in = topology_.peer(out);
  if (!topology_.is_switch(in.node)) return in == owner ? 0U : Elsewhere;
  next = topology_.node(in.node).switch_number;
  return 0;
}

Unicast::State* Unicast::state(int switch_number, Time time) {
  auto& states = walk_[static_cast<std::size_t>(switch_number)];
  const auto found =
      std::find_if(states.begin(), states.end(), [&](const State& each) { return each.time == time; });
  return found == states.end() ? nullptr : &*found;
}

unsigned Unicast::follow(int switch_number, int lid, Time time) {
  if (const State* const known = state(switch_number, time)) return known->done ? known->flags : Circle;
  walk_[static_cast<std::size_t>(switch_number)].push_back({time});
  unsigned flags = 0;
  if (world_.is_unknown(switch_number, lid)) flags |= Unknown;
  if (const auto* const entries = world_.entry(switch_number, lid)) {
    for (const Candidate& each : *entries) {
      if (each.until < time) continue;
      int next = -1;
      flags |= step(switch_number, lid, each, next);
      if (next >= 0) flags |= follow(next, lid, leaves(each, time));
    }
  }
  *state(switch_number, time) = {time, flags, true};
  return flags;
}

void Unicast::check_lid(int lid, Time now) {
  auto& pairs = pairs_[static_cast<std::size_t>(lid)];
  const End owner = world_.owner(lid);
  if (!(owners_[static_cast<std::size_t>(lid)] == owner)) {
    owners_[static_cast<std::size_t>(lid)] = owner;
    pairs.assign(topology_.switches().size(), Pair{});
    is_reached_[static_cast<std::size_t>(lid)] = 0;
  }
  if (owner.node < 0) {
    dependencies_.replace(lid, {});
    return;
  }
  for (auto& states : walk_) states.clear();
  horizon_ = now > world_.lag() ? now - world_.lag() : 0;
  if (is_reached_[static_cast<std::size_t>(lid)] == 0) {
    // While a fabric comes up: every way ends at the switch of its owner, so that there is none before there.
    const int last = topology_.is_switch(owner.node) ? owner.node : topology_.peer(owner).node;
    if (last < 0 || !topology_.is_switch(last) || follow(topology_.node(last).switch_number, lid, 0) != 0)
      return;
    is_reached_[static_cast<std::size_t>(lid)] = 1;
  }
  for (int s = 0; s < topology_.switch_count(); ++s) {
    Pair& pair = pairs[static_cast<std::size_t>(s)];
    if (pair.standing == Standing::Never && !is_judged(lid, s)) continue;
    judge(lid, s, pair, follow(s, lid, 0), now);
  }
  const std::vector<Channel> cycle = dependencies_.replace(lid, edges_of(lid));
  if (!cycle.empty()) tell_cycle(lid, cycle, now);
}

void Unicast::judge(int lid, int source, Pair& pair, unsigned flags, Time now) {
  unsigned wrong = 0;
  const bool is_one_repair = now - pair.back_since < rules_.batch ||
                             (pair.back_since != 0 && pair.back_since >= world_.batch_began());
  const bool is_repaired_just_now = pair.is_repaired && is_one_repair;
  // A test says that it kills before it does: what is answered meanwhile is no way back.
  if (flags == 0 && !world_.is_dead(source)) {
    // Nor is anything promised for what was sent while the LID was nobody's, as that of a switch that is
    // restarted.
    if (pair.standing != Standing::Established) {
      pair.back_since = now;
      pair.is_repaired = pair.standing == Standing::Broken;
    }
    pair.standing = Standing::Established;
  } else if (flags != 0 && pair.standing == Standing::Established) {
    if ((flags & Excused) != 0 || is_repaired_just_now || !is_judged(lid, source))
      pair.standing = Standing::Broken;
    else
      wrong = flags & all_wrong;
  }
  if (flags != 0 && pair.standing == Standing::Broken) {
    wrong = (flags & Fallen) | ((flags & FreshHeld) != 0 ? Held : 0U) |
            ((flags & FreshTraining) != 0 ? Training : 0U);
    if ((flags & Circle) != 0) report_.excused_loop();
  }
  if (world_.is_dead(source)) wrong = 0;
  if (!is_promised(lid, source)) wrong &= ~static_cast<unsigned>(NoEntry);
  for (const auto& [flag, kind] : kinds) {
    if ((wrong & flag & ~pair.wrong) != 0) tell(lid, source, flag, kind);
    if ((pair.wrong & flag & ~wrong) != 0) report_.ended(kind, pair.since);
  }
  if (wrong != 0 && pair.wrong == 0) pair.since = now;
  pair.wrong = wrong;
}

void Unicast::tell(int lid, int source, unsigned flag, Wrong kind) {
  const End owner = world_.owner(lid);
  std::string text = fmt::format("from {} to LID {} (plane {} of {}):",
                                 topology_.node(topology_.switches()[static_cast<std::size_t>(source)]).name,
                                 lid, lid - world_.base_lid(lid), topology_.show(owner));
  std::vector<int> nodes;
  std::set<std::pair<int, Time>> seen;
  Time time = 0;
  for (int at = source; at >= 0;) {
    const int node = topology_.switches()[static_cast<std::size_t>(at)];
    nodes.push_back(node);
    text += " " + topology_.node(node).name;
    if (!seen.emplace(at, time).second) break;
    const auto* const entries = world_.entry(at, lid);
    if (entries == nullptr) break;
    int onward = -1;
    for (const Candidate& each : *entries) {
      if (each.until < time) continue;
      int next = -1;
      const unsigned flags = step(at, lid, each, next);
      const Time then = leaves(each, time);
      const State* const there = next >= 0 ? state(next, then) : nullptr;
      const bool leads_there = there != nullptr && (there->flags & flag) != 0;
      const bool in_circle = flag == Circle && next >= 0 && seen.contains({next, then});
      if ((flags & flag) == 0 && !leads_there && !in_circle) continue;
      const char* const which = each.until != forever ? " (replaced)"
                                : entries->size() > 1 ? " (old or new)"
                                                      : "";
      text += fmt::format("/{}{}", each.value, which);
      onward = next;
      time = then;
      if (next < 0) nodes.push_back(topology_.peer({node, each.value}).node);
      break;
    }
    at = onward;
  }
  report_.found(kind, text, nodes);
}

void Unicast::tell_cycle(int lid, const std::vector<Channel>& cycle, Time now) {
  const auto from_of = [&](Channel each) {
    const Cable& cable = topology_.cable(each / 2);
    return each % 2 == 0 ? cable.a : cable.b;
  };
  std::string text =
      fmt::format("packets may wait for each other in a circle, the last entry for LID {}:", lid);
  std::string why;
  std::vector<int> nodes;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const End from = from_of(cycle[i]);
    const End onward = from_of(cycle[(i + 1) % cycle.size()]);
    const int holder = dependencies_.lid_of(Dependencies::edge(cycle[i], cycle[(i + 1) % cycle.size()]));
    text += " " + topology_.show(from);
    nodes.push_back(from.node);
    why += fmt::format("\n    {} for {}, LID {}", topology_.show(from), topology_.show(onward), holder);
    for (const End end : {from, onward}) {
      const auto* const entries = world_.entry(topology_.node(end.node).switch_number, holder);
      for (const Candidate& each : entries != nullptr ? *entries : std::vector<Candidate>{}) {
        why += fmt::format("; {}/{} since {:.3f} ms", topology_.node(end.node).name, each.value,
                           static_cast<double>(now - each.since) * 1e-6);
        if (each.until != forever)
          why += fmt::format(" until {:.3f} ms", static_cast<double>(now - each.until) * 1e-6);
      }
      why += " ago";
    }
  }
  report_.found(Wrong::Deadlock, text + why, nodes);
}

std::vector<Dependencies::Edge> Unicast::edges_of(int lid) {
  const auto& pairs = pairs_[static_cast<std::size_t>(lid)];
  std::vector<Dependencies::Edge> edges;
  using Place = std::pair<int, Time>;  // a switch, and since when a packet may be there
  std::vector<Place> queue;
  std::set<Place> reached;
  for (int s = 0; s < topology_.switch_count(); ++s) {
    const Pair& pair = pairs[static_cast<std::size_t>(s)];
    if (!is_judged(lid, s) || pair.standing != Standing::Established) continue;
    const Place first{s, pair.back_since <= horizon_ ? 0 : pair.back_since};
    reached.insert(first);
    queue.push_back(first);
  }
  const auto each_hop = [&](Place from, const std::function<void(Channel, Place)>& then) {
    const auto* const entries = world_.entry(from.first, lid);
    if (entries == nullptr) return;
    for (const Candidate& each : *entries) {
      if (each.until < from.second) continue;
      int next = -1;
      step(from.first, lid, each, next);
      const int node = topology_.switches()[static_cast<std::size_t>(from.first)];
      if (next >= 0) then(channel(topology_, {node, each.value}), {next, leaves(each, from.second)});
    }
  };
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Place from = queue[i];
    each_hop(from, [&](Channel, Place next) {
      if (reached.insert(next).second) queue.push_back(next);
    });
  }
  for (const Place& from : queue) {
    each_hop(from, [&](Channel held, Place next) {
      each_hop(next, [&](Channel wanted, Place) { edges.push_back(Dependencies::edge(held, wanted)); });
    });
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

std::vector<std::uint8_t> Unicast::in_sight() const {
  std::vector<std::uint8_t> seen(topology_.nodes().size(), 0);
  std::vector<int> queue;
  const auto see = [&](int node) {
    if (std::exchange(seen[static_cast<std::size_t>(node)], std::uint8_t{1}) == 0) queue.push_back(node);
  };
  for (const End manager : world_.managers()) see(manager.node);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const int node = queue[i];
    for (int p = 1; p <= topology_.node(node).ports; ++p) {
      const int cable = topology_.cable_at({node, p});
      if (cable < 0 || world_.link(cable).is_cut() || world_.link(cable).is_forced()) continue;
      const End peer = topology_.peer({node, p});
      if (!world_.is_disabled(peer)) see(peer.node);
    }
  }
  return seen;
}

std::vector<int> Unicast::islands() const {
  const std::vector<std::uint8_t> seen = in_sight();
  const auto is_lost = [&](End end) {
    return world_.is_disabled(end) && seen[static_cast<std::size_t>(end.node)] == 0;
  };
  std::vector<int> root(topology_.nodes().size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int node) {
    while (root[static_cast<std::size_t>(node)] != node) node = root[static_cast<std::size_t>(node)];
    return node;
  };
  for (int c = 0; c < static_cast<int>(topology_.cables().size()); ++c) {
    if (world_.link(c).is_cut() || world_.link(c).is_forced()) continue;
    if (is_lost(topology_.cable(c).a) || is_lost(topology_.cable(c).b)) continue;
    root[static_cast<std::size_t>(find(topology_.cable(c).a.node))] = find(topology_.cable(c).b.node);
  }
  std::vector<int> result(root.size());
  for (std::size_t n = 0; n < root.size(); ++n) result[n] = find(static_cast<int>(n));
  return result;
}

void Unicast::check_lasting() {
  const std::vector<int> island = islands();
  for (const int lid : world_.lids()) {
    const End owner = world_.owner(lid);
    for (int s = 0; s < topology_.switch_count(); ++s) {
      const auto& pairs = pairs_[static_cast<std::size_t>(lid)];
      if (pairs.empty() || pairs[static_cast<std::size_t>(s)].standing != Standing::Broken) continue;
      const int node = topology_.switches()[static_cast<std::size_t>(s)];
      if (topology_.is_switch(owner.node) || has_hosts_[static_cast<std::size_t>(s)] == 0 ||
          !is_promised(lid, s) ||
          island[static_cast<std::size_t>(node)] != island[static_cast<std::size_t>(owner.node)])
        continue;
      report_.found(Wrong::StaysBroken,
                    fmt::format("{} has no way to LID {} of {}, though cables join them",
                                topology_.node(node).name, lid, topology_.show(owner)),
                    {node, owner.node});
    }
  }
}

void Unicast::finish() {
  std::size_t all = 0;
  std::size_t established = 0;
  for (const int lid : world_.lids()) {
    const auto& pairs = pairs_[static_cast<std::size_t>(lid)];
    for (int s = 0; s < topology_.switch_count(); ++s) {
      if (!is_judged(lid, s)) continue;
      ++all;
      if (pairs.empty()) continue;
      const Pair& pair = pairs[static_cast<std::size_t>(s)];
      if (pair.standing != Standing::Never) ++established;
      for (const auto& [flag, kind] : kinds)
        if ((pair.wrong & flag) != 0) report_.ended(kind, pair.since);
    }
  }
  report_.pairs(all, established);
}

}  // namespace wire
