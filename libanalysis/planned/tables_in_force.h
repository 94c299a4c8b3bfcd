/// Forwarding tables as switches have confirmed them to OpenSM, whoever asked for them. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/ids.h"
#include "routing/recent_entries.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::planned {

/// What switches have confirmed, by GUID: it outlives the graphs.
class TablesInForce {
 public:
  /// The switch has those blocks of `asked` that `has` has too.
  void confirm(NodeGuid guid, std::span<const std::uint8_t> has, std::span<const std::uint8_t> asked);
  /// All switches have been heard: what is confirmed from here on is of a later pass.
  void end_pass() { ++passes_; }
  /// Packets of all passes that have ended are gone.
  void forget_packets() { recent_.forget_until(Instant{FabricClock::duration{passes_}}); }
  /// What switches had before they confirmed something else; time is counted in passes.
  [[nodiscard]] const routing::RecentEntries& recent() const { return recent_; }
  /// Only these switches are still there.
  void keep(std::span<const NodeGuid> present);
  /// The switch may have more of what it was asked for than it has confirmed: an answer is missing. What is
  /// known stays until its table has been read.
  void doubt(NodeGuid guid) { doubtful_.insert(guid); }
  /// Likewise every switch: another subnet manager may have been at work.
  void doubt_all() {
    for (const auto& [guid, row] : rows_) doubtful_.insert(guid);
  }
  /// It has been, all of it.
  void trust(NodeGuid guid) { doubtful_.erase(guid); }

  void forget() {
    rows_.clear();
    doubtful_.clear();
    recent_ = {};
  }

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Whether its table need not be read.
  [[nodiscard]] bool knows(NodeGuid guid) const { return rows_.contains(guid) && !doubtful_.contains(guid); }
  [[nodiscard]] routing::ForwardingTables of(const routing::SwitchGraph& graph, Lid top) const;

 private:
  std::map<NodeGuid, std::vector<std::uint8_t>> rows_;
  std::set<NodeGuid> doubtful_;
  routing::RecentEntries recent_;
  std::int64_t passes_ = 0;
};

}  // namespace heddle::planned
