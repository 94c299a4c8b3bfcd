/// A fabric as the packet simulator sees it: hosts, crossbar inputs and outputs, senders of links, queues
/// between them.
///
/// Both switch models are crossbars put together. InfiniBand: one per switch, an input and an output for each
/// port. Omni-Path-like: one per MPort of four ports, whose six outputs are its four ports and two links to
/// the central crossbar, and the central one, whose inputs are buffered. A link is a sender (`Port`: a switch
/// port's output buffer with its scheduler, or a host's source queues with theirs) and what it feeds (an
/// `Input` or a host). Elements are numbered densely and lie in flat arrays; what changes during a run lies
/// in them too, for speed. Built once from a configuration that has been checked; only the engine of the run
/// touches it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "sim/packet/config.h"
#include "sim/packet/packet.h"
#include "sim/packet/pool.h"

namespace heddle::packet {

/// First in, first out, of packets.
struct Queue {
  std::uint32_t head = nothing;
  std::uint32_t tail = nothing;
};

/// At the sender of a link: of packets at switches, of messages at hosts.
struct PortQueue : Queue {
  Cycle since = 0;  ///< when the head came to the head, at a switch
};

/// One input of a crossbar, with a queue for each VL.
struct alignas(cache_line) Input {
  Cycle free_at = 0;  ///< with one lane
  Cycle wake_at = -1;
  Cycle last_tail = -1;
  std::uint32_t first_queue = 0;
  std::uint32_t ready = 0;  ///< VLs that have a header ready
  std::uint32_t pool = 0;   ///< the room that its flits give back
  std::uint32_t at_switch = 0;
  std::uint32_t first_output = 0;       ///< of its crossbar
  std::uint32_t feeder = nothing;       ///< the port that sends to it; nothing for a central input
  std::uint32_t last_packet = nothing;  ///< the last whose header came, until `last_tail`
  std::uint32_t last_serial = 0;
  std::uint8_t place = 0;  ///< within its crossbar
  std::uint8_t lanes = 1;  ///< packets that it can send through the crossbar at once
  std::uint8_t busy = 0;   ///< with more than one lane
  std::uint8_t next_vl = 0;
  std::uint8_t request_vl = 0;
  std::uint8_t ring = RingHop::no_ring;
  std::uint8_t number = 0;  ///< port number of the switch
  bool central : 1 = false;
  bool queued : 1 = false;  ///< for allocation in this cycle
  bool abroad : 1 = false;  ///< its feeder is in another part of the fabric
};
static_assert(sizeof(Input) == cache_line);

struct alignas(cache_line) Output {
  Cycle free_at = 0;
  Cycle wake_at = -1;
  std::uint64_t request_pass = 0;
  std::uint32_t pool = 0;
  std::uint32_t target = 0;  ///< a Port, or a central Input
  std::uint32_t first_input = 0;
  std::uint32_t waiters = 0;     ///< position of its bit set of inputs
  std::uint32_t best = nothing;  ///< the input that wins this cycle so far
  std::int32_t spare = 0;  ///< room that must be left for another packet when one enters a ring here (bubble)
  std::uint16_t best_distance = 0;
  std::uint16_t last = 0;    ///< place of the input that was served last
  std::uint16_t inputs = 0;  ///< of its crossbar
  std::uint16_t lanes = 1;
  std::uint16_t busy = 0;
  std::uint8_t ring = RingHop::no_ring;
  bool central : 1 = false;    ///< leads into a central input
  bool waited : 1 = false;     ///< for anything: its bit set is not empty
  bool room_wait : 1 = false;  ///< some input waits for room
};
static_assert(sizeof(Output) == cache_line);

/// The sending end of a link. What every packet touches is in its first cache line.
struct alignas(cache_line) Port {
  Cycle free_at = 0;
  Cycle wake_at = -1;
  Cycle stalled_since = -1;
  std::uint32_t first_queue = 0;
  std::uint32_t ready = 0;                        ///< VLs that have something to send
  std::uint32_t pool = nothing;                   ///< its output buffer; nothing for a host
  std::uint32_t room = nothing;                   ///< the buffer at the far end
  std::uint32_t far = nothing;                    ///< Input, or host
  std::uint32_t outputs[2] = {nothing, nothing};  ///< crossbar outputs that lead into it
  std::uint32_t scheduled_as = 0;                 ///< its number with its scheduler
  std::int32_t flight = 1;                        ///< FLY
  std::int16_t flit_cycles = 1;
  std::uint8_t number = 0;
  bool host_side : 1 = false;  ///< sends from source queues
  bool to_host : 1 = false;
  bool credit_wait : 1 = false;
  bool queued : 1 = false;  ///< for transmission in this cycle
  bool abroad : 1 = false;  ///< what it feeds is in another part of the fabric

