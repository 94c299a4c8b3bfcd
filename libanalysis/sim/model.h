/// The state of a simulated fabric: what the nodes hold. The agents read and write it, the carrier walks it,
/// the data planes see it through SimulatedFabric. Flat arrays by position; tables exist once they are
/// written.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fabric/fabric.h"
#include "mad/attributes.h"
#include "sim/change.h"
#include "sim/dead_ends.h"
#include "sim/faults.h"
#include "sim/options.h"
#include "sim/simulated_fabric.h"

namespace heddle::sim {

/// What a MAD's way needs of a port, kept small: PortInfo is elsewhere.
struct Wire {
  PortIndex peer = no_port;  ///< at the other end of the cable
  NodeIndex node = no_node;
  PortNum num;
  bool up = false;      ///< LinkUp: SMPs pass
  bool active = false;  ///< Active: GMPs leave by it
  bool takes = false;   ///< Armed or Active: GMPs come in by it
};

using SlToVl = std::array<Vl, 16>;

struct NodeState {
  NodeType type = NodeType::ChannelAdapter;
  bool alive = true;
  std::uint8_t port_count = 0;
  PortIndex first_port;
  NodeGuid guid;
  NodeTraits traits;
  AgentFaults faults;
  std::optional<Redirect> redirect;
  Device device;
  Picoseconds smp_idle_at{0};  ///< when its SMA has worked off its line
  std::uint32_t next_tid = 1;  ///< of its traps
  // Switches.
  mad::SwitchInfo switch_info;
  std::vector<PortNum> lft;
  std::vector<std::uint16_t> mft;  ///< [position of 16 ports][multicast LID - 0xC000], `mft_lids` a row
  std::vector<SlToVl> sl_to_vl;    ///< [in][out]; empty: all as default_sl_to_vl
};

struct LinkState {
  enum class Phase : std::uint8_t { Down, Training, Up };
  PortIndex a = no_port;
  PortIndex b = no_port;
  Picoseconds training_delay{0};
  bool draws_training = false;  ///< in place of training_delay
  Phase phase = Phase::Down;
  bool cut = false;
  CableLimit limit;
  std::uint32_t epoch = 0;  ///< one more with each change of phase: voids training that was under way
};

inline constexpr std::size_t mft_lids = 1024;
inline constexpr std::uint16_t p_keys_per_port = 128;
inline constexpr std::size_t guids_per_port = 8;
inline constexpr std::uint16_t linear_fdb_cap = 0xc000;

class Model {
 public:
  Model(std::shared_ptr<const Fabric> description, const Options& options);

  [[nodiscard]] NodeState& node_of(PortIndex port) { return nodes[wires[port.raw()].node.raw()]; }
  [[nodiscard]] const NodeState& node_of(PortIndex port) const { return nodes[wires[port.raw()].node.raw()]; }
  [[nodiscard]] mad::PortInfo& info(PortIndex port) { return infos[port.raw()]; }
  [[nodiscard]] const mad::PortInfo& info(PortIndex port) const { return infos[port.raw()]; }
  [[nodiscard]] PortIndex port_of(const NodeState& node, PortNum num) const {
    return PortIndex{node.first_port.raw() + num.raw()};
  }
  /// The port whose M_Key, LID and SM LID hold for what arrives at this one: port 0 of a switch.
  [[nodiscard]] PortIndex management_port(PortIndex port) const;
  [[nodiscard]] PortGuid port_guid(PortIndex port) const;
  [[nodiscard]] bool answers_to(PortIndex port, Lid lid) const {
    const mad::PortInfo& own = info(port);
    return own.lid != no_lid && (lid.raw() & ~((1U << own.lmc) - 1U)) == own.lid.raw();
  }
  [[nodiscard]] Vl vl(const NodeState& node, PortNum in, PortNum out, Sl sl) const;

  void set_lid(PortIndex port, Lid lid, std::uint8_t lmc, Picoseconds now);
  void set_states(PortIndex port, PortState state, PhysState physical, Picoseconds now);
  /// All that a node forgets when it is switched off.
  void power_off(NodeIndex node, Picoseconds now);
  void changed(Change::Kind kind, NodeIndex node, PortIndex port, Picoseconds now);
  void changed(const Change& change, Picoseconds now);

  std::shared_ptr<const Fabric> fabric;
  Options options;
  std::vector<NodeState> nodes;
  std::vector<Wire> wires;           ///< by PortIndex
  std::vector<mad::PortInfo> infos;  ///< by PortIndex
  std::vector<LinkState> links;
  std::vector<PortIndex> by_lid;
  std::unordered_map<PortIndex, VlArbitration> arbitrations;
  std::unordered_map<PortIndex, std::vector<std::uint16_t>> p_keys;
  std::unordered_map<PortIndex, std::array<std::uint64_t, guids_per_port>> guids;
  std::unordered_map<PortIndex, std::uint8_t> led;
  DeadEnds dead_ends;  ///< since the start
  ChangeListener* listener = nullptr;
  /// Changes of tables, states and LIDs; the ways of MADs hold for one value of it.
  std::uint64_t generation = 1;

 private:
  void power_on(NodeIndex node);
  void power_on_port(PortIndex port);
  void mirror_states(PortIndex port);
};

/// SL i on VL i, modulo the data VLs of the port.
[[nodiscard]] Vl default_vl(Sl sl, std::uint8_t operational_vls);
/// All data VLs with equal weights in the low table, nothing in the high one.
[[nodiscard]] VlArbitration default_arbitration(const mad::PortInfo& info);

}  // namespace heddle::sim
