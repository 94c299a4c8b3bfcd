/// Watches a simulated fabric at every instant at which a table, a state or a LID changes, and writes down
/// what must never be (facts/regulation.md 2):
///
/// - a packet that runs in circles, or a cycle of channel dependencies, also together with the tables that
/// stood
///   when the fabric was last at rest: packets under way still follow those;
/// - a route between two hosts, or between the daemon and a switch, that ends, or leads into a link that was
///   turned off. Where a fault has just taken a link or a switch away, routes through it are the fault's
///   until the test says that the fabric must have settled;
/// - a switch that directed routes of the daemon do not reach, though no fault is between;
/// - with judge_writes(): an entry that is written to lead into a link that is not Active; a packet that was
///   sent on by an entry that is gone, no longer ago than packets live, and that does not arrive any more;
/// - a packet of a multicast group that comes to a switch twice, or is sent into a link that was turned off;
///   at rest, also a member of whom it does not come.
///
/// Links that are down because a test cut them or killed a node are told apart from those that a Set took
/// down.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routing/proof.h"
#include "sim/simulated_fabric.h"

namespace heddle::test {

class FabricWatch final : public sim::ChangeListener {
 public:
  /// `next` hears of everything after us: the flow plane. Sits where the daemon does.
  FabricWatch(sim::SimulatedFabric& fabric, PortIndex daemon, sim::ChangeListener* next = nullptr)
      : fabric_{fabric}, daemon_{daemon}, next_{next} {
    fabric_.set_change_listener(this);
  }
  ~FabricWatch() override { fabric_.set_change_listener(next_); }
  FabricWatch(const FabricWatch&) = delete;
  FabricWatch& operator=(const FabricWatch&) = delete;

  /// From here on; before that a fabric is being brought up. Whatever stands is at rest.
  void begin() {
    watching_ = true;
    learn_lids();
    find_left();
    settled();
  }

  /// Also what is written, and packets that live so long, of the LIDs that carry something.
  void judge_writes(Picoseconds life, std::function<bool(const routing::Target&, Lid)> carries) {
    life_ = life;
    carries_ = std::move(carries);
  }

  // Faults are made through here, so that it is known what is their doing.
  void cut(LinkIndex link, Picoseconds at) {
    cut_.insert(link);
    fault_ = true;
    fabric_.cut(link, at);
  }
  void mend(LinkIndex link, Picoseconds at) {
    fabric_.mend(link, at);
    cut_.erase(link);
    returning_.insert(link);
  }
  void kill(NodeIndex node, Picoseconds at) {
    dead_.insert(node);
    fault_ = true;
    fabric_.kill(node, at);
  }
  void revive(NodeIndex node, Picoseconds at) {
    fabric_.revive(node, at);
    dead_.erase(node);
    const Fabric& plain = fabric_.description();
    for (unsigned p = 1; p <= plain.node(node).port_count; ++p) {
      const Port& port = plain.port(LinkEnd{node, PortNum{static_cast<std::uint8_t>(p)}});
      if (port.link != no_link) returning_.insert(port.link);
    }
    fault_ = true;  // its tables are empty
  }

  /// Faults come and go without rest from here on: tables are judged as they are, without those of the last
  /// rest.
  void never_rests() { rests_ = false; }
  [[nodiscard]] bool is_faulty(LinkIndex link) const { return by_fault(link); }
  /// Where packets between these host ports do not arrive, faults or not.
  [[nodiscard]] std::vector<std::string> apart(const std::vector<PortIndex>& hosts) const {
    const routing::ForwardingTables now = tables();
    std::vector<std::string> result;
    const std::set<PortIndex> wanted(hosts.begin(), hosts.end());
    for (const PortIndex host : hosts) {
      const Port& port = with_lids_->port(host);
      const auto seat = with_lids_->peer({port.node, port.num});
      if (!seat || !is_switch(seat->node)) continue;
      for (const routing::Target& target : graph_->targets()) {
        if (target.port == host || !wanted.contains(target.port)) continue;
        for (unsigned i = 0; i < target.lid_count(); ++i) {
          const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
          if (arrives(now, graph_->find(seat->node), target, lid)) continue;
          result.push_back(fmt::format("{} does not reach LID {} of {}", name(port.node), lid.raw(),
                                       name(with_lids_->port(target.port).node)));
        }
      }
    }
    return result;
  }

