#include "planned/subnet.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "fabric/links.h"
#include "planned/taken_lids.h"

namespace heddle::planned {
namespace {

bool any_is_active(const SubnetRecords& records) {
  return std::ranges::any_of(records.cables,
                             [](const Cable& cable) { return cable.joins_switches && cable.active; });
}

class SubnetMaker {
 public:
  explicit SubnetMaker(SubnetRecords records) : records_{std::move(records)} {}

  Subnet make(std::span<const LinkRef> absent) {
    add_nodes();
    add_lids();
    live_ = records_.was_up || any_is_active(records_);
    if (live_) find_dormant();
    for (const Cable& cable : records_.cables) {
      if (!cable.joins_switches || !leads_to_dormant(cable.link)) add_cable(cable.link);
    }
    for (const LinkRef& link : absent) {
      if (!leads_to_dormant(link)) add_absent(link);
    }
    subnet_.fabric = builder_.build();
    subnet_.away = std::move(records_.away);
    subnet_.manager = records_.manager;
    mark_usable();
    return std::move(subnet_);
  }

 private:
  template <class T>
  void remark(const Result<T>& result) {
    if (!result) subnet_.remarks.push_back(result.error().message);
  }

  void add_nodes() {
    std::sort(records_.nodes.begin(), records_.nodes.end(),
              [](const Node& x, const Node& y) { return x.guid < y.guid; });
    for (Node& node : records_.nodes) remark(builder_.add_node(std::move(node)));
  }

  void add_lids() {
    for (const PortLids& lids : records_.lids) {
      const NodeIndex node = builder_.find_node(lids.port.node);
      if (node == no_node || lids.base == no_lid) continue;
      const unsigned count = 1U << std::min<unsigned>(lids.lmc, 7);
      const unsigned base = lids.base.raw();
      if (lids.lmc > 7 || base % count != 0 || base + count - 1 > last_unicast_lid.raw()) {
        subnet_.remarks.push_back(fmt::format("port {}: LID {} with LMC {} cannot be routed to",
                                              to_string(lids.port), base, lids.lmc));
        continue;
      }
      if (!take(base, count)) {
        subnet_.remarks.push_back(
            fmt::format("port {}: LID {} belongs to another port as well", to_string(lids.port), base));
        continue;
      }
      Port port;
      port.num = lids.port.port;
      port.guid = lids.guid;
      port.lid = lids.base;
      port.lmc = lids.lmc;
      remark(builder_.set_port(node, port));
    }
  }

  bool take(unsigned base, unsigned count) {
    taken_.resize(last_unicast_lid.raw() + 1U);
    for (unsigned lid = base; lid < base + count; ++lid) {
      if (taken_[lid]) return false;
    }
    std::fill_n(taken_.begin() + base, count, true);
    return true;
  }

  void find_dormant() {
    std::unordered_set<NodeGuid> awake;
    for (const Cable& cable : records_.cables) {
      if (!cable.joins_switches) continue;
      auto& those = cable.active ? awake : dormant_;
      those.insert({cable.link.a.node, cable.link.b.node});
    }
    if (awake.empty()) return dormant_.clear();
    std::erase_if(dormant_, [&](NodeGuid guid) { return awake.contains(guid); });
  }

  [[nodiscard]] bool leads_to_dormant(const LinkRef& link) const {
    return dormant_.contains(link.a.node) || dormant_.contains(link.b.node);
  }

  void add_cable(const LinkRef& link) {
    const LinkEnd a{builder_.find_node(link.a.node), link.a.port};
    const LinkEnd b{builder_.find_node(link.b.node), link.b.port};
    if (a.node == no_node || b.node == no_node) return;
    remark(builder_.add_link(a, b, LinkWidth::None, LinkSpeed::None));
  }

  [[nodiscard]] bool is_switch(const PortRef& ref) const {
    const NodeIndex node = builder_.find_node(ref.node);
    return node != no_node && builder_.node(node).type == NodeType::Switch;
  }

  [[nodiscard]] bool is_free(const PortRef& ref) const {
    const NodeIndex node = builder_.find_node(ref.node);
    if (node == no_node) return false;
    if (ref.port.raw() == 0 || ref.port.raw() > builder_.node(node).port_count) return false;
    return builder_.port(node, ref.port).link == no_link;
  }

  void add_absent(const LinkRef& link) {
    if (!is_switch(link.a) && !is_switch(link.b)) return;
    if (is_free(link.a) && is_free(link.b) && link.a != link.b) add_cable(link);
  }

