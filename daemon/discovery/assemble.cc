#include "discovery/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "mad/header.h"

namespace heddle::discovery {
namespace {

struct Cable {
  LinkEnd near;
  LinkEnd far;
};

/// SHARP aggregation nodes sit inside Mellanox' switches and carry no host.
bool is_aggregation_node(const SurveyNode& node) {
  constexpr std::uint32_t mellanox = 0x2c9;
  constexpr std::uint16_t aggregation_device = 0xcf09;
  if (node.info.type != NodeType::ChannelAdapter) return false;
  return (node.info.vendor_id == mellanox && node.info.device_id == aggregation_device) ||
         node.description.find("Aggregation Node") != std::string::npos;
}

class Assembly {
 public:
  Assembly(std::vector<SurveyNode> nodes, NodeGuid local, Problems& problems)
      : nodes_{std::move(nodes)}, local_{local}, problems_{problems} {}

  std::shared_ptr<const Survey> finish(std::uint64_t epoch, Instant begun) {
    leave_out_incomplete();
    settle_speeds();
    order();
    join();
    leave_out_unreachable();
    forget_other_subnets();
    report_lid_conflicts();
    return build(epoch, begun);
  }

 private:
  [[nodiscard]] bool complete(const SurveyNode& node) const {
    if (node.is_switch()) return node.switch_info && node.ports[0].known;
    return std::any_of(node.ports.begin(), node.ports.end(), [](const SurveyPort& p) { return p.known; });
  }

  void leave_out_incomplete() {
    std::erase_if(nodes_, [&](const SurveyNode& node) {
      if (complete(node) || node.guid() == local_) return false;
      problems_.add(ProblemKind::LostNode, {node.guid(), node.info.local_port},
                    fmt::format("{} was found but does not say what it is: left out", name_of(node)));
      return true;
    });
  }

  /// A port that may run at an extended speed and does not tell is at an unknown one: rates and utilization
  /// of the QDR that it shows would be wrong by up to twenty times.
  void settle_speeds() {
    for (SurveyNode& node : nodes_) {
      for (SurveyPort& port : node.ports) {
        const mad::PortInfo& spokesman = node.is_switch() ? node.ports[0].info : port.info;
        if (port.known && port.speed == LinkSpeed::Qdr &&
            mad::hides_speed(port.info, spokesman.capability_mask)) {
          port.speed = LinkSpeed::None;
        }
      }
    }
  }

  void order() {
    const auto by_guid = [](const SurveyNode& x, const SurveyNode& y) { return x.guid() < y.guid(); };
    if (!std::is_sorted(nodes_.begin(), nodes_.end(), by_guid)) {
      std::sort(nodes_.begin(), nodes_.end(), by_guid);
    }
    index_nodes();
  }

  void index_nodes() {
    index_.clear();
    index_.reserve(nodes_.size());
    first_port_.clear();
    port_count_ = 0;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      index_.emplace(nodes_[i].guid(), NodeIndex{i});
      first_port_.push_back(port_count_);
      port_count_ += nodes_[i].ports.size();
    }
  }

  [[nodiscard]] std::string name(const PortRef& ref) const {
    return name_of(nodes_[index_.at(ref.node).raw()], ref.port);
  }
  [[nodiscard]] std::size_t position(LinkEnd end) const {
    return first_port_[end.node.raw()] + end.port.raw();
  }
  [[nodiscard]] const SurveyPort& port(LinkEnd end) const {
    return nodes_[end.node.raw()].ports[end.port.raw()];
  }
  [[nodiscard]] PortRef ref(LinkEnd end) const { return {nodes_[end.node.raw()].guid(), end.port}; }