  /// Something else is wrong, on the way of MADs: who does not answer counts as lost.
  void fault() { fault_ = true; }

  /// Everything must be well, faults or not: each pair that cables still join has its route.
  void settled() {
    fault_ = false;
    check();
    check_multicast(Everybody::GetsIt);
    at_rest_ = tables();
  }

  void changed(const sim::Change& change, Picoseconds at) override {
    if (next_ != nullptr) next_->changed(change, at);
    if (!watching_) return;
    at_ = at;
    ++instants_;
    check();
    check_multicast(Everybody::MayMissIt);
  }

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] std::size_t instants() const { return instants_; }
  /// For a test to say what it did when one of them comes up.
  void say(std::string context) { context_ = std::move(context); }

 private:
  /// A byte for every node: asked for each pair of a switch and a LID at every instant.
  class NodeSet {
   public:
    explicit NodeSet(std::size_t nodes) : in_(nodes, 0) {}
    [[nodiscard]] bool contains(NodeIndex node) const { return in_[node.raw()] != 0; }
    /// Whether it was not there.
    bool insert(NodeIndex node) { return std::exchange(in_[node.raw()], std::uint8_t{1}) == 0; }

   private:
    std::vector<std::uint8_t> in_;
  };

  static constexpr std::size_t most_violations = 5;
  enum class Everybody : std::uint8_t { GetsIt, MayMissIt };

  void violation(const std::string& text) {
    if (violations_.size() >= most_violations) return;
    violations_.push_back(
        fmt::format("{} at {:.6f} s: {}", context_, static_cast<double>(at_.count()) * 1e-12, text));
  }

  [[nodiscard]] bool is_switch(NodeIndex node) const {
    return fabric_.description().node(node).type == NodeType::Switch;
  }
  [[nodiscard]] bool by_fault(LinkIndex link) const {
    const Link& cable = fabric_.description().link(link);
    return cut_.contains(link) || returning_.contains(link) || dead_.contains(cable.a.node) ||
           dead_.contains(cable.b.node);
  }

  /// The description with the LIDs that are programmed.
  void learn_lids() {
    const Fabric& plain = fabric_.description();
    FabricBuilder builder;
    bool same = with_lids_ != nullptr;
    for (const Node& node : plain.nodes()) {
      const NodeIndex index = *builder.add_node(node);
      for (unsigned p = 0; p <= node.port_count; ++p) {
        const PortIndex at{node.first_port.raw() + p};
        Port port = plain.port(at);
        port.lid = fabric_.port_info(at).lid;
        port.lmc = fabric_.port_info(at).lmc;
        if (node.type == NodeType::Switch && p > 0) port.lid = no_lid;
        same = same && (dead_.contains(index) || with_lids_->port(at).lid == port.lid);
        (void)builder.set_port(index, port);
      }
    }
    if (same) return;
    for (const Link& link : plain.links()) (void)builder.add_link(link.a, link.b, link.width, link.speed);
    with_lids_ = builder.build();
    graph_ = std::make_unique<routing::SwitchGraph>(*routing::SwitchGraph::make(*with_lids_));
    at_rest_ = tables();
  }

  [[nodiscard]] routing::ForwardingTables tables() const {
    routing::ForwardingTables result(*graph_);
    for (std::uint32_t s = 0; s < graph_->size(); ++s) {
      const auto row = result.row(routing::SwitchIndex{s});
      const auto table = fabric_.forwarding_table(graph_->node(routing::SwitchIndex{s}));
      for (std::size_t i = 0; i < row.size() && i < table.size(); ++i) row[i] = table[i].raw();
    }
    return result;
  }

