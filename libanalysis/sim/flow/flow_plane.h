/// The data plane at flow level: a set of flows that follow the programmed forwarding tables, their max-min
/// fair rates, and the counters that these rates move. Counters are integrals of piecewise constant rates,
/// exact in simulated time, computed only when they are read or when a rate changes.
///
/// - Data: rates are rounded down to 2^-16 bit/s; what the counters show is rate x time, to the unit.
/// - Packets: data bytes / Options::packet_bytes.
/// - XmitWait of a port: share of time x tick rate, share = held / (carried + held), where `carried` is the
/// rate
///   that leaves by the port, and `held` what the flows whose bottleneck this port is want and do not get.
///   Two flows that want a whole link each, on one link: half of the time. Per VL likewise.
/// - What a port receives is what its peer sends.
/// - A flow whose route ends before its destination carries nothing and takes nothing from others. If it ends
/// at a
///   switch's port that is off, that port discards it at the rate that it wants.
///
/// Flows of one VL share what the VL has alike. Where a port's flows are on several VLs, the VLs share the
/// link as its arbitration tables say (VlShares): a channel of the solver is one VL of one port, and takes
/// what its VL gets. These shares depend on the rates and these on the shares: they are found in rounds,
/// until they agree.
///
/// Time never goes back. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "sim/flow/flow_schedule.h"
#include "sim/flow/forwarding_view.h"
#include "sim/flow/max_min.h"
#include "sim/flow/meter_bank.h"
#include "sim/flow/route_trace.h"
#include "sim/flow/vl_shares.h"
#include "sim/traffic_plane.h"

namespace heddle::sim {

struct FlowPlaneOptions {
  std::uint32_t packet_bytes = 4096;  ///< data bytes of a packet: the path MTU
  /// Of one VL of one port: full where the port holds flows back. For queue_depth() and queue_delay().
  std::uint32_t queue_credits = 512;
  /// How tables are read: sizes of packets, rounding.
  qos::AnalyzerOptions arbitration;
};

class FlowPlane final : public TrafficPlane {
 public:
  explicit FlowPlane(const ForwardingView& view, const FlowPlaneOptions& options = {});

  // TrafficPlane
  Result<TrafficId> add(const TrafficFlow& flow, Picoseconds at) override;
  void remove(TrafficId flow, Picoseconds at) override;
  void set_demand(TrafficId flow, BitRate demand, Picoseconds at) override;
  void set_path(TrafficId flow, std::uint8_t offset, Picoseconds at) override;
  void open_on(std::uint8_t offset) override { opens_on_ = offset; }
  [[nodiscard]] std::vector<TrafficId> ids() const override;
  [[nodiscard]] std::uint8_t path(TrafficId flow) const override {
    return flows_[flow.raw()].spec.path_offset.value_or(flows_[flow.raw()].path);
  }
  void set_schedule(FlowSchedule* schedule) override { schedule_ = schedule; }
  void advance(Picoseconds at) override { catch_up(at); }
  [[nodiscard]] std::optional<Picoseconds> next_event() const override;
  void postpone(Picoseconds by) override;
  [[nodiscard]] const ForwardingView& view() const override { return view_; }
  [[nodiscard]] const TrafficFlow& flow(TrafficId id) const override { return flows_[id.raw()].spec; }
  [[nodiscard]] BitRate rate(TrafficId flow, Picoseconds at) override;
  [[nodiscard]] FlowFigures figures(Picoseconds at) override;

  // Figures at `at`, after all changes made so far.
  [[nodiscard]] RouteEnd route_end(TrafficId flow, Picoseconds at);
  [[nodiscard]] BitRate sent(PortIndex port, Picoseconds at);
  /// Share of time that data waits at the port.
  [[nodiscard]] Ratio waiting(PortIndex port, Picoseconds at);

  // CounterSource
  [[nodiscard]] PortTotals read(PortIndex port, Picoseconds now) override;
  [[nodiscard]] VlTotals read_vls(PortIndex port, Picoseconds now) override;
  [[nodiscard]] std::uint32_t queue_depth(PortIndex port, Vl vl, Picoseconds now) override;
  [[nodiscard]] Picoseconds queue_delay(PortIndex port, Vl vl, Picoseconds now) override;

