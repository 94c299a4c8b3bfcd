/// The packet-level data plane: discrete events on hosts, links and switches, one packet at a time.
///
/// Virtual cut-through with credits per VL. What happens in one cycle happens in three phases: (1) arrivals,
/// credits, generation; (2) allocation: each input with a ready header asks for one output (VA: round robin
/// over the VLs whose output could take the packet), each output that was asked takes one input (SA: round
/// robin over inputs); (3) each link that is idle lets its scheduler choose a packet (OB), for all of which
/// there must be room at the far end. A header moves stage by stage, the rest of the packet follows
/// without gaps, on links at one flit a cycle, through crossbars at their speed as far as it has come: that
/// is why packets are enough, and a flit-by-flit model (tests/support/flit_model.h) gives the same times to
/// the cycle.
///
/// No global state, no clock: `run_until` goes to a cycle, and between two calls links may be switched and
/// tables replaced. One thread; many runs may go on in parallel, each with its own object. One object may
/// also be a part of a run that several threads carry out (parallel_sim.h): then it handles only what happens
/// in its part of the fabric, and shares the network with the other parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/packet/border.h"
#include "sim/packet/measure.h"
#include "sim/packet/network.h"
#include "sim/packet/scheduler.h"
#include "sim/packet/traffic.h"

namespace heddle::packet {

struct Send {
  std::uint32_t source = 0;  ///< host numbers
  std::uint32_t target = 0;
  std::int32_t flits = 1;
  std::uint8_t sl = 0;
  std::uint8_t path = 0;   ///< added to the base LID of the target (LMC)
  std::uint32_t salt = 0;  ///< for the random choices along the way
  std::uint64_t tag = 0;   ///< handed back on delivery
};

struct Delivery {
  Cycle at = 0;  ///< of the last flit
  Cycle created = 0;
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  std::uint8_t sl = 0;
  std::int32_t flits = 0;
  std::uint64_t tag = 0;
};

/// Told of every message that has arrived whole; may call PacketSim::send.
class DeliveryListener {
 public:
  virtual ~DeliveryListener() = default;
  virtual void delivered(const Delivery& delivery) = 0;
};

/// A flow between two hosts that may change while it runs: messages at equal intervals, held back while as
/// many as `window` are under way, as a queue pair of limited depth does.
struct Stream {
  std::uint32_t source = 0;  ///< host numbers
  std::uint32_t target = 0;
  std::uint8_t sl = 0;
  std::uint8_t path = 0;   ///< as in Send
  std::int32_t flits = 1;  ///< of a message
  std::uint32_t window = 16;
  double interval = 0;  ///< cycles from one message to the next, 1 or more; infinite: silence
};
using StreamId = Id<struct StreamIdTag, std::uint32_t>;

class PacketSim {
 public:
  /// Errors: Invalid for a scheduler's tables.
  static Result<PacketSim> make(Network network);
  /// One part of a run. Precondition: fewer than `division->parts`; send(), add_stream() and listen() are not
  /// for parts.
  static Result<PacketSim> make_part(std::shared_ptr<Network> network,
                                     std::shared_ptr<const Division> division, std::uint8_t part);

  [[nodiscard]] Cycle now() const { return wheel_.now(); }
  [[nodiscard]] std::uint32_t host_count() const { return static_cast<std::uint32_t>(net_.hosts.size()); }
  [[nodiscard]] const Network& network() const { return net_; }

  /// Handles everything before cycle `end`; now() is `end` then.
  void run_until(Cycle end);
  /// Handles everything until nothing is pending or cycle `end` is reached; says which cycle it came to.
  Cycle run_until_idle(Cycle end);
  [[nodiscard]] bool idle() const { return wheel_.pending() == 0; }

  /// Precondition: at >= now(), source and target are different hosts, sl < 32, flits > 0.
  void send(const Send& what, Cycle at);
  /// Precondition: check(traffic, host_count()) passed.
  void add_traffic(const TrafficClass& traffic, std::uint64_t seed);
  /// Precondition: as send(). The first message leaves at `first`.
  StreamId add_stream(const Stream& stream, Cycle first);
  void set_interval(StreamId stream, double cycles);
  void set_path(StreamId stream, std::uint8_t path) { streams_[stream.raw()].what.path = path; }
  /// What is under way goes on; the number may be used again.
  void remove_stream(StreamId stream);
  [[nodiscard]] std::uint64_t delivered_flits(StreamId stream) const {
    return streams_[stream.raw()].delivered_flits;
  }
  void listen(DeliveryListener* listener) { listener_ = listener; }