  void check() {
    learn_lids();
    std::erase_if(returning_, [this](LinkIndex link) {
      const Link& cable = fabric_.description().link(link);
      const auto physical = [&](LinkEnd end) {
        return fabric_.port_info(fabric_.description().port_index(end)).physical;
      };
      const bool trained = physical(cable.a) == PhysState::LinkUp && physical(cable.b) == PhysState::LinkUp;
      return trained || physical(cable.a) == PhysState::Disabled || physical(cable.b) == PhysState::Disabled;
    });
    const routing::ForwardingTables now = tables();
    auto up = routing::LinkSet::none(*with_lids_);
    for (std::uint32_t i = 0; i < with_lids_->links().size(); ++i) {
      const PortIndex port = with_lids_->port_index(with_lids_->link(LinkIndex{i}).a);
      if (fabric_.forwards(port)) up.insert(LinkIndex{i});
    }
    check_proof(now, up);
    check_routes(now);
    check_reach();
    if (life_ == Picoseconds{0}) return;
    check_writes(now);
    check_under_way(now);
    last_ = now;
  }

  void check_writes(const routing::ForwardingTables& now) {
    if (last_.switch_count() != now.switch_count() || last_.stride() != now.stride()) return;
    for (const routing::BlockRef& at : routing::differing_blocks(last_, now)) {
      const NodeIndex node = graph_->node(at.sw);
      if (dead_.contains(node)) continue;
      for (std::size_t i = 0; i < routing::lids_per_block; ++i) {
        const Lid lid{static_cast<std::uint16_t>(at.block * routing::lids_per_block + i)};
        const PortNum before = last_.port(at.sw, lid);
        const PortNum after = now.port(at.sw, lid);
        if (before == after) continue;
        if (leads_on(node, before)) replaced_.push_back({at_, at.sw, lid, before});
        if (!leads_on(node, after)) continue;
        const PortIndex port = with_lids_->port_index(node, after);
        if (fabric_.forwards(port) || by_fault(with_lids_->port(port).link)) continue;
        violation(fmt::format("{} is told to send LID {} to port {}, which is not Active", name(node),
                              lid.raw(), after.raw()));
      }
    }
  }
  [[nodiscard]] bool leads_on(NodeIndex node, PortNum port) const {
    return port != no_path && port != PortNum{0} && with_lids_->peer({node, port}).has_value();
  }

  /// Who left by an entry that is gone meets the tables of today.
  void check_under_way(const routing::ForwardingTables& now) {
    while (!replaced_.empty() && at_ - replaced_.front().at >= life_) replaced_.pop_front();
    for (const Replaced& entry : replaced_) {
      const routing::Target* const target = target_of(entry.lid);
      if (target == nullptr || !carries_(*target, entry.lid)) continue;
      const NodeIndex node = graph_->node(entry.sw);
      const auto peer = with_lids_->peer({node, entry.port});
      if (by_fault(with_lids_->port(LinkEnd{node, entry.port}).link) || !is_switch(peer->node)) continue;
      if (const auto wrong = follow(now, graph_->find(peer->node), *target, entry.lid); !wrong.empty()) {
        violation(fmt::format("a packet to LID {} that left {} {:.6f} s ago: {}", entry.lid.raw(), name(node),
                              static_cast<double>((at_ - entry.at).count()) * 1e-12, wrong));
      }
    }
  }
  [[nodiscard]] const routing::Target* target_of(Lid lid) const {
    for (const routing::Target& target : graph_->targets()) {
      if (lid.raw() >= target.base.raw() && lid.raw() < target.base.raw() + target.lid_count())
        return &target;
    }
    return nullptr;
  }

