/// A fabric that answers management packets: the control plane of the simulator (spec: IBA 13, 14, 16). MAD
/// bytes are the only way to change it, faults apart, so whatever manages hardware can manage this.
///
/// Time is an argument: picoseconds since the start, never going back. One thread. Nothing is delivered from
/// within send(): answers, traps and forwarded requests come out of advance(), and next_event() says when to
/// call it. Positions (NodeIndex, PortIndex, LinkIndex) are those of the description.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "mad/attributes.h"
#include "mad/packet.h"
#include "sim/change.h"
#include "sim/counter_source.h"
#include "sim/dead_ends.h"
#include "sim/faults.h"
#include "sim/options.h"

namespace heddle::sim {

/// A program with an open port: what sends and receives MADs.
using ClientId = Id<struct ClientIdTag, std::uint32_t>;

enum class IsSm : std::uint8_t { No, Yes };

/// Arbitration of one output port, as programmed. Entries beyond the capability are not used.
struct VlArbitration {
  std::array<mad::VlArbBlock::Entry, 64> low{};
  std::array<mad::VlArbBlock::Entry, 64> high{};
};

class SimulatedFabric {
 public:
  using Receiver = std::function<void(const mad::Packet&, Picoseconds at)>;

  explicit SimulatedFabric(std::shared_ptr<const Fabric> description, const Options& options = {});
  ~SimulatedFabric();
  SimulatedFabric(const SimulatedFabric&) = delete;
  SimulatedFabric& operator=(const SimulatedFabric&) = delete;

  [[nodiscard]] const Fabric& description() const;

  // --- time ---

  /// Carries out what is due and delivers. A receiver may send(), attach() and detach().
  void advance(Picoseconds now);
  /// When advance() has something to do: the present if answers wait. None: only a send() can change
  /// anything.
  [[nodiscard]] std::optional<Picoseconds> next_event() const;
  [[nodiscard]] Picoseconds now() const;

  // --- clients ---

  /// Opens a port of a channel adapter, or port 0 of a switch. Any number of clients may share one.
  /// Errors: Invalid for another port of a switch or port 0 of a channel adapter.
  Result<ClientId> attach(PortIndex port, Receiver receiver);
  void detach(ClientId client);
  /// Sets the IsSM bit of the client's port; SM-class requests and SA requests go to this client.
  /// Errors: Conflict where another client of the port is the SM.
  Result<void> set_is_sm(ClientId client, IsSm is_sm, Picoseconds now);
  /// Requests of classes that no agent of the fabric answers (communication, vendors') go to this client: it
  /// has a whole port's programs behind it. Others would not know what to do with them.
  void take_other_classes(ClientId client);
  /// A MAD enters at the client's port. As the shim of ibsim does, the upper 16 bits of a request's
  /// TID are replaced.
  void send(Picoseconds now, ClientId from, const mad::Packet& packet);

  /// Hands an SMP, or a request for counters, to the agent of a port, without travelling: `port` is one of a
  /// channel adapter or port 0 of a switch. The answer takes its place. False: discarded.
  [[nodiscard]] bool ask(PortIndex port, mad::Bytes& request, Picoseconds now);

  // --- state, as MADs programmed it ---

