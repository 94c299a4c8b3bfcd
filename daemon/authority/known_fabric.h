/// What an authority tells of the fabric, and what it asks, when somebody regulates it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "fabric/change.h"
#include "fabric/fabric.h"
#include "regulation/memory.h"
#include "routing/kept_turns.h"
#include "routing/link_set.h"

namespace heddle::authority {

using Rank = std::pair<NodeGuid, std::uint16_t>;
using PortLid = std::pair<PortRef, Lid>;  ///< its base LID

/// A cable that a sweep does not see, because its link was turned off.
struct KnownLink {
  LinkRef link;
  LinkWidth width = LinkWidth::None;
  LinkSpeed speed = LinkSpeed::None;
};

/// A cable between two switches, which are called a and b.
struct SeenCable {
  KnownLink known;  ///< its rate is None where nobody has kept it
  std::string a;
  std::string b;
};

/// Of a run before.
struct Remembered {
  std::vector<Rank> ranks;
  std::vector<PortLid> lids;
  std::vector<SeenCable> cables;
};

/// What is known of the fabric, links that are off included.
struct KnownFabric {
  std::shared_ptr<const Fabric> reference;  ///< another pointer: another topology
  routing::LinkSet up;                      ///< of its links
  std::set<NodeGuid> present;               ///< of its switches
  std::vector<Lid> managers;                ///< of the daemon and of every subnet manager
  std::vector<PortRef> disabled;            ///< disabled_ports()
  std::vector<LinkRef> left;                ///< lost cables between switches that the reference is without
  std::vector<Rank> ranks;
  std::vector<routing::KeptTurn> turns;  ///< that the order was to allow
};

/// Ports of switches that are disabled, by whomever, in the order of the snapshot. Those of hosts cannot be
/// asked.
[[nodiscard]] std::vector<PortRef> disabled_ports(const Fabric& fabric);

/// Whether what is decided can be carried out at all.
enum class Mastership : std::uint8_t { Lost, Held };

class FabricListener {
 public:
  virtual void on_fabric(const KnownFabric& known, Instant now) = 0;
  virtual void on_mastership(Mastership mastership, Instant now) = 0;
  /// Whoever writes the tables has no path for so many pairs of switches with hosts, over all that is up.
  virtual void on_apart(std::size_t pairs, Instant now) = 0;
  /// Cables that sweeps do not see because their links were turned off, or are about to be.
  [[nodiscard]] virtual std::vector<KnownLink> known_links() const = 0;
  /// Those that are off by decision, as far as is known since the last on_fabric().
  [[nodiscard]] virtual std::vector<LinkRef> links_off() const = 0;
  /// Links that an operator wants off, and that are, or were before their switch was restarted. Tables that
  /// nobody else has ordered do not lead over these, unless hosts would be cut off.
  [[nodiscard]] virtual std::vector<LinkRef> links_withheld() const { return {}; }
  /// Links that an operator wants off, whoever is cut off by it: no table leads over these.
  [[nodiscard]] virtual std::vector<LinkRef> links_forced() const { return {}; }
  /// Switches that an operator takes out of service, ascending: nobody misses them.
  [[nodiscard]] virtual std::vector<NodeGuid> switches_drained() const { return {}; }
  /// Links that are off by this program's doing, as is known from elsewhere than its journal: for a journal
  /// that is a fresh one. Before the first known_links().
  virtual void on_evidence(const std::vector<regulation::OffRecord>& off, Instant now) = 0;
  /// This program is the subnet manager and is about to give LIDs; these are all that it knows of, in the
  /// order of the ports.
  virtual void on_lids(std::vector<PortLid> /*lids*/) {}

 protected:
  ~FabricListener() = default;
};

}  // namespace heddle::authority
