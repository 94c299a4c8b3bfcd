/// What packets hold and wait for that were sent on by an entry which is gone (recent_entries.h): they meet
/// entries of the next switch that are there now, or were later than the one that sent them there began.
///
/// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "routing/hop_map.h"
#include "routing/recent_entries.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

class PastPackets {
 public:
  struct Wait {
    std::uint32_t held;  ///< hops of the graph
    std::uint32_t wanted;
    Lid lid;
  };

  PastPackets() = default;
  /// `forwards`: by hop; what leads over others holds nothing.
  PastPackets(const SwitchGraph& graph, const HopMap& map, std::span<const char> forwards,
              const ForwardingTables& now, const RecentEntries& recent);

  [[nodiscard]] const std::vector<Wait>& waits() const { return waits_; }
  /// That have packets under way so.
  [[nodiscard]] const std::vector<Lid>& lids() const { return lids_; }
  /// Over which packets come that were sent by an entry which is gone.
  [[nodiscard]] std::span<const std::uint32_t> hops(Lid lid) const;

 private:
  std::vector<Wait> waits_;
  std::vector<Lid> lids_;
  std::map<Lid, std::vector<std::uint32_t>> hops_;
};

}  // namespace heddle::routing
