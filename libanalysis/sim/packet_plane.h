/// The data plane at packet level under a running control plane: flows become packets that find their way by
/// the tables, states, SL2VL and arbitration that MADs programmed, and what they do at each port is what the
/// counters show. For fabrics of some hundred hosts, mostly in slowed-down time.
///
/// - A flow is messages of one packet at equal intervals, as many under way as a window allows; what that
///   holds back is not made up for.
/// - Data and packets of a port are counted when a packet begins to leave it; PortXmitWait while it has a
/// packet
///   and no credits for it; discards at ports that are not Active, or after the lifetime at the head of a
///   queue.
/// - Hosts are told apart by themselves, not by LID: a LID that is changed holds at once for what is under
/// way.
///   Paths reach up to 7 beyond the base LID (LMC 3); a flow on another one stays silent.
/// - A link keeps the rate that it had when it became Active; a packet takes a whole number of cycles for a
/// flit.
/// - Within a simulated millisecond no more than `events_per_ms` events are carried out, if that is given;
/// for
///   the rest of it traffic stands still, and FlowFigures says for how long. Same calls, same result.
///
/// Time never goes back. One thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/flow/flow_schedule.h"
#include "sim/flow/forwarding_view.h"
#include "sim/packet/packet_sim.h"
#include "sim/traffic_plane.h"

namespace heddle::sim {

struct PacketPlaneOptions {
  int data_vls = 8;
  std::int32_t packet_bytes = 4096;  ///< of every packet
  std::int32_t packets_per_vl = 4;   ///< room in each buffer: inputs, outputs, hosts
  std::uint32_t window = 16;         ///< packets of a flow that are under way at a time
  /// HOQ lifetime of switch ports: 4.096 us x 2^18 (IBA 14.2.5.6), as subnet managers set it.
  Picoseconds head_lifetime{1'073'741'824'000};
  std::uint64_t events_per_ms = 0;  ///< 0: as many as there are
};

class PacketPlane final : public TrafficPlane {
 public:
  /// The view must outlive the plane. Errors: Invalid for a fabric without hosts, or whose fastest link has
  /// no rate.
  static Result<std::unique_ptr<PacketPlane>> make(const ForwardingView& view,
                                                   const PacketPlaneOptions& options = {});

  // TrafficPlane. add: Unsupported for traffic to a switch.
  Result<TrafficId> add(const TrafficFlow& flow, Picoseconds at) override;
  void remove(TrafficId flow, Picoseconds at) override;
  void set_demand(TrafficId flow, BitRate demand, Picoseconds at) override;
  void set_path(TrafficId flow, std::uint8_t offset, Picoseconds at) override;
  void open_on(std::uint8_t offset) override { opens_on_ = offset; }
  [[nodiscard]] std::vector<TrafficId> ids() const override;
  [[nodiscard]] std::uint8_t path(TrafficId flow) const override { return path(flows_[flow.raw()]); }
  void set_schedule(FlowSchedule* schedule) override { schedule_ = schedule; }
  void advance(Picoseconds at) override { catch_up(at); }
  [[nodiscard]] std::optional<Picoseconds> next_event() const override;
  [[nodiscard]] const ForwardingView& view() const override { return view_; }
  [[nodiscard]] const TrafficFlow& flow(TrafficId id) const override { return flows_[id.raw()].spec; }
  /// Over the last whole simulated millisecond.
  [[nodiscard]] BitRate rate(TrafficId flow, Picoseconds at) override;
  [[nodiscard]] FlowFigures figures(Picoseconds at) override;

  // CounterSource
  [[nodiscard]] PortTotals read(PortIndex port, Picoseconds now) override;
  [[nodiscard]] VlTotals read_vls(PortIndex port, Picoseconds now) override;
  [[nodiscard]] std::uint32_t queue_depth(PortIndex port, Vl vl, Picoseconds now) override;
  [[nodiscard]] Picoseconds queue_delay(PortIndex port, Vl vl, Picoseconds now) override;

  // ChangeListener
  void changed(const Change& change, Picoseconds at) override;

  [[nodiscard]] const packet::PacketSim& simulator() const { return sim_; }

 private:
  struct Flow {
    TrafficFlow spec;
    packet::StreamId stream;
    std::uint64_t flits_before = 0;  ///< delivered when the last millisecond began
    BitRate rate;
    std::uint8_t path = 0;  ///< of a flow without an offset of its own
    bool alive = false;
  };

  PacketPlane(const ForwardingView& view, const PacketPlaneOptions& options, packet::PacketSim sim);

  void catch_up(Picoseconds at);
  void run_to(Picoseconds at);
  void run_slice(Picoseconds to);
  void end_millisecond();
  [[nodiscard]] bool active() const;
  [[nodiscard]] static std::uint8_t path(const Flow& flow) {
    return flow.spec.path_offset.value_or(flow.path);
  }
  [[nodiscard]] double interval(const Flow& flow) const;
  [[nodiscard]] Result<std::uint32_t> host(PortIndex port) const;

  void program();
  void program_row(std::uint32_t element);
  void set_state(PortIndex port);
  void note_node(NodeIndex node, std::vector<NodeIndex>& nodes);

  const ForwardingView& view_;
  PacketPlaneOptions options_;
  packet::PacketSim sim_;
  Picoseconds cycle_;
  FlowSchedule* schedule_ = nullptr;
  bool schedule_runs_ = false;
  Picoseconds now_{0};
  Picoseconds stood_still_{0};
  bool stands_still_ = false;        ///< until the end of this slice of time
  std::uint64_t events_before_ = 0;  ///< when this millisecond began

  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_;
  std::size_t count_ = 0;
  std::uint8_t opens_on_ = 0;
  std::uint64_t added_ = 0;                  ///< flows, ever
  std::vector<std::uint32_t> host_of_port_;  ///< by PortIndex; packet::nothing where there is none
  std::vector<std::uint32_t> element_of_node_;
  std::vector<NodeIndex> stale_rows_;   ///< switches whose forwarding table has changed
  std::vector<NodeIndex> stale_lanes_;  ///< nodes whose SL2VL has changed
  std::vector<PortIndex> stale_arbitration_;
  bool all_rows_stale_ = true;
};

}  // namespace heddle::sim