  /// Both directions. A link that closes breaks the packets on it. A link stays open or closed for longer
  /// than its flight and one packet take.
  void set_link(LinkIndex link, bool open);
  /// What a link carries when it is opened next: nothing of its old rate may be under way. Slower than the
  /// fastest link of the fabric it takes a whole number of cycles for a flit.
  void set_rate(LinkIndex link, BitRate rate);
  /// The forwarding tables as they are programmed from here on. Precondition: same switches in the same
  /// order.
  void set_forwarding(routing::ForwardingTables tables) { net_.programming.forwarding = std::move(tables); }
  /// One entry of them. Precondition: the LID lies within the tables.
  void set_route(routing::SwitchIndex at, Lid lid, PortNum port) {
    net_.programming.forwarding.set(at, lid, port);
  }
  /// SL2VL of a node from here on, as in Programming::sl2vl. Precondition: the network was built with tables.
  void set_sl_to_vl(NodeIndex node, std::vector<Vl> table) {
    net_.programming.sl2vl[node.raw()] = std::move(table);
  }
  /// Tables of one output port. Precondition: its scheduler is InfiniBand's.
  void set_arbitration(PortIndex port, const qos::VlArbitration& tables);

  /// Cuts the warm-up: what is delivered from here on counts.
  void start_measuring();
  [[nodiscard]] const Measurements& measurements() const { return measurements_; }
  [[nodiscard]] const Totals& totals() const { return totals_; }
  /// By PortIndex of the sending end: counts since start_measuring, stall time up to now.
  [[nodiscard]] PortCount count(PortIndex port) const;
  /// Precondition: DataPlane::count_lanes.
  [[nodiscard]] LaneCount lane_count(PortIndex port, unsigned vl) const;
  /// In the output buffer, or of a host in the source queue.
  [[nodiscard]] std::int64_t queued_flits(PortIndex port, unsigned vl);
  [[nodiscard]] std::size_t packets_in_flight() const { return packets_.live(); }
  [[nodiscard]] std::size_t messages_in_flight() const { return messages_.live(); }
  /// The most packets and messages that were in flight at once.
  [[nodiscard]] std::size_t peak_packets() const { return packets_.peak(); }
  [[nodiscard]] std::size_t peak_messages() const { return messages_.peak(); }

  // parallel_sim.cc asks these of parts
  /// Handles everything before `end`, and stays where it is then.
  void run_window(Cycle end);
  /// The earliest that is known to happen, in this part or by what it wrote to the others in this turn.
  [[nodiscard]] Cycle next_event() const { return std::min(wheel_.next(), border_.earliest); }
  /// What is written from here on belongs to this turn.
  void begin_turn(unsigned turn) {
    border_.turn = turn;
    border_.earliest = never;
  }
  /// Reads what `from` wrote to this part in a turn, and takes it away.
  void take_in(PacketSim& from, unsigned turn);
  /// LinkState::up of this port has changed. The serial of a packet whose tail that cut off, if there is one:
  /// its header may be in another part by now.
  std::optional<std::uint32_t> link_changed(std::uint32_t port);
  /// That packet, if it is here.
  void break_packet(std::uint32_t serial);

 private:
  explicit PacketSim(std::shared_ptr<Network> network);
  Result<void> add_schedulers();

  void cycle();
  void handle(Event event);

  // expectation.cc: what will be touched soon is fetched from memory
  void expect(Event event) const;
  void expect_more(Event event) const;
  void expect_requests(std::size_t position) const;
  void expect_grants(std::size_t position) const;
  void expect_transmissions(std::size_t position) const;

  // arrivals.cc: phase 1
  void header(std::uint32_t packet);
  bool route(Packet& packet, const Input& input);
  [[nodiscard]] std::uint32_t output_in_hierarchy(const SwitchElement& at, const Input& input,
                                                  std::uint32_t out) const;
  std::uint32_t upward(const Packet& packet, const SwitchElement& at, std::uint32_t programmed);
  std::uint32_t along_trunk(const Packet& packet, std::uint32_t programmed);
  [[nodiscard]] std::uint8_t lane_in_turn(std::uint8_t sl, std::uint8_t& turn) const;
  void enqueue(std::uint32_t packet, std::uint32_t input);
  void stored(std::uint32_t packet);
  void credit(std::uint32_t pool, std::uint32_t data);
  void drop(std::uint32_t packet, std::uint64_t& reason);
  void return_room(const Input& input, Cycle at, std::uint32_t data);
  /// When the link behind a port closed last, if that was after `sent`; else `never`.
  [[nodiscard]] Cycle closed_after(Cycle sent, std::uint32_t port) const {
    if (last_close_ <= sent || net_.ports[port].last_down <= sent) return never;
    return net_.ports[port].last_down;
  }