  void check_proof(const routing::ForwardingTables& now, const routing::LinkSet& up) {
    const std::vector<const routing::ForwardingTables*> both{&at_rest_, &now};
    const std::vector<const routing::ForwardingTables*> one{&now};
    for (const auto& together : {one, both}) {
      if (together.size() == 2 && !rests_) continue;
      routing::ProofOptions options;
      options.active = together.size() == 1 ? &up : nullptr;
      options.most_findings = 1;
      for (const auto& finding : routing::prove(*graph_, together, options).findings) {
        const bool circles =
            finding.fault == routing::Fault::Loop || finding.fault == routing::Fault::Deadlock;
        if (circles) violation(routing::describe(finding, *with_lids_, *graph_));
      }
    }
  }

  /// Follows the tables from a switch to a LID; empty if it arrives or a fault is to blame.
  [[nodiscard]] std::string follow(const routing::ForwardingTables& now, routing::SwitchIndex from,
                                   const routing::Target& target, Lid lid) const {
    routing::SwitchIndex at = from;
    for (std::size_t hops = 0; hops <= graph_->size(); ++hops) {
      const NodeIndex node = graph_->node(at);
      if (dead_.contains(node)) return "";
      const PortNum out = now.port(at, lid);
      if (at == target.at && out == target.out) {
        if (target.kind == routing::TargetKind::Switch) return "";
        return port_fault(node, out);
      }
      if (out == no_path || out.raw() == 0) {
        return fault_ ? "" : fmt::format("{} has no way", name(node));
      }
      if (auto wrong = port_fault(node, out); !wrong.empty()) return wrong;
      const auto peer = with_lids_->peer({node, out});
      if (!peer) return fmt::format("{} port {} has no cable", name(node), out.raw());
      if (by_fault(with_lids_->port(LinkEnd{node, out}).link)) return fault_ ? "" : "into a link that failed";
      if (!is_switch(peer->node)) return fmt::format("{} sends it to a host", name(node));
      at = graph_->find(peer->node);
    }
    return "it runs in circles";
  }

  [[nodiscard]] bool arrives(const routing::ForwardingTables& now, routing::SwitchIndex from,
                             const routing::Target& target, Lid lid) const {
    routing::SwitchIndex at = from;
    for (std::size_t hops = 0; hops <= graph_->size(); ++hops) {
      const LinkEnd out{graph_->node(at), now.port(at, lid)};
      if (dead_.contains(out.node) || out.port == no_path || out.port == PortNum{0}) return false;
      const LinkIndex link = with_lids_->port(out).link;
      const auto peer = with_lids_->peer(out);
      if (!peer || by_fault(link) || !fabric_.forwards(with_lids_->port_index(out.node, out.port)))
        return false;
      if (at == target.at && out.port == target.out) return true;
      if (!is_switch(peer->node)) return false;
      at = graph_->find(peer->node);
    }
    return false;
  }

  /// What is wrong with leaving by this port, unless a fault is.
  [[nodiscard]] std::string port_fault(NodeIndex node, PortNum port) const {
    const PortIndex index = with_lids_->port_index(node, port);
    if (fabric_.forwards(index) || with_lids_->port(index).link == no_link) return "";
    if (by_fault(with_lids_->port(index).link)) return "";
    // What comes back from a fault is in Init while its tables are written.
    if (fault_ && fabric_.port_info(index).physical == PhysState::LinkUp) return "";
    return fmt::format("{} port {} leads into a link that is off", name(node), port.raw());
  }

  [[nodiscard]] std::string name(NodeIndex node) const { return with_lids_->node(node).description; }

