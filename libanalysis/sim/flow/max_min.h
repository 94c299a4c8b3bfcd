/// Max-min fair rates of flows over channels (Bertsekas and Gallager, Data Networks, 6.5.2). A channel is one
/// direction of a link. Every flow has a path (distinct channels), a demand that it never exceeds, and a
/// weight; its level is its rate divided by its weight. The rates are those where no flow can get more
/// without taking from one whose level is no higher.
///
/// Two ways to the same rates: solve() fills all channels from nothing; update() repairs what the changes
/// since the last call touch, and costs what these affect. update() may differ from solve() by rounding:
/// every rate agrees within `tolerance` x the largest capacity on the flow's path.
///
/// Invariant after either: every flow is at its demand or has a bottleneck, a full channel on which no flow
/// has a higher level; that makes the rates max-min fair, and the only such ones.
///
/// Independent of Fabric. Rates are data bits per second. Ids are dense; those of removed flows come again.
/// One thread. Allocates only while it meets more flows, or longer lists, than ever before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "sim/flow/level_queue.h"
#include "sim/flow/row_pool.h"

namespace heddle::sim {

using ChannelId = Id<struct ChannelTag, std::uint32_t>;
using FlowId = Id<struct FlowTag, std::uint32_t>;

inline constexpr ChannelId no_channel{0xffffffffU};
inline constexpr BitRate unlimited{std::numeric_limits<double>::infinity()};

class MaxMin {
 public:
  static constexpr double tolerance = 1e-9;

  explicit MaxMin(std::span<const BitRate> capacities = {});

  [[nodiscard]] std::size_t channel_count() const { return capacity_.size(); }
  [[nodiscard]] std::size_t flow_count() const { return flow_count_; }

  // Changes: they show in the rates after the next solve() or update().

  ChannelId add_channel(BitRate capacity);
  /// Preconditions: a path of one channel or more, all distinct; demand >= 0; weight > 0.
  FlowId add(std::span<const ChannelId> path, BitRate demand, std::uint32_t weight = 1);
  void remove(FlowId flow);
  void set_demand(FlowId flow, BitRate demand);
  void set_capacity(ChannelId channel, BitRate capacity);

  void solve();
  /// Falls back on solve() when the repair would cost more.
  void update();

  /// Flows there are whose rate or bottleneck the last solve() or update() may have changed, those added
  /// before it included.
  [[nodiscard]] std::span<const FlowId> changed() const { return changed_; }

  [[nodiscard]] BitRate rate(FlowId flow) const {
    return BitRate{flows_[flow.raw()].level * flows_[flow.raw()].weight};
  }
  [[nodiscard]] BitRate demand(FlowId flow) const {
    return BitRate{flows_[flow.raw()].ceiling * flows_[flow.raw()].weight};
  }
  /// The channel that holds the flow back, the first on its path if there are several; no_channel for a flow
  /// that gets its demand.
  [[nodiscard]] ChannelId bottleneck(FlowId flow) const { return ChannelId{flows_[flow.raw()].held_by}; }
  [[nodiscard]] BitRate capacity(ChannelId channel) const { return BitRate{capacity_[channel.raw()]}; }
  /// What its flows would send if this channel had room for all of it, and the levels of all others stayed.
  [[nodiscard]] BitRate pressure(ChannelId channel) const;
  [[nodiscard]] bool is_crossed(ChannelId channel) const { return !crossing_[channel.raw()].empty(); }
  /// Sum of the rates of its flows, after solve() or update().
  [[nodiscard]] BitRate carried(ChannelId channel) const;

  /// Calls f(FlowId) for every flow that crosses the channel. f must not add or remove.
  template <class F>
  void for_each_on(ChannelId channel, F f) {
    seat_newcomers();
    for (const Seat& seat : crossing_[channel.raw()]) f(FlowId{seat.flow});
  }

  /// Channels whose level the last update() set, for benchmarks; 0 after solve().
  [[nodiscard]] std::size_t repaired() const { return repaired_; }

 private:
  struct Flow {
    double level = 0;
    double ceiling = 0;        ///< demand / weight
    std::uint32_t weight = 0;  ///< 0: the id is free
    std::uint32_t path = 0;    ///< first of its hops in hop_channel_ and hop_seat_
    std::uint32_t hops = 0;
    std::uint32_t room = 0;  ///< hops that fit at `path`
    std::uint32_t held_by = no_channel.raw();
    bool seated = false;   ///< stands in crossing_
    bool changed = false;  ///< stands in changed_
  };
  struct Seat {
    std::uint32_t flow;
    std::uint32_t hop;  ///< index into hop_seat_
  };
  /// What is left of a channel while it is being filled.
  struct Filling {
    double capacity;
    std::uint64_t weight;  ///< of the flows without a level yet
  };
  using Entry = LevelQueue::Entry;

  static constexpr double none = std::numeric_limits<double>::infinity();

  [[nodiscard]] std::span<const std::uint32_t> path(const Flow& flow) const {
    return {hop_channel_.data() + flow.path, flow.hops};
  }
  void touch(std::uint32_t channel);
  void note_change(std::uint32_t flow);
  void begin();
  void finish();
  [[nodiscard]] std::uint32_t find_bottleneck(const Flow& flow) const;
  void seat(std::uint32_t flow);
  void seat_newcomers();
  void seat_all();

  // solve(): max_min_solve.cc
  void sum_demands();
  void queue_channels();
  void queue_flows();
  void freeze(Flow& flow, double level);
  void fill(std::uint32_t channel, double level);

  // update(): max_min_update.cc
  [[nodiscard]] double least_elsewhere(const Flow& flow, std::uint32_t channel) const;
  [[nodiscard]] double fair_level(std::uint32_t channel);
  void reconsider(std::uint32_t channel);
  void set_level(std::uint32_t channel, double level);
  bool repair();

  // Per channel.
  std::vector<double> capacity_;
  std::vector<double> fill_;    ///< level of the flows it holds back; none if it holds back nobody
  std::vector<double> target_;  ///< what fill_ ought to be, given all others; differs only within update()
  RowPool<Seat> crossing_;

  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_;
  std::size_t flow_count_ = 0;

  // Per hop.
  std::vector<std::uint32_t> hop_channel_;
  std::vector<std::uint32_t> hop_seat_;  ///< position in crossing_[channel]

  // Changes since the last call.
  std::vector<std::uint32_t> newcomers_;  ///< flows that are not seated
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint8_t> is_touched_;
  std::vector<FlowId> changed_;
  bool changes_are_old_ = false;  ///< changed_ has been reported; the next change starts a list

  // Work space.
  std::vector<Filling> filling_;
  std::vector<double> previous_;
  std::vector<std::uint32_t> sizes_;
  LevelQueue queue_;  ///< channels, then flows
  std::vector<Entry> heap_;
  std::vector<double> limits_;
  std::vector<double> limit_weights_;
  std::vector<std::uint32_t> affected_;
  std::vector<std::uint8_t> is_affected_;
  std::size_t repaired_ = 0;
};

}  // namespace heddle::sim
