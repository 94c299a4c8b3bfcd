#include "whole_check.h"

#include <fmt/format.h>

#include "routing/link_set.h"
#include "routing/proof.h"

namespace heddle::test {

WholeCheck::Verdict WholeCheck::look(Rests rests, Picoseconds at) {
  const Tables now = watched_.tables();
  Verdict verdict;
  count_circles(now, rests, verdict);
  for (const auto& part : {routes(now), watched_.out_of_reach(), writes(now, at), under_way(now, at)})
    verdict.others.insert(verdict.others.end(), part.begin(), part.end());
  last_ = now;
  return verdict;
}

void WholeCheck::begin() {
  last_ = watched_.tables();
  rest();
  for (const routing::Target& target : watched_.graph().targets()) {
    for (std::uint32_t s = 0; s < watched_.graph().size(); ++s) {
      const routing::SwitchIndex from{s};
      if (target.kind == routing::TargetKind::Host && watched_.graph().hosts_at(from) > 0) continue;
      if (follow(last_, from, target, target.base).ends_with(" has no way")) left_.emplace(from, target.port);
    }
  }
}

bool WholeCheck::may_have_none(routing::SwitchIndex from, const routing::Target& target) const {
  const Port& own = watched_.fabric().port(watched_.daemon());
  const auto seat = watched_.fabric().peer({own.node, own.num});
  const bool aggregates =
      target.kind == routing::TargetKind::Other && seat->node != watched_.graph().node(from);
  return aggregates || left_.contains({from, target.port});
}

void WholeCheck::count_circles(const Tables& now, Rests rests, Verdict& verdict) const {
  const Fabric& fabric = watched_.fabric();
  auto up = routing::LinkSet::none(fabric);
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    if (watched_.sim().forwards(fabric.port_index(fabric.link(LinkIndex{i}).a))) up.insert(LinkIndex{i});
  }
  const std::vector<const Tables*> one{&now};
  const std::vector<const Tables*> both{&at_rest_, &now};
  for (const auto& together : {one, both}) {
    if (together.size() == 2 && rests == Rests::No) continue;
    routing::ProofOptions options;
    options.active = together.size() == 1 ? &up : nullptr;
    options.most_findings = 1;
    for (const auto& finding : routing::prove(watched_.graph(), together, options).findings) {
      verdict.loops += finding.fault == routing::Fault::Loop ? 1 : 0;
      verdict.deadlocks += finding.fault == routing::Fault::Deadlock ? 1 : 0;
    }
  }
}

std::string WholeCheck::follow(const Tables& now, routing::SwitchIndex from, const routing::Target& target,
                               Lid lid) const {
  const routing::SwitchGraph& graph = watched_.graph();
  const bool excused = watched_.faults.is_open();
  routing::SwitchIndex at = from;
  for (std::size_t hops = 0; hops <= graph.size(); ++hops) {
    const NodeIndex node = graph.node(at);
    if (watched_.faults.is_dead(node)) return "";
    const PortNum out = now.port(at, lid);
    if (at == target.at && out == target.out) {
      return target.kind == routing::TargetKind::Switch ? "" : watched_.port_fault(node, out);
    }
    if (out == no_path || out == PortNum{0})
      return excused ? "" : fmt::format("{} has no way", watched_.name(node));
    if (auto wrong = watched_.port_fault(node, out); !wrong.empty()) return wrong;
    const auto peer = watched_.fabric().peer({node, out});
    if (!peer) return fmt::format("{} port {} has no cable", watched_.name(node), out.raw());
    if (watched_.faults.has(watched_.fabric().port(LinkEnd{node, out}).link))
      return excused ? "" : "into a link that failed";
    if (!watched_.is_switch(peer->node)) return fmt::format("{} sends it to a host", watched_.name(node));
    at = graph.find(peer->node);
  }
  return "it runs in circles";
}

