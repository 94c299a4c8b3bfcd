#include "sim/bring_up.h"

#include <algorithm>
#include <vector>

#include "mad/header.h"

namespace heddle::sim {
namespace {

constexpr std::size_t block_size = 64;

/// Works on one fabric for the length of bring_up().
class Configurer {
 public:
  Configurer(SimulatedFabric& fabric, const BringUp& how)
      : fabric_{fabric}, description_{fabric.description()}, how_{how} {}

  void run() {
    assign_lids();
    index_switches();
    route();
    write_tables();
    raise_links();
  }

 private:
  /// Through the agent that the node has for this port.
  void set(PortIndex agent, mad::SmAttr attribute, std::uint32_t modifier, mad::Bytes& smp) {
    mad::Header header;
    header.method = mad::Method::Set;
    header.attribute = static_cast<std::uint16_t>(attribute);
    header.modifier = modifier;
    header.m_key = fabric_.port_info(agent).m_key;
    mad::write_header(header, smp);
    static_cast<void>(fabric_.ask(agent, smp, fabric_.now()));
  }

  void set_port(PortIndex agent, PortIndex port, PortState state, Lid lid) {
    mad::PortInfo info = fabric_.port_info(port);
    info.state = state;
    info.physical = PhysState::NoChange;
    info.lid = lid;
    info.lmc = is_switch(port) ? std::uint8_t{0} : how_.lmc;
    info.master_sm_lid = how_.sm_lid;
    info.link_width_enabled = 0;
    info.link_speed_enabled = 0;
    mad::Bytes smp{};
    mad::encode(info, mad::smp_data(smp));
    set(agent, mad::SmAttr::PortInfo, description_.port(port).num.raw(), smp);
  }

  [[nodiscard]] bool is_switch(PortIndex port) const {
    return description_.node(description_.port(port).node).type == NodeType::Switch;
  }
  [[nodiscard]] PortIndex agent_of(PortIndex port) const {
    return is_switch(port) ? description_.node(description_.port(port).node).first_port : port;
  }

  void assign_lids() {
    unsigned next = 1;
    for (const Node& node : description_.nodes()) {
      const bool is_a_switch = node.type == NodeType::Switch;
      for (unsigned p = is_a_switch ? 0 : 1; p <= (is_a_switch ? 0U : node.port_count); ++p) {
        const PortIndex port{node.first_port.raw() + p};
        if (!is_a_switch && description_.port(port).link == no_link) continue;
        const unsigned count = is_a_switch ? 1U : 1U << how_.lmc;
        next = (next + count - 1) / count * count;
        if (next + count > last_unicast_lid.raw()) return;
        set_port(port, port, PortState::NoChange, Lid{static_cast<std::uint16_t>(next)});
        ends_.push_back(port);
        next += count;
      }
    }
    top_ = next - 1;
  }

  void index_switches() {
    number_.assign(description_.nodes().size(), 0);
    for (std::uint32_t n = 0; n < description_.nodes().size(); ++n) {
      if (description_.node(NodeIndex{n}).type != NodeType::Switch) continue;
      number_[n] = static_cast<std::uint32_t>(switches_.size());
      switches_.push_back(NodeIndex{n});
    }
    tables_.assign(switches_.size(), std::vector<PortNum>(top_ + 1U, no_path));
  }

  /// The switch at the other end of a port, if the link is up.
  [[nodiscard]] NodeIndex neighbour(NodeIndex node, unsigned port) const {
    const LinkEnd end{node, PortNum{static_cast<std::uint8_t>(port)}};
    const auto peer = description_.peer(end);
    if (!peer || fabric_.port_info(description_.port_index(end)).physical != PhysState::LinkUp)
      return no_node;
    return peer->node;
  }

  void route() {
    std::vector<std::vector<PortIndex>> hosts(switches_.size());
    for (const PortIndex port : ends_) {
      if (is_switch(port)) continue;
      const auto peer = description_.peer({description_.port(port).node, description_.port(port).num});
      if (!peer || description_.node(peer->node).type != NodeType::Switch) continue;
      const std::uint32_t leaf = number_[peer->node.raw()];
      hosts[leaf].push_back(port);
      for_each_lid(port, [&](unsigned lid) { tables_[leaf][lid] = peer->port; });
    }
    for (std::uint32_t to = 0; to < switches_.size(); ++to) route_to(to, hosts[to]);
  }