  Cycle lifetime_at = -1;
  Cycle last_down = -1;
  std::uint32_t peer = nothing;  ///< the sender of the other direction
  std::uint32_t at_switch = nothing;
  std::uint32_t slot = nothing;  ///< PortIndex
  std::uint32_t host = nothing;  ///< of a host's port
};
static_assert(sizeof(Port) == 2 * cache_line);

/// What routing asks of a port, for all of them in little memory.
struct LinkState {
  bool cabled : 1 = false;
  bool up : 1 = false;
  bool upward : 1 = false;  ///< leads away from the hosts of a tree
  bool date_line : 1 = false;
};

/// A port that leads away from the hosts of a tree.
struct Uplink {
  std::uint32_t port = 0;
  std::uint32_t above = 0;  ///< switch
};

/// The links between the same two switches, as a run of Network::trunk_ports. Count 1: no trunk.
struct Trunk {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
};

struct PortCount {
  std::uint64_t packets = 0;
  std::uint64_t flits = 0;
  std::uint64_t stalled = 0;   ///< cycles in which it had something to send and no credits (PortXmitWait)
  std::uint64_t discards = 0;  ///< packets given up here (PortXmitDiscards)
  std::uint64_t inactive = 0;  ///< of these, for the link was closed
  std::uint64_t broken =
      0;  ///< packets that came broken or not at all over the link behind it (PortRcvErrors there)
  std::uint64_t queued_flits = 0;  ///< sum over packets of flits found in the output buffer at arrival
};

/// The same for one VL of a port.
struct LaneCount {
  std::uint64_t packets = 0;
  std::uint64_t flits = 0;
  std::uint64_t stalled = 0;  ///< cycles in which its head had no credits
  Cycle stalled_since = -1;
};

struct SwitchElement {
  NodeIndex node;
  std::uint32_t first_port = 0;  ///< Port of port number 0, which is never used
  std::uint32_t ports = 0;
  std::uint32_t first_output = 0;  ///< of the crossbar (InfiniBand) or of the central one
  std::uint32_t first_input = 0;   ///< of port number 1
  std::uint32_t row = 0;           ///< SwitchIndex in the forwarding tables
  std::uint32_t first_uplink = 0;
  std::uint32_t uplinks = 0;
};

struct HostElement {
  PortIndex slot;
  Lid lid;
  std::uint32_t port = 0;
  std::uint32_t leaf = nothing;  ///< switch
};

/// Whom room that comes back is for.
struct PoolOwner {
  std::uint32_t id = nothing;  ///< Port, or the crossbar Output that fills a central buffer
  bool central = false;
};

/// Everything that a run needs, at the beginning of time.
struct Network {
  std::shared_ptr<const Fabric> fabric;
  DataPlane plane;
  Programming programming;

  Array<Input> inputs;
  Array<Output> outputs;
  Array<Port> ports;
  std::vector<LinkState> links;  ///< by Port
  Array<PortCount> counts;
  std::vector<LaneCount> lane_counts;  ///< by port x VLs + VL, if they are wanted
  Array<Queue> input_queues;           ///< by Input x VLs + VL
  Array<Cycle> retry_at;               ///< by Input x VLs + VL: when its head may ask again; else empty
  Array<PortQueue> port_queues;        ///< by Port x VLs + VL
  Array<std::uint64_t> waiters;
  std::vector<SwitchElement> switches;
  std::vector<HostElement> hosts;
  Pools pools;
  Array<PoolOwner> pool_owners;
  std::vector<std::uint32_t> host_of_lid;   ///< nothing where there is none
  std::vector<std::uint32_t> port_of_slot;  ///< by PortIndex
  std::vector<Uplink> uplinks;
  std::vector<Trunk> trunks;  ///< by Port, for trunk routing; else empty
  std::vector<std::uint32_t> trunk_ports;
  /// Where SLs have several VLs: whose turn it is, by Input x 32 + SL and, of hosts, by host x 32 + SL.
  Array<std::uint8_t> input_turns;
  Array<std::uint8_t> host_turns;
  Array<std::uint8_t> distance;  ///< by switch x switches + switch, in links, for up-routing; else empty
  /// Flits a cycle that a packet leaves an input with: of a port, and a central one.
  std::array<std::uint8_t, 2> speeds{1, 1};
  bool ties = false;  ///< several packets may enter one queue or buffer in one cycle
};

/// Errors: Invalid for a configuration that makes no network, with the key's name; NotFound for a host
/// without a LID or a switch without a forwarding table.
[[nodiscard]] Result<Network> build_network(std::shared_ptr<const Fabric> fabric, Programming programming,
                                            DataPlane plane);

}  // namespace heddle::packet
