/// What an entry becomes when links are off: its home port while that still leads there, else its share of
/// what is left.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "routing/destinations.h"
#include "routing/legal_paths.h"
#include "routing/link_set.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

/// Some of the LIDs of every port: those whose offset mod `count` is `number`.
struct Plane {
  unsigned number = 0;
  unsigned count = 1;
};

/// Computes entries of one plane. A pure function of home tables and active links: LIDs that lose their port
/// are dealt to the other cables of its trunk, and when the trunk is gone, to all ports on a shortest path,
/// in turns that differ from destination to destination. Everything it is given must outlive it.
class Detour {
 public:
  Detour(const SwitchGraph& graph, const Destinations& destinations, const LegalPaths& full,
         const LegalPaths& paths, const LinkSet& active, Plane plane);

  struct Entry {
    Lid lid;
    PortNum port;
  };
  /// The entries of switch `x` for the LIDs behind switch `d` that differ from those in `row`. Valid until
  /// the next call.
  std::span<const Entry> changes(SwitchIndex x, SwitchIndex d, std::span<const std::uint8_t> home,
                                 std::span<const std::uint8_t> row);

 private:
  void gather(SwitchIndex x, SwitchIndex d);
  [[nodiscard]] bool leads_home(SwitchIndex x, SwitchIndex d, std::uint8_t port);
  [[nodiscard]] const Hop* hop_at(SwitchIndex x, std::uint8_t port);

  const SwitchGraph& graph_;
  const Destinations& destinations_;
  const LegalPaths& full_;
  const LegalPaths& paths_;
  const LinkSet& active_;
  Plane plane_;
  std::vector<const Hop*> shortest_;
  std::vector<const Destination*> lost_;
  std::vector<const Hop*> same_peer_;
  std::vector<Entry> changes_;
};

/// Adds to `affected` every switch with the switches at which a changed host link hangs.
void add_host_links(const SwitchGraph& graph, std::span<const LinkIndex> changed,
                    std::vector<LegalPaths::Affected>& affected);

}  // namespace heddle::routing