std::vector<std::string> WholeCheck::routes(const Tables& now) const {
  std::vector<std::string> texts;
  const routing::SwitchGraph& graph = watched_.graph();
  const NodeSet& joined = watched_.joined();
  const Port& own = watched_.fabric().port(watched_.daemon());
  const auto seat = watched_.fabric().peer({own.node, own.num});
  for (const routing::Target& target : graph.targets()) {
    const NodeIndex owner = watched_.fabric().port(target.port).node;
    if (!joined.contains(owner)) continue;
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      const routing::SwitchIndex from{s};
      const NodeIndex node = graph.node(from);
      const bool between_hosts = target.kind != routing::TargetKind::Switch && graph.hosts_at(from) > 0;
      if (!joined.contains(node)) continue;
      if (target.port != watched_.daemon() && seat->node != node && !between_hosts) continue;
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
        const auto wrong = follow(now, from, target, lid);
        if (wrong.ends_with(" has no way") && may_have_none(from, target)) continue;
        if (!wrong.empty())
          texts.push_back(fmt::format("from {} to LID {} of {}: {}", watched_.name(node), lid.raw(),
                                      watched_.name(owner), wrong));
      }
    }
  }
  return texts;
}

bool WholeCheck::leads_on(NodeIndex node, PortNum port) const {
  return port != no_path && port != PortNum{0} && watched_.fabric().peer({node, port}).has_value();
}

const routing::Target* WholeCheck::target_of(Lid lid) const {
  for (const routing::Target& target : watched_.graph().targets()) {
    if (lid.raw() >= target.base.raw() && lid.raw() < target.base.raw() + target.lid_count()) return &target;
  }
  return nullptr;
}

std::vector<std::string> WholeCheck::writes(const Tables& now, Picoseconds at) {
  std::vector<std::string> texts;
  for (const routing::BlockRef& where : routing::differing_blocks(last_, now)) {
    const NodeIndex node = watched_.graph().node(where.sw);
    if (watched_.faults.is_dead(node)) continue;
    for (std::size_t i = 0; i < routing::lids_per_block; ++i) {
      const Lid lid{static_cast<std::uint16_t>(where.block * routing::lids_per_block + i)};
      const PortNum before = last_.port(where.sw, lid);
      const PortNum after = now.port(where.sw, lid);
      if (before == after) continue;
      if (leads_on(node, before)) replaced_.push_back({at, where.sw, lid, before});
      if (!leads_on(node, after)) continue;
      const PortIndex port = watched_.fabric().port_index(node, after);
      if (watched_.sim().forwards(port) || watched_.faults.has(watched_.fabric().port(port).link)) continue;
      texts.push_back(fmt::format("{} is told to send LID {} to port {}, which is not Active",
                                  watched_.name(node), lid.raw(), after.raw()));
    }
  }
  return texts;
}

std::vector<std::string> WholeCheck::under_way(const Tables& now, Picoseconds at) {
  std::vector<std::string> texts;
  while (!replaced_.empty() && at - replaced_.front().at >= life_) replaced_.pop_front();
  for (const Replaced& entry : replaced_) {
    const routing::Target* const target = target_of(entry.lid);
    if (target == nullptr) continue;
    const NodeIndex node = watched_.graph().node(entry.sw);
    const auto peer = watched_.fabric().peer({node, entry.port});
    if (watched_.faults.has(watched_.fabric().port(LinkEnd{node, entry.port}).link)) continue;
    if (!watched_.is_switch(peer->node)) continue;
    const auto wrong = follow(now, watched_.graph().find(peer->node), *target, entry.lid);
    if (wrong.empty()) continue;
    texts.push_back(fmt::format("a packet to LID {} that left {} {:.6f} s ago: {}", entry.lid.raw(),
                                watched_.name(node), static_cast<double>((at - entry.at).count()) * 1e-12,
                                wrong));
  }
  return texts;
}

}  // namespace heddle::test