  static bool is_no_way(std::string_view wrong) { return wrong.ends_with(" has no way"); }
  /// Of managers and switches, who has none though every link is on: their order left them, and managers use
  /// directed routes (docs/routing.md, Mends).
  void find_left() {
    const routing::ForwardingTables now = tables();
    for (const routing::Target& target : graph_->targets()) {
      for (std::uint32_t s = 0; s < graph_->size(); ++s) {
        const routing::SwitchIndex from{s};
        const bool host_here = graph_->hosts_at(from) > 0;
        if (target.kind == routing::TargetKind::Host && host_here) continue;
        if (is_no_way(follow(now, from, target, target.base))) left_.emplace(from, target.port);
      }
    }
  }
  /// Nor are aggregation nodes kept in reach of everybody but managers when links go off
  /// (docs/regulation.md).
  [[nodiscard]] bool may_have_none(routing::SwitchIndex from, const routing::Target& target) const {
    const auto seat = with_lids_->peer({with_lids_->port(daemon_).node, with_lids_->port(daemon_).num});
    const bool aggregates = target.kind == routing::TargetKind::Other && seat->node != graph_->node(from);
    return aggregates || left_.contains({from, target.port});
  }

  void check_routes(const routing::ForwardingTables& now) {
    const NodeSet joined = joined_by_cables();
    const auto seat = with_lids_->peer({with_lids_->port(daemon_).node, with_lids_->port(daemon_).num});
    for (const routing::Target& target : graph_->targets()) {
      const NodeIndex owner = with_lids_->port(target.port).node;
      const bool to_daemon = target.port == daemon_;
      const bool to_switch = target.kind == routing::TargetKind::Switch;
      if (!joined.contains(owner)) continue;
      for (std::uint32_t s = 0; s < graph_->size(); ++s) {
        const routing::SwitchIndex from{s};
        const NodeIndex node = graph_->node(from);
        if (!joined.contains(node)) continue;
        const bool from_daemon = seat->node == node;
        const bool matters = to_daemon || from_daemon || (!to_switch && graph_->hosts_at(from) > 0);
        if (!matters) continue;
        for (unsigned i = 0; i < target.lid_count(); ++i) {
          const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
          if (auto wrong = follow(now, from, target, lid); !wrong.empty()) {
            if (is_no_way(wrong) && may_have_none(from, target)) continue;
            violation(fmt::format("from {} to LID {} of {}: {}", name(node), lid.raw(), name(owner), wrong));
          }
        }
      }
    }
  }

