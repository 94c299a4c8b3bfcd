/// What an entry becomes when links are off: its home port while that still leads there, else its share of
/// what is left.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/full_topology.h"
#include "routing/link_set.h"
#include "routing/tables.h"

namespace heddle::routing {

/// Some of the LIDs of every port: those whose offset mod `count` is `number`.
struct Plane {
  unsigned number = 0;
  unsigned count = 1;
};

/// Computes entries of one plane, switch by switch. A pure function of home tables and active links: LIDs
/// that lose their port are dealt to the other cables of its trunk, and when the trunk is gone, to all ports
/// on a shortest path, in turns that differ from destination to destination, and then from switch to switch.
/// Everything it is given must outlive it, and stay as it is.
class Detour {
 public:
  Detour(const FullTopology& full, const LegalPaths& paths, const LinkSet& active, Plane plane);

  /// The switch that changes() is about from here on.
  void enter(SwitchIndex x);

  struct Entry {
    Lid lid;
    PortNum port;
  };
  /// The entries of the switch entered for the LIDs behind switch `d` that differ from those in `row`. Valid
  /// until the next call.
  std::span<const Entry> changes(SwitchIndex d, std::span<const std::uint8_t> home,
                                 std::span<const std::uint8_t> row);

 private:
  /// Whether a LID's host link is active.
  enum class Reached : std::uint8_t { No, Yes, InOtherPlanes };

  /// A port of the switch entered, with the rows of what is behind it.
  struct Way {
    std::uint32_t peer = no_switch.raw();
    bool active = false;
    bool descends = false;
    bool has_active_twin = false;  ///< or is active itself: its trunk is not gone
    const LegalPaths::Distance* down = nullptr;
    const LegalPaths::Distance* distance = nullptr;
    const LegalPaths::Distance* at_home = nullptr;  ///< distance over all links
  };

  /// Of a switch that the order gives no path to `d`: by a way of its mend, of which the home port is the
  /// first choice.
  void mend(SwitchIndex d, std::span<const std::uint8_t> home, std::span<const std::uint8_t> row);
  [[nodiscard]] bool legal(const Way& way, std::uint32_t d) const;
  [[nodiscard]] bool leads_home(std::uint32_t d, std::uint8_t port) const;
  void gather(std::uint32_t d);
  void deal(std::uint32_t d, std::span<const std::uint8_t> home, std::span<const std::uint8_t> row);
  void set(Lid lid, std::uint8_t port, std::span<const std::uint8_t> row) {
    if (row[lid.raw()] != port) changes_.push_back({lid, PortNum{port}});
  }

  const SwitchGraph& graph_;
  const Destinations& destinations_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  const Mends& mends_;
  const LegalPaths& paths_;
  const LinkSet& active_;
  std::vector<Reached> reached_;  ///< by position in Destinations::all()

  std::vector<std::uint8_t> leading_;  ///< by mend

  SwitchIndex x_ = no_switch;
  const LegalPaths::Distance* down_ = nullptr;  ///< of x_
  const LegalPaths::Distance* distance_ = nullptr;
  std::array<Way, 256> by_port_;
  std::vector<std::uint8_t> in_use_;  ///< ports of x_ with an active link to a switch

  std::vector<std::uint32_t> trunks_in_use_;  ///< peers of x_ over active links, ascending

  std::vector<std::uint8_t> shortest_;  ///< ports
  std::vector<Lid> lost_;
  std::vector<std::uint8_t> same_peer_;
  std::vector<Entry> changes_;
};

/// Adds to `affected` all that is mended.
void add_mends(const SwitchGraph& graph, const Mends& mends, std::vector<LegalPaths::Affected>& affected);

/// Adds to `affected` every switch with the switches at which a changed host link hangs. `changed` ascends.
void add_host_links(const SwitchGraph& graph, std::span<const LinkIndex> changed,
                    std::vector<LegalPaths::Affected>& affected);

/// Sets the entries that mended switches have with `all` links on.
void mend_home(const FullTopology& full, const LinkSet& all, ForwardingTables& home);

}  // namespace heddle::routing
