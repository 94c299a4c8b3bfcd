#include "jobs/account.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/printable.h"
#include "load/switch_graph.h"

namespace heddle::jobs {
namespace {

std::string without_domain(const std::string& host) { return host.substr(0, host.find('.')); }

/// A port of a host that a cable joins to a switch.
struct HostPort {
  LinkEnd here;
  LinkEnd at_leaf;
};

/// What is at one switch with hosts.
struct Leaf {
  double injected = 0;  ///< by all its hosts
  double upwards = 0;   ///< to other switches
  bool passes_on = false;
  std::vector<HostPort> hosts;
  std::vector<LinkEnd> uplinks;  ///< its own ends

  [[nodiscard]] double share() const { return injected > 0 ? std::min(1.0, upwards / injected) : 0; }
};

class JobAccount {
 public:
  JobAccount(const Fabric& fabric, std::span<const PortLoad> loads, std::span<const Job> jobs)
      : fabric_{fabric}, loads_{loads}, jobs_{jobs} {
    find_leaves();
    find_hosts();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      for (const std::string& host : jobs[i].hosts) {
        for (const NodeIndex node : nodes_of(host)) jobs_at_[node.raw()].insert(i);
      }
    }
  }

  [[nodiscard]] JobFigures figures(std::size_t job) const {
    JobFigures figures;
    std::set<std::uint32_t> leaves;
    double leaving = 0;
    bool alone = true;
    for (const HostPort& port : ports_of(job, figures)) {
      const PortLoad& out = load(port.here);
      const PortLoad& in = load(port.at_leaf);
      figures.unmeasured += (out.known ? 0U : 1U) + (in.known ? 0U : 1U);
      figures.injected += out.bytes_per_second;
      figures.delivered += in.bytes_per_second;
      leaving += out.bytes_per_second * leaves_.at(port.at_leaf.node.raw()).share();
      leaves.insert(port.at_leaf.node.raw());
      consider(figures, port.here);
      consider(figures, port.at_leaf);
    }
    for (const std::uint32_t node : leaves) {
      const Leaf& leaf = leaves_.at(node);
      figures.leaves.emplace_back(node);
      for (const LinkEnd& uplink : leaf.uplinks) {
        consider(figures, uplink);
        if (const auto peer = fabric_.peer(uplink)) consider(figures, *peer);
      }
      alone = alone && !leaf.passes_on && is_alone(job, leaf);
    }
    figures.exact = alone && figures.unmeasured == 0;
    if (figures.injected > 0) figures.leaves_leaf = leaving / figures.injected;
    if (figures.worst) figures.neighbours = neighbours(job, *figures.worst);
    return figures;
  }

 private:
  [[nodiscard]] const PortLoad& load(LinkEnd end) const { return loads_[fabric_.port_index(end).raw()]; }

  [[nodiscard]] bool is_switch(NodeIndex node) const { return fabric_.node(node).type == NodeType::Switch; }

  void consider(JobFigures& figures, LinkEnd from) const {
    const PortLoad& out = load(from);
    if (!out.known || (figures.worst && out.utilization <= figures.worst_utilization)) return;
    figures.worst = from;
    figures.worst_utilization = out.utilization;
  }

  void find_leaves() {
    for (const Link& link : fabric_.links()) {
      for (const auto& [here, there] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
        const Node& node = fabric_.node(here.node);
        if (node.type != NodeType::ChannelAdapter || node.aggregation || !is_switch(there.node)) continue;
        Leaf& leaf = leaves_[there.node.raw()];
        leaf.hosts.push_back({here, there});
        leaf.injected += load(here).bytes_per_second;
      }
    }
    for (const Link& link : fabric_.links()) {
      if (!is_switch(link.a.node) || !is_switch(link.b.node)) continue;
      for (const LinkEnd& end : {link.a, link.b}) {
        const auto leaf = leaves_.find(end.node.raw());
        if (leaf == leaves_.end()) continue;
        leaf->second.uplinks.push_back(end);
        leaf->second.upwards += load(end).bytes_per_second;
      }
    }
    // In a tree nothing goes up through a leaf that did not begin there.
    const auto tiers = load::find_tiers(fabric_, load::switch_neighbours(fabric_));
    for (auto& [node, leaf] : leaves_) leaf.passes_on = !tiers || tiers->level[node] != 0;
  }