  void join() {
    taken_.assign(port_count_, 0);
    cables_.reserve(port_count_ / 2);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      SurveyNode& node = nodes_[i];
      for (std::size_t p = 1; p < node.ports.size(); ++p) {
        auto& peer = node.ports[p].peer;
        if (!peer) continue;
        const auto other = index_.find(peer->node);
        if (other == index_.end()) {
          // Left out: a light sweep looks whether it has come back.
          node.ports[p].silent = true;
          peer.reset();
        } else {
          join({NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}}, {other->second, peer->port});
        }
      }
    }
  }

  void join(LinkEnd near, LinkEnd far) {
    const PortRef here = ref(near);
    const PortRef there = ref(far);
    const SurveyNode* other = &nodes_[far.node.raw()];
    const SurveyPort& back = other->ports[there.port.raw()];
    if (back.peer && *back.peer != here) {
      problems_.add(ProblemKind::DuplicateGuid, there,
                    fmt::format("{} leads to {}, which leads elsewhere: two nodes have this GUID, or a "
                                "cable was moved",
                                name(here), name(there)));
      return;
    }
    if (back.known && back.info.state == PortState::Down) {
      problems_.add(ProblemKind::OneSidedLink, there,
                    fmt::format("{} leads to {}, which says that it is down", name(here), name(there)));
      return;
    }
    if (!back.peer && other->is_switch()) {
      problems_.add(ProblemKind::OneSidedLink, there,
                    fmt::format("{} leads to {}, but not back", name(here), name(there)));
    }
    if (back.peer && there < here) return;  // joined from the other end already
    char& near_taken = taken_[position(near)];
    char& far_taken = taken_[position(far)];
    const bool free = near_taken == 0 && far_taken == 0 && near != far;
    if (!free) {
      problems_.add(
          ProblemKind::DuplicateGuid, there,
          fmt::format("{} has a second cable, to {}: two nodes have this GUID", name(there), name(here)));
      return;
    }
    near_taken = far_taken = 1;
    cables_.push_back({near, far});
  }

  void leave_out_unreachable() {
    std::vector<NodeIndex> behind(port_count_, no_node);  // by port
    for (const Cable& cable : cables_) {
      behind[position(cable.near)] = cable.far.node;
      behind[position(cable.far)] = cable.near.node;
    }
    std::vector<char> reached(nodes_.size(), 0);
    std::vector<NodeIndex> queue{index_.at(local_)};
    reached[queue.front().raw()] = 1;
    nodes_[queue.front().raw()].path.clear();
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const SurveyNode& from = nodes_[queue[i].raw()];
      // Only switches forward directed routes, and the local node begins them: at the port that we sit on.
      if ((!from.is_switch() && i > 0) || from.path.size() >= mad::DirectedRoute::max_hops) continue;
      for (std::size_t p = 1; p < from.ports.size(); ++p) {
        if (!from.is_switch() && p != from.info.local_port.raw()) continue;
        const NodeIndex to = behind[first_port_[queue[i].raw()] + p];
        if (to == no_node || reached[to.raw()] != 0) continue;
        reached[to.raw()] = 1;
        nodes_[to.raw()].path = from.path;
        nodes_[to.raw()].path.push_back(PortNum{static_cast<std::uint8_t>(p)});
        queue.push_back(to);
      }
    }
    if (queue.size() < nodes_.size()) keep(reached);
  }

  void keep(const std::vector<char>& reached) {
    std::vector<SurveyNode> kept;
    std::vector<NodeIndex> place(nodes_.size(), no_node);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (reached[i] != 0) {
        place[i] = NodeIndex{static_cast<std::uint32_t>(kept.size())};
        kept.push_back(std::move(nodes_[i]));
      } else {
        problems_.add(ProblemKind::SplitOff, {nodes_[i].guid(), nodes_[i].info.local_port},
                      fmt::format("no way leads to {} any more: left out", name_of(nodes_[i])));
      }
    }
    nodes_ = std::move(kept);
    index_nodes();
    for (Cable& cable : cables_) {
      cable.near.node = place[cable.near.node.raw()];
      cable.far.node = place[cable.far.node.raw()];
    }
    std::erase_if(cables_,
                  [](const Cable& cable) { return cable.near.node == no_node || cable.far.node == no_node; });
  }

  /// A port of a host that is up and that no cable of this fabric leads to belongs to another subnet, as the
  /// second ports of many adapters do: its LIDs mean something else there, and its counters are nobody's
  /// here.
  void forget_other_subnets() {
    std::vector<char> cabled(port_count_, 0);
    for (const Cable& cable : cables_) cabled[position(cable.near)] = cabled[position(cable.far)] = 1;
    elsewhere_.assign(port_count_, 0);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      const SurveyNode& node = nodes_[i];
      for (std::size_t p = 1; p < node.ports.size() && !node.is_switch(); ++p) {
        const bool own = node.guid() == local_ && p == node.info.local_port.raw();
        elsewhere_[first_port_[i] + p] = static_cast<char>(!own && cabled[first_port_[i] + p] == 0);
      }
    }
  }

  void report_lid_conflicts() {
    std::vector<PortRef> owner;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      const SurveyNode& node = nodes_[i];
      const std::size_t last = node.is_switch() ? 1 : node.ports.size();
      for (std::size_t p = node.is_switch() ? 0 : 1; p < last; ++p) {
        const SurveyPort& port = node.ports[p];
        const PortRef ref{node.guid(), PortNum{static_cast<std::uint8_t>(p)}};
        const bool here = elsewhere_[first_port_[i] + p] == 0;
        if (port.known && here && port.info.state != PortState::Down) claim_lids(ref, port, owner);
      }
    }
  }

  void claim_lids(const PortRef& ref, const SurveyPort& port, std::vector<PortRef>& owner) {
    const std::size_t first = port.info.lid.raw();
    const std::size_t end = first + (std::size_t{1} << port.info.lmc);
    if (first == 0) return;
    if (end > std::size_t{last_unicast_lid.raw()} + 1) {
      problems_.add(ProblemKind::BadAnswer, ref,
                    fmt::format("{} has LID {}, which is not a unicast LID", name(ref), first));
      return;
    }
    if (owner.size() < end) owner.resize(end);
    for (std::size_t lid = first; lid < end; ++lid) {
      if (owner[lid] == PortRef{}) {
        owner[lid] = ref;
        continue;
      }
      problems_.add(ProblemKind::LidConflict, ref,
                    fmt::format("{} and {} both have LID {}", name(owner[lid]), name(ref), lid));
      return;
    }
  }

  [[nodiscard]] std::shared_ptr<const Survey> build(std::uint64_t epoch, Instant begun) {
    FabricBuilder builder;
    builder.expect(nodes_.size(), port_count_, cables_.size());
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      const SurveyNode& node = nodes_[i];
      // The GUIDs are distinct and the port counts were checked when the nodes were found.
      const NodeIndex index = *builder.add_node(fabric_node(node));
      for (std::size_t p = 0; p < node.ports.size(); ++p) {
        if (node.ports[p].known) {
          Port port = fabric_port(node, PortNum{static_cast<std::uint8_t>(p)});
          if (elsewhere_[first_port_[i] + p] != 0) port.lid = no_lid;
          (void)builder.set_port(index, port);
        }
      }
    }
    for (const Cable& cable : cables_) {
      const SurveyPort& a = port(cable.near);
      const SurveyPort& b = port(cable.far);
      const SurveyPort& said = a.known ? a : b;
      // One end may know what the other one does not tell.
      const LinkSpeed speed = said.speed == LinkSpeed::None ? b.speed : said.speed;
      (void)builder.add_link(cable.near, cable.far, mad::active_width(said.info), speed);
    }
    auto survey = std::make_shared<Survey>();
    survey->fabric = builder.build(epoch);
    survey->nodes = std::move(nodes_);
    survey->local = survey->fabric->find_node(local_);
    survey->begun = begun;
    return survey;
  }

  [[nodiscard]] static Node fabric_node(const SurveyNode& from) {
    Node node;
    node.guid = from.guid();
    node.type = from.info.type;
    node.port_count = from.info.port_count;
    node.enhanced_port0 = from.switch_info && from.switch_info->enhanced_port0;
    node.aggregation = is_aggregation_node(from);
    node.vendor_id = from.info.vendor_id;
    node.device_id = from.info.device_id;
    node.system_image_guid = from.info.system_image_guid;
    node.description = from.description;
    return node;
  }

  [[nodiscard]] static Port fabric_port(const SurveyNode& node, PortNum num) {
    const SurveyPort& from = node.ports[num.raw()];
    Port port;
    port.num = num;
    port.state = from.info.state;
    port.physical = from.info.physical;
    port.width = mad::active_width(from.info);
    port.speed = from.speed;
    if (!node.is_switch() || num == PortNum{0}) {
      port.lid = from.info.lid;
      port.lmc = from.info.lmc;
      port.guid = from.guid;
    }
    return port;
  }

  std::vector<SurveyNode> nodes_;
  NodeGuid local_;
  Problems& problems_;
  std::unordered_map<NodeGuid, NodeIndex> index_;
  std::vector<std::size_t> first_port_;  ///< by node
  std::size_t port_count_ = 0;           ///< port 0 of every node included
  std::vector<char> taken_;              ///< by port: has a cable
  std::vector<Cable> cables_;
  std::vector<char> elsewhere_;  ///< by port: of a host, and not in this subnet
};

}  // namespace

std::shared_ptr<const Survey> assemble(std::vector<SurveyNode> nodes, NodeGuid local, std::uint64_t epoch,
                                       Instant begun, Problems& problems) {
  return Assembly{std::move(nodes), local, problems}.finish(epoch, begun);
}

}  // namespace heddle::discovery
