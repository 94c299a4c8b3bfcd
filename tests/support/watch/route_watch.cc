#include "support/watch/route_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace heddle::test {
namespace {

bool is_no_way(std::string_view wrong) { return wrong.ends_with(" has no way"); }

}  // namespace

void RouteWatch::reload() {
  const routing::SwitchGraph& graph = watched_.graph();
  joined_ = watched_.joined();
  const Port& own = watched_.fabric().port(watched_.daemon());
  const auto seat = watched_.fabric().peer({own.node, own.num});
  seat_ = seat && watched_.is_switch(seat->node) ? graph.find(seat->node).raw() : fine;
  next_.assign(graph.size() * ports, lost);
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (unsigned p = 0; p < ports; ++p) next(s, p) = judge(s, PortNum{static_cast<std::uint8_t>(p)});
  }
  wrong_.clear();
  touched_.clear();
  for (Column k = 0; k < tables_.lids().size(); ++k) {
    touched_.push_back(k);
    check(k);
  }
}

void RouteWatch::find_left() {
  const routing::SwitchGraph& graph = watched_.graph();
  for (const routing::Target& target : graph.targets()) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      const bool host_here = graph.hosts_at(routing::SwitchIndex{s}) > 0;
      if (target.kind == routing::TargetKind::Host && host_here) continue;
      if (is_no_way(follow(s, tables_.column_of(target.base)))) left_.emplace(s, target.port);
    }
  }
}

/// Nor are aggregation nodes kept in reach of everybody but managers when links go off (docs/regulation.md).
bool RouteWatch::may_have_none(std::uint32_t from, const routing::Target& target) const {
  const auto is_drained = [this](routing::SwitchIndex s) {
    return watched_.faults.is_drained(watched_.graph().node(s));
  };
  if (is_drained(routing::SwitchIndex{from}) || is_drained(target.at)) return true;
  const bool aggregates = target.kind == routing::TargetKind::Other && from != seat_;
  return aggregates || left_.contains({from, target.port});
}

/// What becomes of packets that leave by this port for elsewhere.
std::uint32_t RouteWatch::judge(std::uint32_t s, PortNum port) const {
  const NodeIndex node = watched_.graph().node(routing::SwitchIndex{s});
  if (watched_.faults.is_dead(node)) return fine;
  const bool excused = watched_.faults.is_open();
  if (port == no_path || port == PortNum{0}) return excused ? fine : lost;
  if (port.raw() > watched_.fabric().node(node).port_count) return lost;
  if (!watched_.port_fault(node, port).empty()) return lost;
  const auto peer = watched_.fabric().peer({node, port});
  if (!peer) return lost;
  if (watched_.faults.has(watched_.fabric().port(LinkEnd{node, port}).link)) return excused ? fine : lost;
  return watched_.is_switch(peer->node) ? watched_.graph().find(peer->node).raw() : lost;
}

std::uint32_t RouteWatch::step(std::uint32_t s, Column k) const {
  const std::uint8_t out = tables_.column(k)[s];
  const routing::Target& target = *tables_.lids()[k].target;
  if (s != target.at.raw() || out != target.out.raw()) return next_[s * ports + out];
  const NodeIndex node = watched_.graph().node(target.at);
  const bool there = target.kind == routing::TargetKind::Switch || watched_.faults.is_dead(node) ||
                     watched_.port_fault(node, target.out).empty();
  return there ? fine : lost;
}

bool RouteWatch::arrives(std::uint32_t from, Column k) const {
  std::uint32_t s = from;
  for (std::size_t hops = 0; hops <= watched_.graph().size(); ++hops) {
    const std::uint32_t on = step(s, k);
    if (on == fine || on == lost) return on == fine;
    s = on;
  }
  return false;
}

bool RouteWatch::must_arrive(std::uint32_t from, const routing::Target& target) const {
  const routing::SwitchGraph& graph = watched_.graph();
  if (!joined_.contains(graph.node(routing::SwitchIndex{from}))) return false;
  if (target.port == watched_.daemon() || from == seat_) return true;
  return target.kind != routing::TargetKind::Switch && graph.hosts_at(routing::SwitchIndex{from}) > 0;
}