  void find_hosts() {
    for (std::uint32_t i = 0; i < fabric_.nodes().size(); ++i) {
      const Node& node = fabric_.node(NodeIndex{i});
      if (node.type != NodeType::ChannelAdapter || node.aggregation) continue;
      const std::string description = printable(node.description);
      by_host_[without_domain(description.substr(0, description.find(' ')))].emplace_back(i);
    }
    for (const auto& [switch_node, leaf] : leaves_) {
      for (const HostPort& port : leaf.hosts) ports_[port.here.node.raw()].push_back(port);
    }
  }

  [[nodiscard]] std::span<const NodeIndex> nodes_of(const std::string& host) const {
    const auto found = by_host_.find(without_domain(host));
    return found == by_host_.end() ? std::span<const NodeIndex>{} : std::span<const NodeIndex>{found->second};
  }

  /// Says of its hosts which there are.
  [[nodiscard]] std::vector<HostPort> ports_of(std::size_t job, JobFigures& figures) const {
    std::vector<HostPort> all;
    for (const std::string& host : jobs_[job].hosts) {
      const auto nodes = nodes_of(host);
      if (nodes.empty()) {
        figures.unknown_hosts.push_back(host);
        continue;
      }
      ++figures.hosts;
      for (const NodeIndex node : nodes) {
        const auto ports = ports_.find(node.raw());
        if (ports != ports_.end()) all.insert(all.end(), ports->second.begin(), ports->second.end());
      }
    }
    return all;
  }

  [[nodiscard]] bool is_alone(std::size_t job, const Leaf& leaf) const {
    return std::ranges::all_of(leaf.hosts, [&](const HostPort& port) {
      const auto found = jobs_at_.find(port.here.node.raw());
      const bool ours = found != jobs_at_.end() && found->second.size() == 1 && found->second.contains(job);
      return ours || load(port.here).bytes_per_second == 0;
    });
  }

  /// Other jobs at the hosts behind a direction of a link: at the leaf that it leaves or reaches, or at the
  /// host.
  [[nodiscard]] std::vector<Neighbour> neighbours(std::size_t job, LinkEnd from) const {
    const auto to = fabric_.peer(from);
    std::map<std::size_t, double> moved;
    const auto add_all = [&](NodeIndex node, bool outwards) {
      const auto leaf = leaves_.find(node.raw());
      if (leaf == leaves_.end()) return add_hosts_of(node, outwards, moved);
      for (const HostPort& port : leaf->second.hosts) add_port(port, outwards, moved);
    };
    const bool to_host = to && !is_switch(to->node);
    const bool from_leaf = leaves_.contains(from.node.raw());
    if (!is_switch(from.node) || (from_leaf && !to_host)) add_all(from.node, true);
    if (to_host) add_hosts_of(to->node, false, moved);
    if (to && !to_host && is_switch(from.node) && leaves_.contains(to->node.raw())) add_all(to->node, false);
    moved.erase(job);
    std::vector<Neighbour> all;
    for (const auto& [other, rate] : moved) all.push_back({other, rate});
    std::ranges::stable_sort(all, std::greater{}, &Neighbour::bytes_per_second);
    if (all.size() > most_neighbours) all.resize(most_neighbours);
    return all;
  }

  void add_hosts_of(NodeIndex node, bool outwards, std::map<std::size_t, double>& moved) const {
    const auto ports = ports_.find(node.raw());
    if (ports == ports_.end()) return;
    for (const HostPort& port : ports->second) add_port(port, outwards, moved);
  }

  void add_port(const HostPort& port, bool outwards, std::map<std::size_t, double>& moved) const {
    const auto jobs = jobs_at_.find(port.here.node.raw());
    if (jobs == jobs_at_.end()) return;
    for (const std::size_t other : jobs->second)
      moved[other] += load(outwards ? port.here : port.at_leaf).bytes_per_second;
  }

  const Fabric& fabric_;
  std::span<const PortLoad> loads_;
  std::span<const Job> jobs_;
  std::map<std::uint32_t, Leaf> leaves_;  ///< by NodeIndex
  std::unordered_map<std::string, std::vector<NodeIndex>> by_host_;
  std::unordered_map<std::uint32_t, std::vector<HostPort>> ports_;  ///< by NodeIndex of the host's adapter
  std::unordered_map<std::uint32_t, std::set<std::size_t>> jobs_at_;
};

}  // namespace

std::vector<JobFigures> account(const Fabric& fabric, std::span<const PortLoad> loads,
                                std::span<const Job> jobs) {
  const JobAccount all{fabric, loads, jobs};
  std::vector<JobFigures> figures;
  for (std::size_t i = 0; i < jobs.size(); ++i) figures.push_back(all.figures(i));
  return figures;
}

}  // namespace heddle::jobs