  /// Switch ports at which the members of each group hang.
  [[nodiscard]] std::map<Lid, std::vector<LinkEnd>> group_members() const {
    std::map<Lid, std::vector<LinkEnd>> members;
    for (std::uint32_t n = 0; n < with_lids_->nodes().size(); ++n) {
      const NodeIndex node{n};
      if (!is_switch(node) || dead_.contains(node)) continue;
      for (const Lid group : fabric_.multicast_groups(node)) {
        for (unsigned p = 1; p <= with_lids_->node(node).port_count; ++p) {
          const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(p)}};
          const auto peer = with_lids_->peer(end);
          const bool member = peer && !is_switch(peer->node);
          if (member && fabric_.multicasts(node, group, end.port)) members[group].push_back(end);
        }
      }
    }
    return members;
  }

  /// Where a packet comes that this member sends to its group.
  [[nodiscard]] std::set<LinkEnd> multicast(Lid group, LinkEnd from) {
    std::set<LinkEnd> delivered;
    std::set<NodeIndex> met;
    std::deque<LinkEnd> queue{from};  // by the port at which it comes in
    while (!queue.empty()) {
      const LinkEnd at = queue.front();
      queue.pop_front();
      if (dead_.contains(at.node)) continue;
      if (!met.insert(at.node).second) {
        violation(fmt::format("a packet of group {:#x} comes to {} twice", group.raw(), name(at.node)));
        return delivered;
      }
      for (unsigned p = 1; p <= with_lids_->node(at.node).port_count; ++p) {
        const LinkEnd out{at.node, PortNum{static_cast<std::uint8_t>(p)}};
        if (out.port == at.port || !fabric_.multicasts(at.node, group, out.port)) continue;
        const auto peer = with_lids_->peer(out);
        if (!peer || by_fault(with_lids_->port(out).link)) continue;
        if (const auto wrong = port_fault(at.node, out.port); !wrong.empty()) {
          violation(fmt::format("group {:#x}: {}", group.raw(), wrong));
        } else if (is_switch(peer->node)) {
          queue.push_back(*peer);
        } else {
          delivered.insert(out);
        }
      }
    }
    return delivered;
  }

  void check_multicast(Everybody everybody) {
    const NodeSet joined = joined_by_cables();
    for (const auto& [group, members] : group_members()) {
      for (const LinkEnd from : members) {
        if (!joined.contains(from.node)) continue;
        const std::set<LinkEnd> delivered = multicast(group, from);
        if (everybody == Everybody::MayMissIt) continue;
        for (const LinkEnd to : members) {
          if (to == from || delivered.contains(to) || !joined.contains(to.node)) continue;
          violation(fmt::format("group {:#x}: what {} sends does not come to {}", group.raw(),
                                name(with_lids_->peer(from)->node), name(with_lids_->peer(to)->node)));
        }
      }
    }
  }

  /// Nodes to which cables lead from the daemon, links that are off included, faults excluded.
  [[nodiscard]] NodeSet joined_by_cables() const {
    return flood([this](const Port& port) { return !by_fault(port.link); });
  }

  template <class Passes>
  [[nodiscard]] NodeSet flood(Passes passes) const {
    const NodeIndex home = with_lids_->port(daemon_).node;
    NodeSet met(with_lids_->nodes().size());
    met.insert(home);
    std::vector<NodeIndex> queue{home};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NodeIndex at = queue[i];
      if (at != home && !is_switch(at)) continue;
      const Node& node = with_lids_->node(at);
      for (unsigned p = 1; p <= node.port_count; ++p) {
        const LinkEnd end{at, PortNum{static_cast<std::uint8_t>(p)}};
        const auto peer = with_lids_->peer(end);
        if (!peer || dead_.contains(peer->node) || !passes(with_lids_->port(end))) continue;
        if (met.insert(peer->node)) queue.push_back(peer->node);
      }
    }
    return met;
  }

  void check_reach() {
    const NodeSet reached = flood([this](const Port& port) {
      const PortIndex at = with_lids_->port_index(port.node, port.num);
      return fabric_.port_info(at).physical == PhysState::LinkUp;
    });
    const NodeSet joined = joined_by_cables();
    for (std::uint32_t n = 0; n < with_lids_->nodes().size(); ++n) {
      const NodeIndex node{n};
      if (!joined.contains(node)) continue;
      if (reached.contains(node) || fault_ || !is_switch(node)) continue;
      violation(fmt::format("directed routes of the daemon do not reach {}", name(node)));
    }
  }

  struct Replaced {
    Picoseconds at;
    routing::SwitchIndex sw;
    Lid lid;
    PortNum port;
  };

  sim::SimulatedFabric& fabric_;
  PortIndex daemon_;
  sim::ChangeListener* next_;
  bool watching_ = false;
  bool fault_ = false;
  bool rests_ = true;
  Picoseconds at_{0};
  std::size_t instants_ = 0;
  std::string context_;
  std::set<LinkIndex> cut_;
  std::set<LinkIndex> returning_;  ///< of a fault that is over, until they have trained or a Set took them
  std::set<NodeIndex> dead_;
  std::shared_ptr<const Fabric> with_lids_;
  std::unique_ptr<routing::SwitchGraph> graph_;
  routing::ForwardingTables at_rest_;
  std::set<std::pair<routing::SwitchIndex, PortIndex>> left_;
  Picoseconds life_{0};
  std::function<bool(const routing::Target&, Lid)> carries_;
  routing::ForwardingTables last_;
  std::deque<Replaced> replaced_;
  std::vector<std::string> violations_;
};

}  // namespace heddle::test
