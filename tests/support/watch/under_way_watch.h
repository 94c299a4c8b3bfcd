/// What is written, and packets that were sent on by an entry that is gone: whoever left by it no longer ago
/// than packets live meets the tables of today.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/watch/route_watch.h"
#include "support/watch/table_columns.h"
#include "support/watch/watched_fabric.h"

namespace heddle::test {

class UnderWayWatch {
 public:
  using Carries = std::function<bool(const routing::Target&, Lid)>;

  UnderWayWatch(const WatchedFabric& watched, const TableColumns& tables, const RouteWatch& routes)
      : watched_{watched}, tables_{tables}, routes_{routes} {}

  /// Of the LIDs that carry something.
  void judge(Picoseconds life, Carries carries) {
    life_ = life;
    carries_ = std::move(carries);
  }
  /// Ports of which whoever writes cannot know yet that they are not Active: it may write that they are led
  /// out of.
  void excuse(std::function<bool(PortIndex)> cannot_know) { cannot_know_ = std::move(cannot_know); }
  /// Switches and LIDs are others.
  void forget();

  /// An entry of today in place of another one; what is wrong with it.
  [[nodiscard]] std::string written(std::uint32_t s, const TableColumns::Change& change, Picoseconds at);
  /// Packets that do not arrive any more. `touched`: columns by which they may go another way than before.
  [[nodiscard]] std::vector<std::string> astray(std::span<const Column> touched, Picoseconds at);

 private:
  struct Replaced {
    Picoseconds at;
    std::uint32_t s;
    Column k;
    PortNum port;
  };
  [[nodiscard]] bool is_lost(const Replaced& entry) const;
  [[nodiscard]] bool leads_on(NodeIndex node, PortNum port) const;

  const WatchedFabric& watched_;
  const TableColumns& tables_;
  const RouteWatch& routes_;
  Picoseconds life_{0};
  Carries carries_;
  std::function<bool(PortIndex)> cannot_know_;
  std::deque<Replaced> replaced_;
  std::size_t first_ = 0;                                           ///< number of replaced_.front()
  std::unordered_map<Column, std::vector<std::size_t>> of_column_;  ///< their numbers
  std::set<std::size_t> lost_;
};

}  // namespace heddle::test