  void mark_usable() {
    const Fabric& fabric = *subnet_.fabric;
    subnet_.usable = routing::LinkSet::none(fabric);
    for (const Cable& cable : records_.cables) {
      if (cable.joins_switches && leads_to_dormant(cable.link)) ++subnet_.waiting;
      const PortIndex port = fabric.find_port(cable.link.a);
      if (port == no_port || fabric.port(port).link == no_link) continue;
      // What a host's cable does only the host can tell: there is no other way to it.
      if (!live_ || cable.active || !cable.joins_switches) {
        subnet_.usable.insert(fabric.port(port).link);
      } else {
        ++subnet_.waiting;
      }
    }
  }

  SubnetRecords records_;
  FabricBuilder builder_;
  Subnet subnet_;
  std::vector<bool> taken_;
  bool live_ = false;
  /// Switches that are cabled to others, over no cable that is Active.
  std::unordered_set<NodeGuid> dormant_;
};

}  // namespace

SubnetRecords records_of(const Fabric& fabric) {
  SubnetRecords records;
  records.nodes.assign(fabric.nodes().begin(), fabric.nodes().end());
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    const Port& port = fabric.ports()[i];
    if (port.lid != no_lid) records.lids.push_back({fabric.ref(PortIndex{i}), port.guid, port.lid, port.lmc});
  }
  for (const Link& link : fabric.links()) {
    records.cables.push_back({link_ref(fabric, link), true, joins_switches(fabric, link)});
  }
  return records;
}

Subnet make_subnet(SubnetRecords records, std::span<const LinkRef> absent) {
  return SubnetMaker(std::move(records)).make(absent);
}

std::vector<NodeGuid> switches_in_sight(const Subnet& subnet) {
  std::vector<NodeGuid> result;
  for (const Node& node : subnet.fabric->nodes()) {
    const bool is_away = std::ranges::binary_search(subnet.away, node.guid);
    if (node.type == NodeType::Switch && !is_away) result.push_back(node.guid);
  }
  return result;
}

std::size_t HostMemory::recall(SubnetRecords& records) {
  std::unordered_set<NodeGuid> switches;
  std::unordered_map<NodeGuid, const Node*> hosts;
  for (const Node& node : records.nodes) {
    if (node.type == NodeType::Switch) {
      switches.insert(node.guid);
    } else {
      hosts.emplace(node.guid, &node);
    }
  }
  std::unordered_map<PortRef, const PortLids*> lids;
  for (const PortLids& each : records.lids) lids.emplace(each.port, &each);
  const TakenLids taken(records.lids);
  std::map<PortRef, Host> known;
  for (const Cable& cable : records.cables) {
    if (cable.joins_switches) continue;
    const bool a_is_switch = switches.contains(cable.link.a.node);
    const PortRef at = a_is_switch ? cable.link.a : cable.link.b;
    const PortRef port = a_is_switch ? cable.link.b : cable.link.a;
    const auto node = hosts.find(port.node);
    const auto its = lids.find(port);
    const bool whole = its != lids.end() && TakenLids::are_lids(*its->second);
    if (node != hosts.end() && whole) known.emplace(at, Host{*node->second, *its->second, cable.link});
  }
  std::unordered_set<NodeGuid> added;
  std::size_t count = 0;
  for (const PortRef& at : records.open) {
    const auto found = known_.find(at);
    if (found == known_.end() || hosts.contains(found->second.node.guid)) continue;
    const Host& host = found->second;
    if (!taken.are_free(host.lids)) continue;
    known.emplace(at, host);
    ++count;
    if (added.insert(host.node.guid).second) records.nodes.push_back(host.node);
    records.lids.push_back(host.lids);
    records.cables.push_back({host.cable, true, false});
  }
  known_ = std::move(known);
  return count;
}

std::vector<LinkRef> CableMemory::missing(SubnetRecords& records) {
  records.was_up = was_up_;
  was_up_ = was_up_ || any_is_active(records);
  std::vector<LinkRef> present;
  for (const Cable& cable : records.cables) {
    if (cable.joins_switches) present.push_back(cable.link);
  }
  std::sort(present.begin(), present.end());
  std::vector<LinkRef> gone;
  std::ranges::set_difference(known_, present, std::back_inserter(gone));
  if (!gone.empty()) {
    // A port that has another cable has been plugged elsewhere: the old one will not come back.
    std::unordered_set<PortRef> ends;
    for (const Cable& cable : records.cables) {
      ends.insert(cable.link.a);
      ends.insert(cable.link.b);
    }
    std::erase_if(gone, [&](const LinkRef& link) { return ends.contains(link.a) || ends.contains(link.b); });
  }
  known_.clear();
  std::ranges::merge(present, gone, std::back_inserter(known_));
  return gone;
}

void CableMemory::leave(std::span<const LinkRef> links) {
  std::erase_if(known_, [&](const LinkRef& link) { return std::ranges::find(links, link) != links.end(); });
}

}  // namespace heddle::planned