bool RouteWatch::is_led_to(std::uint32_t s, Column k) const {
  const auto hops = watched_.graph().hops(routing::SwitchIndex{s});
  return std::any_of(hops.begin(), hops.end(),
                     [&](const routing::Hop& hop) { return step(hop.peer.raw(), k) == s; });
}

void RouteWatch::changed(Column k, std::uint32_t s) {
  touched_.push_back(k);
  if (!wrong_.contains(k) && arrives(s, k)) return;
  // Of an entry that nobody comes to, nobody can go astray: most that are taken away are such.
  if (!wrong_.contains(k) && !must_arrive(s, *tables_.lids()[k].target) && !is_led_to(s, k)) return;
  check(k);
}

void RouteWatch::changed(PortIndex port) {
  const Port& own = watched_.fabric().port(port);
  if (!watched_.is_switch(own.node) || own.num == PortNum{0}) return;
  const std::uint32_t s = watched_.graph().find(own.node).raw();
  next(s, own.num.raw()) = judge(s, own.num);
  tables_.for_each_leaving(s, own.num.raw(), [this](Column k) {
    touched_.push_back(k);
    check(k);
  });
}

/// From every switch that matters.
void RouteWatch::check(Column k) {
  wrong_.erase(k);
  enum : std::uint8_t { Unseen, OnPath, Arrives, Lost };
  const routing::SwitchGraph& graph = watched_.graph();
  const routing::Target& target = *tables_.lids()[k].target;
  const NodeIndex owner = watched_.fabric().port(target.port).node;
  if (!joined_.contains(owner)) return;
  met_.assign(graph.size(), Unseen);
  std::vector<std::uint32_t> path;
  for (std::uint32_t from = 0; from < graph.size(); ++from) {
    if (!must_arrive(from, target)) continue;
    path.clear();
    std::uint32_t s = from;
    std::uint8_t end = Unseen;
    while (end == Unseen) {
      if (met_[s] != Unseen) {
        end = met_[s];
        if (end == OnPath) end = Lost;
        break;
      }
      met_[s] = OnPath;
      path.push_back(s);
      const std::uint32_t on = step(s, k);
      if (on == fine || on == lost) {
        end = on == fine ? Arrives : Lost;
      } else {
        s = on;
      }
    }
    for (const std::uint32_t passed : path) met_[passed] = end;
    if (end == Arrives) continue;
    const std::string what = follow(from, k);
    if (is_no_way(what) && may_have_none(from, target)) continue;
    wrong_[k].push_back(fmt::format("from {} to LID {} of {}: {}",
                                    watched_.name(graph.node(routing::SwitchIndex{from})),
                                    tables_.lids()[k].lid.raw(), watched_.name(owner), what));
  }
}

std::string RouteWatch::follow(std::uint32_t from, Column k) const {
  std::uint32_t s = from;
  for (std::size_t hops = 0; hops <= watched_.graph().size(); ++hops) {
    const std::uint32_t on = step(s, k);
    if (on == fine) return "";
    if (on != lost) {
      s = on;
      continue;
    }
    const NodeIndex node = watched_.graph().node(routing::SwitchIndex{s});
    const PortNum out{tables_.column(k)[s]};
    if (out == no_path || out == PortNum{0}) return fmt::format("{} has no way", watched_.name(node));
    if (out.raw() > watched_.fabric().node(node).port_count)
      return fmt::format("{} has no port {}", watched_.name(node), out.raw());
    if (auto wrong = watched_.port_fault(node, out); !wrong.empty()) return wrong;
    const auto peer = watched_.fabric().peer({node, out});
    if (!peer) return fmt::format("{} port {} has no cable", watched_.name(node), out.raw());
    if (watched_.faults.has(watched_.fabric().port(LinkEnd{node, out}).link))
      return "into a link that failed";
    return fmt::format("{} sends it to a host", watched_.name(node));
  }
  return "it runs in circles";
}

}  // namespace heddle::test
