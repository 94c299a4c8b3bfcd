#include "twin/flow_loads.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "routing/hop_map.h"
#include "sim/flow/max_min.h"

namespace heddle::twin {
namespace {

using routing::HopMap;
using routing::SwitchIndex;
using routing::Target;

constexpr std::uint32_t no_target = 0xffffffffU;
constexpr std::size_t lids = 0x10000;
/// Sums of flows are good to this share.
constexpr double sums_rounding = 1e-9;

class Follower {
 public:
  Follower(const View& view, std::span<const sim::TrafficFlow> flows, unsigned plane)
      : view_{view},
        fabric_{view.description()},
        graph_{view.graph()},
        flows_{flows},
        plane_{plane},
        hops_{graph_},
        left_{hops_over(graph_, &view.active())},
        columns_{graph_.size()},
        target_of_(fabric_.ports().size(), no_target) {
    for (std::uint32_t t = 0; t < graph_.targets().size(); ++t) {
      if (graph_.targets()[t].kind == routing::TargetKind::Host)
        target_of_[graph_.targets()[t].port.raw()] = t;
    }
    found_.load.assign(fabric_.ports().size(), 0);
    found_.of_host.assign(fabric_.nodes().size(), 0);
  }

  std::optional<Prediction> run() {
    const auto known = [&](PortIndex port) {
      return port.raw() < target_of_.size() && target_of_[port.raw()] != no_target;
    };
    for (const sim::TrafficFlow& flow : flows_) {
      if (!known(flow.from) || !known(flow.to) || flow.from == flow.to) return std::nullopt;
    }
    const std::vector<std::uint32_t> order = by_lid();
    for (const std::uint32_t flow : order) {
      if (!add(flows_[flow])) return std::nullopt;
    }
    hold_back(order);
    found_.flows = flows_.size();
    find_busiest(view_, found_);
    return std::move(found_);
  }

 private:
  enum class End : unsigned char { Arrives, IsLost, HasNoRoute, NobodyKnows };