  // ChangeListener
  void changed(const Change& change, Picoseconds at) override;

 private:
  struct Flow {
    TrafficFlow spec;
    FlowId in_net{0xffffffffU};
    RouteEnd end = RouteEnd::NoRoute;
    Lid to_lid;  ///< that its route was traced for
    bool alive = false;
    std::uint8_t path = 0;       ///< of one that has no offset of its own
    bool rate_is_stale = false;  ///< stands in changed_
    std::uint32_t to_seat = 0;   ///< position in by_destination_[spec.to]
    std::uint64_t wanted = 0;    ///< rates in MeterBank units, as they stand in the meters
    std::uint64_t rate = 0;
    std::uint64_t held = 0;
    RouteHop held_at{no_port, Vl{0}};
  };

  /// One VL of one port: a channel of the solver, by its number.
  struct Channel {
    PortIndex port;
    Vl vl;
    std::uint32_t next;  ///< of the same port
  };
  static constexpr std::uint32_t no_more = 0xffffffffU;

  void catch_up(Picoseconds at);
  void solve();
  void update_net();
  enum class Step : std::uint8_t { Full, Half };
  bool share_between_vls(Step step);
  bool divide(PortIndex port, Step step);
  bool give(std::uint32_t channel, double capacity);
  [[nodiscard]] std::uint32_t channel_of(RouteHop hop, std::size_t position);
  [[nodiscard]] double room(PortIndex port, Vl vl) const;
  void flush();
  [[nodiscard]] std::uint64_t wanted(const TrafficFlow& flow) const;
  [[nodiscard]] Lid destination(const Flow& flow) const;
  void trace(Flow& flow);
  void retrace(std::uint32_t flow);
  void retrace_gathered();
  void gather(PortIndex port);
  void gather_into(NodeIndex node);
  void keep_gathered_of(std::uint32_t block);
  void refresh_port(PortIndex port);
  void enter(std::uint32_t flow);
  void leave(std::uint32_t flow);
  void account(std::uint32_t flow, std::uint64_t rate, std::uint64_t held, RouteHop held_at);
  void account_loss(const Flow& flow, std::int64_t rate);
  void account_net(std::uint32_t flow);
  void note_port(PortIndex port);
  void refresh_waits(PortIndex port);

  const ForwardingView& view_;
  FlowPlaneOptions options_;
  FlowSchedule* schedule_ = nullptr;
  bool schedule_runs_ = false;
  Picoseconds stood_still_{0};
  Picoseconds now_{0};

  std::vector<PortIndex> peer_;  ///< per port; no_port without a cable
  MaxMin net_;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> first_channel_;  ///< per port
  std::vector<PortIndex> mixed_;              ///< ports that have had flows on several VLs
  std::vector<std::uint8_t> stage_;           ///< per port: how many ports a flow crosses before it, at most
  VlShares shares_;
  MeterBank meters_;
  MeterBank totals_{1};  ///< of all flows, on a port of its own: Data delivered, Discard lost

  std::vector<Flow> flows_;
  RowPool<RouteHop> hops_;  ///< per flow
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> of_net_;      ///< our flow for each of the solver's
  RowPool<std::uint32_t> by_destination_;  ///< per port
  std::size_t count_ = 0;
  std::uint8_t opens_on_ = 0;
  std::size_t unroutable_ = 0;
  std::size_t into_off_link_ = 0;
  std::uint64_t wanted_ = 0;

  bool net_is_stale_ = false;
  std::vector<std::uint32_t> changed_;   ///< flows whose rate in the solver is another
  std::vector<std::uint32_t> gathered_;  ///< flows whose route may have changed
  std::vector<PortIndex> noted_;         ///< ports whose waits have to be computed again
  std::vector<std::uint8_t> is_noted_;
  RouteTrace trace_;
  std::vector<ChannelId> path_;
};

}  // namespace heddle::sim
