/// The reference topology as regulation decides over it: its switches, trunks, ranks, and a router of its own
/// for trying tables out. Made again when the topology changes, and not before: that costs a full routing.
/// The same ranks and planes given to another UpDownRouter give the same tables. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "routing/updn.h"

namespace heddle::regulation {

struct NetworkOptions {
  unsigned planes = 1;
  /// As UpDownOptions; none: chosen.
  std::vector<NodeGuid> roots{};
  std::vector<std::pair<NodeGuid, std::uint16_t>> ranks{};
  /// LIDs of the daemon and of every subnet manager: each switch keeps a path to and from them.
  std::vector<Lid> managers{};
  std::vector<routing::KeptTurn> turns{};  ///< as UpDownOptions
  /// With No, Network::tables() must not be called.
  routing::TablesWanted tables = routing::TablesWanted::Yes;
};

/// All cables between two switches.
struct Trunk {
  routing::SwitchIndex upper;
  routing::SwitchIndex lower;
  std::vector<LinkIndex> links;
};

class Network {
 public:
  /// `reference` has every link that may ever be active, and LIDs. Errors: of UpDownRouter::make; NotFound
  /// for a manager's LID that nobody has.
  static Result<std::unique_ptr<Network>> make(std::shared_ptr<const Fabric> reference,
                                               const NetworkOptions& options = {});

  [[nodiscard]] const Fabric& fabric() const { return *fabric_; }
  [[nodiscard]] const std::shared_ptr<const Fabric>& shared_fabric() const { return fabric_; }
  [[nodiscard]] const routing::SwitchGraph& graph() const { return router_.graph(); }
  [[nodiscard]] const routing::Ranks& ranks() const { return router_.ranks(); }
  [[nodiscard]] const routing::Mends& mends() const { return router_.mends(); }
  /// Which paths are legal over all links.
  [[nodiscard]] const routing::LegalPaths& full_paths() const { return router_.full_paths(); }
  /// For other routers, and for the journal.
  [[nodiscard]] std::vector<std::pair<NodeGuid, std::uint16_t>> ranks_by_guid() const;
  [[nodiscard]] unsigned planes() const { return router_.planes(); }

  [[nodiscard]] std::span<const Trunk> trunks() const { return trunks_; }
  /// Position in trunks(), or no_trunk for a link that is in none: of hosts, or with both ends on one switch.
  static constexpr std::uint32_t no_trunk = 0xffffffffU;
  [[nodiscard]] std::uint32_t trunk_of(LinkIndex link) const { return trunk_of_[link.raw()]; }
  /// Position of the upward hop of a link between switches among the graph's hops, and of the downward one.
  [[nodiscard]] std::uint32_t up_hop(LinkIndex link) const { return up_hop_[link.raw()]; }
  [[nodiscard]] std::uint32_t down_hop(LinkIndex link) const { return down_hop_[link.raw()]; }
  /// bit/s in one direction, in full width and speed.
  [[nodiscard]] double capacity(LinkIndex link) const { return capacity_[link.raw()]; }

  /// Switches with hosts, ascending, and the position of each among them.
  [[nodiscard]] std::span<const routing::SwitchIndex> host_switches() const { return host_switches_; }
  static constexpr std::uint32_t no_position = 0xffffffffU;
  [[nodiscard]] std::uint32_t host_position(routing::SwitchIndex s) const { return host_position_[s.raw()]; }
  /// At which the managers' LIDs are.
  [[nodiscard]] std::span<const routing::SwitchIndex> manager_switches() const { return managers_; }
  /// Switches between which and a manager no table could ever lead, by manager as above: they have directed
  /// routes, which any link carries.
  [[nodiscard]] std::span<const std::vector<routing::SwitchIndex>> never_led() const { return never_led_; }

  /// Switches that are out of service: no rule asks for a path from or to them, or for their hosts.
  void excuse(const std::vector<routing::SwitchIndex>& switches);
  [[nodiscard]] bool is_excused(routing::SwitchIndex s) const { return excused_[s.raw()] != 0; }

  /// Tables over these links in one plane; the others are as the calls for them left them. Valid until the
  /// next call.
  const routing::ForwardingTables& tables(const routing::LinkSet& active, unsigned plane = 0);
  /// Which paths are legal over the links of the last tables() for the plane.
  [[nodiscard]] const routing::LegalPaths& paths(unsigned plane = 0) const { return router_.paths(plane); }

 private:
  Network(std::shared_ptr<const Fabric> fabric, routing::UpDownRouter router);

  std::shared_ptr<const Fabric> fabric_;
  routing::UpDownRouter router_;
  std::vector<Trunk> trunks_;
  std::vector<std::uint32_t> trunk_of_;
  std::vector<std::uint32_t> up_hop_;
  std::vector<std::uint32_t> down_hop_;
  std::vector<double> capacity_;
  std::vector<routing::SwitchIndex> host_switches_;
  std::vector<std::uint32_t> host_position_;
  std::vector<routing::SwitchIndex> managers_;
  std::vector<std::vector<routing::SwitchIndex>> never_led_;
  std::vector<std::uint8_t> excused_;  ///< by SwitchIndex
};

/// Of the switches that no table leads to from a manager: those that no directed route over `active` reaches
/// either, while all others are reached.
[[nodiscard]] std::vector<routing::SwitchIndex> out_of_sight(
    const Network& network, const std::vector<routing::SwitchIndex>& never_led,
    const routing::LinkSet& active);

/// Why a set of links must not be the active one, as a sentence that names the switches; nothing if it may.
/// Every two host switches have a path, and every switch has one to and from every manager: a legal one, or
/// where the order has none a mend. A switch that a manager reaches by directed route only, also with all
/// links on, keeps a link for that. Nothing is asked for switches that are excused.
[[nodiscard]] std::optional<std::string> broken_rule(const Network& network, const routing::LinkSet& active);
/// `paths`: those over `active`.
[[nodiscard]] std::optional<std::string> broken_rule(const Network& network, const routing::LegalPaths& paths,
                                                     const routing::LinkSet& active);
/// How many pairs of switches with hosts, and of one with a manager and any other, neither a legal path nor a
/// mend joins; without those that are excused.
[[nodiscard]] std::size_t pairs_apart(const Network& network, const routing::LinkSet& active);

/// Hosts that no other host could reach, or that lose a manager, if only `active` carried traffic: for an
/// operator who forces a link off.
[[nodiscard]] std::vector<PortRef> cut_off_hosts(const Network& network, const routing::LinkSet& active);

}  // namespace heddle::regulation