  [[nodiscard]] const mad::PortInfo& port_info(PortIndex port) const;
  [[nodiscard]] PortGuid port_guid(PortIndex port) const;
  [[nodiscard]] bool alive(NodeIndex node) const;
  /// Both ends Active: data passes.
  [[nodiscard]] bool forwards(PortIndex port) const;
  [[nodiscard]] LinkWidth active_width(PortIndex port) const;
  [[nodiscard]] LinkSpeed active_speed(PortIndex port) const;
  /// The share of what its link brings that the port takes in.
  [[nodiscard]] Ratio intake(PortIndex port) const;
  /// The output port per LID, port 255 or beyond the end for none. Empty for what is not a switch.
  [[nodiscard]] std::span<const PortNum> forwarding_table(NodeIndex node) const;
  /// Whether the switch sends packets to this multicast LID out of the port.
  [[nodiscard]] bool multicasts(NodeIndex node, Lid group, PortNum port) const;
  /// Multicast LIDs of which the switch has an entry, ascending.
  [[nodiscard]] std::vector<Lid> multicast_groups(NodeIndex node) const;
  /// The end port that answers to this LID: of a channel adapter, or port 0.
  [[nodiscard]] PortIndex port_of(Lid lid) const;
  /// `in` means nothing at a channel adapter.
  [[nodiscard]] Vl vl(NodeIndex node, PortNum in, PortNum out, Sl sl) const;
  [[nodiscard]] VlArbitration arbitration(PortIndex port) const;
  /// What PortCountersExtended of the port shows, at full width.
  [[nodiscard]] PortTotals counters(PortIndex port, Picoseconds now) const;
  /// Grows with each change of tables, states or LIDs.
  [[nodiscard]] std::uint64_t generation() const;

  // --- data plane; both must outlive the fabric or be taken away with nullptr ---

  void set_counter_source(CounterSource* source);
  void set_change_listener(ChangeListener* listener);

  // --- faults ---

  void set_traits(NodeIndex node, const NodeTraits& traits);
  void set_mad_faults(const MadFaults& faults);  ///< of all MADs
  void set_agent_faults(NodeIndex node, const AgentFaults& faults);
  void set_redirect(NodeIndex node, std::optional<Redirect> redirect);
  /// The node says that this is its GUID: two nodes with one GUID.
  void set_guid(NodeIndex node, NodeGuid guid);
  /// As if the node had been replaced by another one; it says so when it is asked next.
  void set_device(NodeIndex node, const Device& device);
  /// The port takes no more than this share of what its link brings. Flow level only.
  void set_intake(PortIndex port, Ratio share, Picoseconds now);
  void set_training_delay(LinkIndex link, Picoseconds delay);
  void kill(NodeIndex node, Picoseconds now);
  void revive(NodeIndex node, Picoseconds now);
  void cut(LinkIndex link, Picoseconds now);
  void mend(LinkIndex link, Picoseconds now);
  void flap(LinkIndex link, const Flap& flap, Picoseconds now);
  /// The link trains again, within what its cable carries.
  void limit(LinkIndex link, const CableLimit& limit, Picoseconds now);
  /// Adds to an error counter; thresholds raise traps 129 and 130.
  void add_errors(PortIndex port, ErrorCounter counter, std::uint64_t count, Picoseconds now);
  /// Adds to RcvErrors or XmitDiscards, and to what tells why.
  void add_error_details(PortIndex port, ErrorDetail detail, std::uint64_t count, Picoseconds now);
  /// From here on; what was counted stays.
  void set_bit_errors(PortIndex port, const BitErrors& errors, Picoseconds now);
  /// What the traffic counters read at this moment: to start near saturation or wrap.
  void preset_counters(PortIndex port, const PortTotals& value, Picoseconds now);
  /// Sends a notice from the node (traps 131, 145, 257, 258, ...), repeated until repressed.
  void raise_trap(NodeIndex node, const mad::Notice& notice, Picoseconds now);

  // --- figures ---

  struct Statistics {
    std::uint64_t sent = 0;       ///< MADs that entered
    std::uint64_t delivered = 0;  ///< to clients
    std::uint64_t lost_route =
        0;  ///< by a forwarding table, a link that is not up, or a wrong directed route
    std::uint64_t lost_fault = 0;
    std::uint64_t discarded = 0;  ///< nobody there for them, malformed, or refused by an M_Key
    std::uint64_t traps = 0;
  };
  [[nodiscard]] const Statistics& statistics() const;
  [[nodiscard]] const DeadEnds& dead_ends() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace heddle::sim
