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

constexpr std::uint32_t no_seat = 0xffffffffU;
constexpr std::size_t lids = 0x10000;
/// Sums of flows are good to this share.
constexpr double sums_rounding = 1e-9;

/// Follows flows to one LID after the other, and what it looks up for each is small and lies together: where
/// flows come from is another place each time.
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
        seat_of_(fabric_.ports().size(), no_seat),
        hop_load_(graph_.hop_count(), 0) {
    for (const Target& target : graph_.targets()) {
      if (target.kind != routing::TargetKind::Host) continue;
      seat_of_[target.port.raw()] = static_cast<std::uint32_t>(seats_.size());
      seats_.push_back({.at = target.at.raw(),
                        .node = fabric_.port(target.port).node.raw(),
                        .base = target.base,
                        .out = target.out,
                        .forwards = view.forwards(target.port)});
      ports_.push_back(target.port);
    }
    found_.load.assign(fabric_.ports().size(), 0);
    found_.of_host.assign(fabric_.nodes().size(), 0);
    sent_.assign(seats_.size(), 0);
    received_.assign(seats_.size(), 0);
  }

  std::optional<Prediction> run() {
    const auto known = [&](PortIndex port) { return port.raw() < seat_of_.size() && seat(port) != no_seat; };
    for (const sim::TrafficFlow& flow : flows_) {
      if (!known(flow.from) || !known(flow.to) || flow.from == flow.to) return std::nullopt;
    }
    sort_by_lid();
    for (const Item& item : items_) {
      if (!add(item)) return std::nullopt;
    }
    tell_loads();
    hold_back();
    tell_loads();
    found_.flows = flows_.size();
    find_busiest(view_, found_);
    return std::move(found_);
  }

 private:
  enum class End : unsigned char { Arrives, IsLost, HasNoRoute, NobodyKnows };

  /// A port of a host.
  struct Seat {
    std::uint32_t at = 0;  ///< its switch
    std::uint32_t node = 0;
    Lid base;
    PortNum out;  ///< of its switch
    bool forwards = false;
  };
  /// A flow.
  struct Item {
    std::uint32_t from = 0;  ///< seat
    std::uint32_t to = 0;
    Lid lid;
    BitRate wanted{};
  };

  [[nodiscard]] std::uint32_t seat(PortIndex port) const { return seat_of_[port.raw()]; }
  [[nodiscard]] Lid lid(const sim::TrafficFlow& flow) const {
    return Lid{
        static_cast<std::uint16_t>(seats_[seat(flow.to)].base.raw() + flow.path_offset.value_or(plane_))};
  }
  /// So that flows to one LID, and to its neighbours, come one after the other.
  void sort_by_lid() {
    std::vector<std::uint32_t> first(lids + 1, 0);  // of each, in items_
    for (const sim::TrafficFlow& flow : flows_) ++first[lid(flow).raw() + std::size_t{1}];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<BitRate> rates;
    for (const PortIndex port : ports_) rates.push_back(view_.rate(port));
    items_.resize(flows_.size());
    for (const sim::TrafficFlow& flow : flows_) {
      const std::uint32_t from = seat(flow.from);
      const Lid to = lid(flow);
      items_[first[to.raw()]++] = {from, seat(flow.to), to, std::min(flow.demand, rates[from])};
    }
  }

  /// False where only the plane knows.
  bool add(const Item& item) {
    found_.wanted += item.wanted.value();
    const End end = follow(item);
    if (end == End::NobodyKnows) return false;
    found_.unroutable += end == End::HasNoRoute ? 1 : 0;
    if (end == End::Arrives) carry(item, way_, item.wanted.value());
    return true;
  }

  /// From the one seat over these hops to the other.
  void carry(const Item& item, std::span<const std::uint32_t> way, double rate) {
    found_.carried += rate;
    sent_[item.from] += rate;
    for (const std::uint32_t hop : way) hop_load_[hop] += rate;
    received_[item.to] += rate;
    for (const std::uint32_t host : {item.from, item.to}) found_.of_host[seats_[host].node] += rate;
  }

  /// Leaves the hops of its way in way_.
  End follow(const Item& item) {
    way_.clear();
    const Seat& from = seats_[item.from];
    if (!from.forwards) return End::IsLost;
    const std::uint8_t* column = column_of(item.lid);
    std::uint32_t s = from.at;
    while (way_.size() <= graph_.size()) {
      const HopMap::Way next = hops_.way(s, column[s]);
      if (next.hop == HopMap::none) return leave(s, PortNum{column[s]}, seats_[item.to]);
      if (left_[next.hop] == 0) return End::IsLost;
      way_.push_back(next.hop);
      s = next.peer;
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
  [[nodiscard]] End leave(std::uint32_t s, PortNum out, const Seat& to) const {
    // The cable of a host carries both ways, or none.
    if (s == to.at && out == to.out) return to.forwards ? End::Arrives : End::IsLost;
    const NodeIndex node = graph_.node(SwitchIndex{s});
    if (out.raw() == 0 || out.raw() > fabric_.node(node).port_count) return End::HasNoRoute;
    if (!view_.forwards(fabric_.port_index(node, out))) return End::IsLost;
    const bool is_switch = fabric_.node(fabric_.peer({node, out})->node).type == NodeType::Switch;
    return is_switch ? End::NobodyKnows : End::HasNoRoute;
  }

  [[nodiscard]] PortIndex port_of(std::uint32_t s, PortNum out) const {
    return fabric_.port_index(graph_.node(SwitchIndex{s}), out);
  }
  void tell_loads() {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      std::size_t hop = graph_.first_hop(SwitchIndex{s});
      for (const routing::Hop& each : graph_.hops(SwitchIndex{s}))
        found_.load[port_of(s, each.out).raw()] = hop_load_[hop++];
    }
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      found_.load[ports_[i].raw()] = sent_[i];
      found_.load[port_of(seats_[i].at, seats_[i].out).raw()] = received_[i];
    }
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

  /// Those of too_full(), by where flows meet them.
  struct FullPorts {
    std::vector<sim::ChannelId> of_hop;
    std::vector<sim::ChannelId> of_sender;    ///< by seat
    std::vector<sim::ChannelId> of_receiver;  ///< of the switch's port there
  };
  FullPorts full_ports(const std::vector<sim::ChannelId>& channels) const {
    FullPorts full;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      for (const routing::Hop& each : graph_.hops(SwitchIndex{s}))
        full.of_hop.push_back(channels[port_of(s, each.out).raw()]);
    }
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      full.of_sender.push_back(channels[ports_[i].raw()]);
      full.of_receiver.push_back(channels[port_of(seats_[i].at, seats_[i].out).raw()]);
    }
    return full;
  }

  /// Takes from flows what ports that are too full do not carry.
  void hold_back() {
    sim::MaxMin shares;
    const FullPorts full = full_ports(too_full(shares));
    if (shares.channel_count() == 0) return;
    struct Held {
      std::uint32_t item;
      sim::FlowId share;
      std::size_t way;  ///< in `ways`, up to that of the next
    };
    std::vector<Held> held;
    std::vector<std::uint32_t> ways;
    std::vector<sim::ChannelId> crossed;
    const auto cross = [&](sim::ChannelId channel) {
      if (channel != sim::no_channel) crossed.push_back(channel);
    };
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (follow(item) != End::Arrives) continue;
      crossed.clear();
      cross(full.of_sender[item.from]);
      for (const std::uint32_t hop : way_) cross(full.of_hop[hop]);
      cross(full.of_receiver[item.to]);
      if (crossed.empty()) continue;
      held.push_back({i, shares.add(crossed, item.wanted), ways.size()});
      ways.insert(ways.end(), way_.begin(), way_.end());
    }
    shares.solve();
    held.push_back({0, {}, ways.size()});
    for (std::size_t i = 0; i + 1 < held.size(); ++i) {
      const Item& item = items_[held[i].item];
      const std::span way{ways.data() + held[i].way, ways.data() + held[i + 1].way};
      carry(item, way, (shares.rate(held[i].share) - item.wanted).value());
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
  std::vector<Seat> seats_;
  std::vector<PortIndex> ports_;        ///< by seat
  std::vector<double> sent_;            ///< bit/s, by seat
  std::vector<double> received_;        ///< likewise
  std::vector<std::uint32_t> seat_of_;  ///< by PortIndex
  std::vector<Item> items_;
  std::vector<std::uint32_t> way_;
  std::vector<double> hop_load_;  ///< bit/s
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