  template <class F>
  void for_each_lid(PortIndex port, F f) {
    const mad::PortInfo& info = fabric_.port_info(port);
    for (unsigned i = 0; i < 1U << info.lmc; ++i) f(info.lid.raw() + i);
  }

  /// One breadth-first search gives the way to a switch and to all hosts at it; the LID chooses among ports.
  void route_to(std::uint32_t to, const std::vector<PortIndex>& hosts) {
    constexpr int unseen = -1;
    distance_.assign(switches_.size(), unseen);
    distance_[to] = 0;
    queue_.assign(1, to);
    const PortIndex own = description_.node(switches_[to]).first_port;
    for_each_lid(own, [&](unsigned lid) { tables_[to][lid] = PortNum{0}; });
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::uint32_t from = queue_[i];
      nearer_.clear();
      const NodeIndex node = switches_[from];
      for (unsigned p = 1; p <= description_.node(node).port_count; ++p) {
        const NodeIndex next = neighbour(node, p);
        if (next == no_node || description_.node(next).type != NodeType::Switch) continue;
        int& distance = distance_[number_[next.raw()]];
        if (distance == unseen) {
          distance = distance_[from] + 1;
          queue_.push_back(number_[next.raw()]);
        } else if (distance == distance_[from] - 1) {
          nearer_.push_back(PortNum{static_cast<std::uint8_t>(p)});
        }
      }
      if (nearer_.empty()) continue;
      const auto choose = [&](unsigned lid) { tables_[from][lid] = nearer_[lid % nearer_.size()]; };
      for_each_lid(own, choose);
      for (const PortIndex host : hosts) for_each_lid(host, choose);
    }
  }

  void write_tables() {
    for (std::size_t s = 0; s < switches_.size(); ++s) {
      const PortIndex agent = description_.node(switches_[s]).first_port;
      mad::Bytes smp{};
      mad::SwitchInfo info;
      info.linear_fdb_top = static_cast<std::uint16_t>(top_);
      info.life_time = 18;
      mad::encode(info, mad::smp_data(smp));
      set(agent, mad::SmAttr::SwitchInfo, 0, smp);
      for (std::size_t first = 0; first <= top_; first += block_size) {
        mad::LftBlock block;
        block.ports.fill(no_path);
        const std::size_t count = std::min(block_size, top_ + 1U - first);
        std::copy_n(tables_[s].begin() + static_cast<std::ptrdiff_t>(first), count, block.ports.begin());
        smp = {};
        mad::encode(block, mad::smp_data(smp));
        set(agent, mad::SmAttr::LinearForwardingTable, static_cast<std::uint32_t>(first / block_size), smp);
      }
    }
  }

  void raise_links() {
    for (const PortState state : {PortState::Armed, PortState::Active}) {
      for (std::uint32_t i = 0; i < description_.ports().size(); ++i) {
        const PortIndex port{i};
        const mad::PortInfo& info = fabric_.port_info(port);
        const bool before =
            state == PortState::Armed ? info.state == PortState::Init : info.state == PortState::Armed;
        if (info.physical == PhysState::LinkUp && before) set_port(agent_of(port), port, state, info.lid);
      }
    }
  }

  SimulatedFabric& fabric_;
  const Fabric& description_;
  BringUp how_;
  std::vector<PortIndex> ends_;
  unsigned top_ = 0;
  std::vector<NodeIndex> switches_;
  std::vector<std::uint32_t> number_;  ///< by NodeIndex: position in switches_
  std::vector<std::vector<PortNum>> tables_;
  std::vector<int> distance_;
  std::vector<std::uint32_t> queue_;
  std::vector<PortNum> nearer_;
};

}  // namespace

void bring_up(SimulatedFabric& fabric, const BringUp& how) { Configurer{fabric, how}.run(); }

}  // namespace heddle::sim