  [[nodiscard]] const Target& target(PortIndex port) const {
    return graph_.targets()[target_of_[port.raw()]];
  }
  [[nodiscard]] Lid lid(const sim::TrafficFlow& flow) const {
    return Lid{static_cast<std::uint16_t>(target(flow.to).base.raw() + flow.path_offset.value_or(plane_))};
  }
  /// All flows, so that those to one LID, and to its neighbours, come one after the other.
  [[nodiscard]] std::vector<std::uint32_t> by_lid() const {
    std::vector<std::uint32_t> first(lids + 1, 0);  // of each, in `all`
    for (const sim::TrafficFlow& flow : flows_) ++first[lid(flow).raw() + std::size_t{1}];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> all(flows_.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[first[lid(flows_[i]).raw()]++] = i;
    return all;
  }

  [[nodiscard]] BitRate wanted_by(const sim::TrafficFlow& flow) const {
    return std::min(flow.demand, view_.rate(flow.from));
  }

  /// False where only the plane knows.
  bool add(const sim::TrafficFlow& flow) {
    const double wanted = wanted_by(flow).value();
    found_.wanted += wanted;
    const End end = follow(flow);
    if (end == End::NobodyKnows) return false;
    found_.unroutable += end == End::HasNoRoute ? 1 : 0;
    if (end == End::Arrives) carry(flow, way_, wanted);
    return true;
  }

  void carry(const sim::TrafficFlow& flow, std::span<const PortIndex> way, double rate) {
    found_.carried += rate;
    for (const PortIndex port : way) found_.load[port.raw()] += rate;
    for (const PortIndex host : {flow.from, flow.to}) found_.of_host[fabric_.port(host).node.raw()] += rate;
  }

  /// Leaves the ports of its way in way_.
  End follow(const sim::TrafficFlow& flow) {
    way_.assign(1, flow.from);
    if (!view_.forwards(flow.from)) return End::IsLost;
    const std::uint8_t* column = column_of(lid(flow));
    std::uint32_t s = target(flow.from).at.raw();
    while (way_.size() <= graph_.size() + 1) {
      const std::uint32_t hop = hops_.hop(s, column[s]);
      if (hop == HopMap::none) return leave(s, PortNum{column[s]}, flow.to);
      if (left_[hop] == 0) return End::IsLost;
      way_.push_back(fabric_.port_index(graph_.node(SwitchIndex{s}), PortNum{column[s]}));
      s = hops_.peer(hop);
    }
    return End::HasNoRoute;
  }

  const std::uint8_t* column_of(Lid lid) {
    if (lid.raw() / routing::lids_per_block != loaded_) {
      loaded_ = lid.raw() / routing::lids_per_block;
      columns_.load(view_.tables(), loaded_);
    }
    return columns_.column(lid);
  }

  /// By a port that leads to no other switch.
  End leave(std::uint32_t s, PortNum out, PortIndex to) {
    const NodeIndex node = graph_.node(SwitchIndex{s});
    if (out.raw() == 0 || out.raw() > fabric_.node(node).port_count) return End::HasNoRoute;
    const PortIndex port = fabric_.port_index(node, out);
    if (!view_.forwards(port)) return End::IsLost;
    const LinkEnd peer = *fabric_.peer({node, out});
    if (fabric_.node(peer.node).type == NodeType::Switch) return End::NobodyKnows;
    way_.push_back(port);
    return fabric_.port_index(peer) == to ? End::Arrives : End::HasNoRoute;
  }

  /// A channel for each port that is asked for more than it carries. Nobody waits for the others.
  std::vector<sim::ChannelId> too_full(sim::MaxMin& shares) const {
    std::vector<sim::ChannelId> channels(found_.load.size(), sim::no_channel);
    for (std::uint32_t i = 0; i < channels.size(); ++i) {
      const BitRate rate = view_.rate(PortIndex{i});
      if (found_.load[i] > rate.value() * (1 + sums_rounding)) channels[i] = shares.add_channel(rate);
    }
    return channels;
  }

  /// Takes from flows what ports that are too full do not carry.
  void hold_back(const std::vector<std::uint32_t>& order) {
    sim::MaxMin shares;
    const std::vector<sim::ChannelId> channels = too_full(shares);
    if (shares.channel_count() == 0) return;
    struct Held {
      std::uint32_t flow;
      sim::FlowId share;
      std::size_t way;  ///< in `ways`, up to that of the next
    };
    std::vector<Held> held;
    std::vector<PortIndex> ways;
    std::vector<sim::ChannelId> crossed;
    for (const std::uint32_t flow : order) {
      if (follow(flows_[flow]) != End::Arrives) continue;
      crossed.clear();
      for (const PortIndex port : way_) {
        if (channels[port.raw()] != sim::no_channel) crossed.push_back(channels[port.raw()]);
      }
      if (crossed.empty()) continue;
      held.push_back({flow, shares.add(crossed, wanted_by(flows_[flow])), ways.size()});
      ways.insert(ways.end(), way_.begin(), way_.end());
    }
    shares.solve();
    held.push_back({0, {}, ways.size()});
    for (std::size_t i = 0; i + 1 < held.size(); ++i) {
      const sim::TrafficFlow& flow = flows_[held[i].flow];
      const std::span way{ways.data() + held[i].way, ways.data() + held[i + 1].way};
      carry(flow, way, (shares.rate(held[i].share) - wanted_by(flow)).value());
    }
  }

  const View& view_;
  const Fabric& fabric_;
  const routing::SwitchGraph& graph_;
  std::span<const sim::TrafficFlow> flows_;
  unsigned plane_;
  HopMap hops_;
  std::vector<char> left_;  ///< by hop
  routing::Columns columns_;
  std::size_t loaded_ = static_cast<std::size_t>(-1);  ///< block of columns_
  std::vector<std::uint32_t> target_of_;               ///< of hosts, by PortIndex
  std::vector<PortIndex> way_;
  Prediction found_;
};

}  // namespace

std::optional<Prediction> follow_flows(const View& view, std::span<const sim::TrafficFlow> flows,
                                       unsigned plane) {
  if (view.qos() != nullptr) return std::nullopt;
  return Follower{view, flows, plane}.run();
}

Result<Prediction> predict_flows(const View& view, std::span<const sim::TrafficFlow> flows, unsigned plane) {
  if (auto quick = follow_flows(view, flows, plane)) return *std::move(quick);
  const auto fill = [&](sim::TrafficPlane& to) -> Result<void> {
    for (const sim::TrafficFlow& flow : flows) {
      if (const auto added = to.add(flow, Picoseconds{0}); !added) return fail(added.error());
    }
    return {};
  };
  return predict(view, fill, Picoseconds{0}, plane);
}

}  // namespace heddle::twin
