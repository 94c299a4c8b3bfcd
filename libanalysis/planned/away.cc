#include "planned/away.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "planned/taken_lids.h"

namespace heddle::planned {
namespace {

using Links = std::vector<LinkRef>;  ///< sorted

Links both(Links x, const Links& y) {
  x.insert(x.end(), y.begin(), y.end());
  std::ranges::sort(x);
  return x;
}

/// That no plane may be routed over.
Links unused_by(const plan::Plan& plan) {
  const Links off = both(plan.off, plan.forced);
  if (plan.planes.empty()) return off;
  Links unused = both(off, plan.planes.front().avoid);
  for (const plan::Plane& plane : std::span(plan.planes).subspan(1)) {
    Links common;
    std::ranges::set_intersection(unused, both(off, plane.avoid), std::back_inserter(common));
    unused = std::move(common);
  }
  return unused;
}

class Recall {
 public:
  Recall(const SubnetRecords& known, SubnetRecords& records, Links& absent, Links unused)
      : known_{known}, records_{records}, absent_{absent}, unused_{std::move(unused)}, taken_{records.lids} {
    for (const Node& node : records.nodes) here_.insert(node.guid);
    for (const PortLids& lids : records.lids) have_lids_.insert(lids.port);
    for (const Node& node : known.nodes) known_nodes_.emplace(node.guid, &node);
    for (const PortLids& lids : known.lids) known_lids_.emplace(lids.port, &lids);
  }

  /// The cables of hosts that were added.
  Links run() {
    find_switches();
    for (const Node& node : known_.nodes) {
      if (!away_.contains(node.guid)) continue;
      records_.nodes.push_back(node);
      records_.away.push_back(node.guid);
      (void)give_lids({node.guid, PortNum{0}});
    }
    std::ranges::sort(records_.away);
    return add_hosts();
  }

 private:
  [[nodiscard]] bool is_switch(NodeGuid guid) const {
    const auto found = known_nodes_.find(guid);
    return found != known_nodes_.end() && found->second->type == NodeType::Switch;
  }
  [[nodiscard]] bool is_here(NodeGuid guid) const { return here_.contains(guid); }
  [[nodiscard]] bool is_gone(NodeGuid guid) const { return is_switch(guid) && !is_here(guid); }
  [[nodiscard]] bool is_unused(const LinkRef& link) const {
    return std::ranges::binary_search(unused_, link);
  }

  /// Those that only such cables join to what is here, and those behind them.
  void find_switches() {
    std::unordered_set<NodeGuid> lost;
    Links between;
    for (const LinkRef& link : absent_) {
      const bool a_is_gone = is_gone(link.a.node);
      const bool b_is_gone = is_gone(link.b.node);
      if (a_is_gone && b_is_gone) between.push_back(link);
      const NodeGuid gone = a_is_gone ? link.a.node : link.b.node;
      const NodeGuid other = a_is_gone ? link.b.node : link.a.node;
      if (a_is_gone != b_is_gone && is_here(other)) (is_unused(link) ? away_ : lost).insert(gone);
    }
    for (const NodeGuid guid : lost) away_.erase(guid);
    for (bool more = !away_.empty(); std::exchange(more, false);) {
      for (const LinkRef& link : between) {
        const bool knows_a = away_.contains(link.a.node);
        const NodeGuid next = knows_a ? link.b.node : link.a.node;
        if (knows_a == away_.contains(link.b.node) || lost.contains(next)) continue;
        more = away_.insert(next).second;
      }
    }
  }

  Links add_hosts() {
    std::unordered_set<PortRef> cabled;
    for (const Cable& cable : records_.cables) {
      cabled.insert(cable.link.a);
      cabled.insert(cable.link.b);
    }
    Links added;
    for (const Cable& cable : known_.cables) {
      if (cable.joins_switches || cabled.contains(cable.link.a) || cabled.contains(cable.link.b)) continue;
      if (add_host(cable.link)) added.push_back(cable.link);
    }
    absent_.insert(absent_.end(), added.begin(), added.end());
    return added;
  }

  bool add_host(const LinkRef& link) {
    const PortRef& at = is_switch(link.a.node) ? link.a : link.b;
    const PortRef& port = is_switch(link.a.node) ? link.b : link.a;
    const auto node = known_nodes_.find(port.node);
    if (!is_switch(at.node) || node == known_nodes_.end()) return false;
    const bool is_off = is_here(at.node) && is_unused(link);
    if (!is_off && !away_.contains(at.node)) return false;
    if (!have_lids_.contains(port) && !give_lids(port)) return false;
    if (here_.insert(port.node).second) records_.nodes.push_back(*node->second);
    return true;
  }

  bool give_lids(const PortRef& port) {
    const auto lids = known_lids_.find(port);
    if (lids == known_lids_.end() || !taken_.are_free(*lids->second)) return false;
    taken_.take(*lids->second);
    records_.lids.push_back(*lids->second);
    return true;
  }

  const SubnetRecords& known_;
  SubnetRecords& records_;
  Links& absent_;
  Links unused_;
  TakenLids taken_;
  std::unordered_set<NodeGuid> here_;  ///< nodes of the records
  std::unordered_set<PortRef> have_lids_;
  std::unordered_map<NodeGuid, const Node*> known_nodes_;
  std::unordered_map<PortRef, const PortLids*> known_lids_;
  std::unordered_set<NodeGuid> away_;  ///< switches
};

}  // namespace

void AwayMemory::recall(SubnetRecords& records, std::vector<LinkRef>& absent, const plan::Plan* plan) {
  Links unused = plan != nullptr ? unused_by(*plan) : Links{};
  Links added;
  if (!unused.empty()) added = Recall(known_, records, absent, std::move(unused)).run();
  known_ = records;
  for (const LinkRef& link : added) known_.cables.push_back({link, false, false});
}

}  // namespace heddle::planned
