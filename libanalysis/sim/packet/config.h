/// What the data plane of a packet-level run is made of: switch model, delays of its stages, buffers,
/// schedulers, rules for rings and trees. Together with the fabric, the programmed tables and the traffic it
/// defines a run.
///
/// Delays are in cycles of the run's clock, room in flits. The stages bear the names of the thesis'
/// simulators: INJ, IB, RT, VA and SA (together AT), X, OB, FLY.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "qos/iba_arbiter.h"
#include "qos/simple_arbiters.h"
#include "routing/tables.h"
#include "sim/packet/wheel.h"

namespace heddle::packet {

enum class SwitchModel : std::uint8_t {
  InfiniBand,  ///< one k x k crossbar
  OmniPath,    ///< MPorts of four ports, each with a 4 : 6 crossbar, and a central buffered crossbar between
               ///< them
};

/// Header latency without contention across one switch and the link behind it, stage by stage.
struct StageDelays {
  int injection = 0;   ///< INJ: in a host, from the source queue to its output buffer
  int input = 1;       ///< IB: storing the header at the input (SB of the Omni-Path-like switch)
  int routing = 1;     ///< RT: table look-up
  int allocation = 1;  ///< AT: VA and SA, once per crossbar
  int crossbar = 1;    ///< X: once per crossbar
  int output = 1;      ///< OB: storing the header at the output (SB)
  int flight = 1;      ///< FLY: on the link
  int credit = 1;      ///< from the reading of a flit at the far input until its room is known here
};

/// The thesis' Omni-Path-like switch: cycles of 1.6 GHz, 64-bit flits (facts/simulator.md 2).
[[nodiscard]] constexpr StageDelays omni_path_delays() {
  return {.injection = 0,
          .input = 50,
          .routing = 32,
          .allocation = 8,
          .crossbar = 2,
          .output = 50,
          .flight = 8,
          .credit = 8};
}

/// How the room of a buffer is divided between VLs, as parts of an equal share: 1 and 1 make private buffers.
struct Sharing {
  double least = 1;
  double greatest = 1;
};

/// Against deadlock in a torus under dimension order.
enum class RingRule : std::uint8_t {
  None,
  Bubble,    ///< a packet enters a ring only where two packets fit (thesis)
  DateLine,  ///< two VLs per SL: a packet that has crossed its ring's date line goes on the upper one
};

/// Which of a tree switch's upward links a packet takes.
enum class UpRouting : std::uint8_t {
  Programmed,  ///< what the forwarding table says
  Valiant,     ///< a random one among the minimal ones, drawn when the packet is made
  Adaptive,    ///< among the minimal ones, that whose output buffer has most room
};

/// Which of several links between two switches a packet takes.
enum class TrunkRouting : std::uint8_t {
  Programmed,  ///< what the forwarding table says
  PerMessage,  ///< a random one, drawn when the message is made, so that its packets keep their order
  Adaptive,    ///< that whose output buffer has most room
};

/// Who decides what an output buffer takes next, where several crossbars fill it (Omni-Path-like).
enum class OutputArbiter : std::uint8_t {
  PerCrossbar,  ///< each crossbar for itself: the MPort's and the central one may both send to it at once
  One,          ///< one for all that feed it: the inputs of its MPort and all central buffers
};

/// VA: which of an input's VLs with a ready header asks for its output.
enum class VirtualAllocation : std::uint8_t {
  Ready,  ///< the next whose output is idle and has room
  Blind,  ///< the next, whatever its output does; it loses its turn if it cannot go
};

/// What happens to packets that wait for a link that is off.
enum class ClosedLink : std::uint8_t {
  Discard,  ///< at once
  Hold,     ///< they wait until it comes back, or their lifetime at the head of the queue ends
};

enum class Discipline : std::uint8_t { RoundRobin, InfiniBand, SimpleTable, DeficitTable };

struct TableEntry {
  std::uint8_t lane = 0;  ///< VL, or SL where the scheduler works per SL
  std::uint32_t weight = 0;
};

/// An output scheduler: of the ports of switches, or of hosts. The machines are those of qos/.
struct SchedulerConfig {
  Discipline discipline = Discipline::RoundRobin;
  std::vector<TableEntry> high{};  ///< InfiniBand's high-priority table; the table of the other two
  std::vector<TableEntry> low{};   ///< InfiniBand only
  std::uint8_t high_limit = 1;     ///< InfiniBand only: LimitOfHighPriority
  qos::LowGrant low_grant = qos::LowGrant::Entry;
  qos::Rounding rounding = qos::Rounding::Units;
  qos::SbtRestore restore = qos::SbtRestore::AllUsedUp;
};

inline constexpr int greatest_speed = 8;  ///< of a crossbar, flits a cycle: Pools counts them in 3 bits

struct DataPlane {
  SwitchModel model = SwitchModel::InfiniBand;
  /// Of the clock. A link that is slower than the fastest takes a whole number of cycles for a flit.
  Picoseconds cycle{5120};  // a 64-byte flit at 12.5 GByte/s
  int flit_bytes = 64;
  int vls = 1;
  StageDelays delays;
  std::int32_t input_flits = 256;    ///< per switch port
  std::int32_t output_flits = 256;   ///< per switch port
  std::int32_t central_flits = 512;  ///< per MPort
  std::int32_t host_flits = 256;     ///< per host, on its receiving side
  Sharing sharing;
  /// Of VA and SA in a cycle: inputs that were not taken may ask for another output in the next pass.
  int allocation_passes = 1;
  /// Packets that an input port can send through its crossbar at once.
  int input_lanes = 1;
  /// Packets that an output can take from the crossbar at once; as many as inputs make an output-queued
  /// switch.
  int output_lanes = 1;
  /// Flits a cycle that each packet crosses with. It holds input and output for its flits divided by this,
  /// rounded up, but not for less than until its last flit has come.
  int crossbar_speed = 1;  ///< InfiniBand
  int mport_speed = 1;     ///< Omni-Path-like: from the inputs of an MPort, whatever the destination
  int central_speed = 1;   ///< Omni-Path-like: from a central buffer
  OutputArbiter output_arbiter = OutputArbiter::PerCrossbar;
  VirtualAllocation virtual_allocation = VirtualAllocation::Ready;
  /// Cycles until a header that asked and was not taken may ask again: what allocation costs it once more. 0:
  /// in the next pass or cycle. With blind VA it is one at least.
  Cycle allocation_retry = 0;
  std::array<std::uint8_t, 32> sl_to_vl{};  ///< where no SL2VL table is given
  /// By SL: VLs that its packets take in turn, at each input and at each host, in place of sl_to_vl (an SL
  /// with several SCs). Empty for none.
  std::vector<std::vector<std::uint8_t>> sl_turns;
  RingRule ring_rule = RingRule::None;
  UpRouting up_routing = UpRouting::Programmed;
  TrunkRouting trunk_routing = TrunkRouting::Programmed;
  ClosedLink closed_link = ClosedLink::Discard;
  bool count_lanes = false;  ///< PacketSim::lane_count is wanted
  Cycle head_lifetime = 0;   ///< HOQ lifetime, 0 for none; IBA gives it as 4.096 us x 2^HOQLife (14.2.5.6)
  std::int32_t max_packet = 64;           ///< flits of the largest packet
  std::array<std::int32_t, 32> sl_mtu{};  ///< flits of the largest packet of an SL (SL_MTU); 0: max_packet
  SchedulerConfig switch_scheduler;
  SchedulerConfig host_scheduler;

  /// Flits of the largest packet of any SL.
  [[nodiscard]] std::int32_t largest_packet() const {
    return std::max(max_packet, *std::ranges::max_element(sl_mtu));
  }
};

/// Of an output port that belongs to a ring of a torus: dimension and direction, and whether its link is the
/// date line.
struct RingHop {
  std::uint8_t ring = no_ring;
  bool date_line = false;
  static constexpr std::uint8_t no_ring = 0xff;
};

/// What was programmed into the fabric: nothing else routes a packet.
struct Programming {
  routing::ForwardingTables forwarding;
  /// By NodeIndex; VL by (input port x (ports + 1) + output port) x 16 + SL, input port 0 for what a host
  /// sends. Empty: DataPlane::sl_to_vl.
  std::vector<std::vector<Vl>> sl2vl;
  /// By PortIndex; empty where the fabric is no torus.
  std::vector<RingHop> rings;
};

}  // namespace heddle::packet