  // allocation.cc: phase 2
  void ask(std::uint32_t input);
  void allocate();
  void request_all();
  void request(std::uint32_t input);
  void request_again(std::uint32_t input);
  [[nodiscard]] LaneMask may_ask(const Input& input) const;
  void put_off(const std::vector<std::uint32_t>& losers);
  [[nodiscard]] Cycle earliest_retry(const Input& input, LaneMask lanes) const;
  [[nodiscard]] Cycle next_request(const Input& input) const;
  void pass_turn(Input& input, unsigned vl) const;
  void request_output(std::uint32_t input, std::uint32_t output);
  void serve_outputs();
  void serve_lanes(std::uint32_t output, std::size_t begin, std::size_t end);
  bool can_take(const Output& output, const Input& input, const Packet& packet);
  bool can_take_head(std::uint32_t input, std::uint32_t output);
  static std::int32_t room_needed(const Output& output, const Input& input, const Packet& packet);
  void grant(std::uint32_t input, std::uint32_t output);
  struct Crossing {
    Cycle room_at;  ///< when the first flit of room begins to come back
    Cycle end;      ///< from here on input and output may be given to another packet
  };
  [[nodiscard]] Crossing cross(const Input& input, const Packet& packet) const;
  void ask_next_cycle(std::uint32_t input);
  void wait_for(std::uint32_t output, const Input& input, const Packet& packet);
  void wake_output_at(std::uint32_t output, Cycle at);
  void wake_input_at(std::uint32_t input, Cycle at);
  void wake_waiters(std::uint32_t output);

  // transmission.cc: phase 3
  void ready_to_send(std::uint32_t port);
  void wake_port_at(std::uint32_t port, Cycle at);
  void transmit(std::uint32_t port);
  std::optional<unsigned> choose(std::uint32_t port, LaneMask eligible, const HeadFlits& heads);
  void put_on_link(std::uint32_t port, unsigned vl);
  void leave(std::uint32_t packet, std::uint32_t input, Cycle at);
  [[nodiscard]] std::int32_t head_flits(const Port& port, unsigned vl) const;
  void watch_lifetime(std::uint32_t port);
  void lifetime(std::uint32_t port);
  void discard_head(std::uint32_t port, unsigned vl);
  LaneCount& lane_of(std::uint32_t port, unsigned vl) {
    return net_.lane_counts[std::size_t{port} * static_cast<unsigned>(net_.plane.vls) + vl];
  }
  void begin_lane_stall(std::uint32_t port, unsigned vl);
  void end_lane_stall(std::uint32_t port, unsigned vl);

  // hosts.cc
  void generate(std::uint32_t source);
  void generate_stream(std::uint32_t stream, std::uint32_t source);
  void stream_message_ended(std::uint32_t source, std::int32_t flits, bool whole);
  void schedule_stream(std::uint32_t stream, Cycle at);
  std::uint32_t make_message(const Send& what, Cycle at);
  void inject(std::uint32_t message);
  std::uint32_t make_packet(std::uint32_t port, unsigned vl);
  void deliver(std::uint32_t packet);
  void settle(const Packet& packet, bool whole);
  void settle_message(const Mail::Ended& ended);
  [[nodiscard]] std::uint32_t target_of(const Packet& packet) const;
  void close(std::uint32_t port);
  std::optional<std::uint32_t> break_tail(std::uint32_t port);
  /// In this part.
  [[nodiscard]] bool here(std::uint32_t port) const {
    return !border_.division || border_.division->of_port[port] == part_;
  }

  struct HostSource {
    std::uint32_t traffic;  ///< of a stream: nothing
    std::uint32_t host;     ///< of a stream: its number
  };
  struct RunningStream {
    Stream what;
    std::uint32_t source = 0;  ///< in sources_
    std::uint32_t under_way = 0;
    std::uint64_t made = 0;
    std::uint64_t delivered_flits = 0;
    double due = 0;      ///< the exact time of the next message
    Cycle next_at = -1;  ///< when it is made; -1: nothing is scheduled
    bool held = false;   ///< by its window
    bool alive = true;
  };

  std::shared_ptr<Network> shared_;
  Network& net_;
  Border border_;  ///< of the whole: without a division
  std::uint8_t part_ = 0;
  std::uint32_t serials_ = 0;  ///< of the next packet; no two parts give the same
  Wheel wheel_;
  Slab<Packet> packets_;
  Slab<Message> messages_;
  std::vector<std::uint32_t> asking_;                              ///< inputs
  std::vector<std::uint32_t> asked_;                               ///< outputs
  Cycle last_close_ = -1;                                          ///< of any link
  std::uint64_t pass_ = 0;                                         ///< of allocation, over the whole run
  std::vector<std::uint32_t> losers_;                              ///< inputs that were not taken
  std::vector<std::pair<std::uint32_t, std::uint32_t>> requests_;  ///< output, input: where there are ties
  std::vector<std::uint32_t> sending_;                             ///< ports
  Scheduler switch_scheduler_;
  Scheduler host_scheduler_;
  std::vector<TrafficSource> traffic_;
  std::vector<HostSource> sources_;
  std::vector<RunningStream> streams_;
  std::vector<std::uint32_t> free_streams_;
  Measurements measurements_;
  Totals totals_;
  DeliveryListener* listener_ = nullptr;
};

}  // namespace heddle::packet
