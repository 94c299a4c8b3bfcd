/// Routes between hosts, and between the daemon and switches, that end, or lead into a link that was turned
/// off. Where a fault has just taken a link or a switch away, routes through it are the fault's until the
/// test says that the fabric must have settled.
///
/// A LID that is well stays so when one entry changes from where packets arrive as well; else, and when a
/// port that it uses changes, it is followed from everywhere once more.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/watch/table_columns.h"
#include "support/watch/watched_fabric.h"

namespace heddle::test {

class RouteWatch {
 public:
  RouteWatch(const WatchedFabric& watched, const TableColumns& tables) : watched_{watched}, tables_{tables} {}

  /// Other LIDs or faults: everything anew.
  void reload();
  /// Of managers and switches, who has no way though every link is on: their order left them, and managers
  /// use directed routes (docs/routing.md, Mends). After reload(), when the fabric has come up.
  void find_left();
  /// After the column has the other entry.
  void changed(Column k, std::uint32_t s);
  /// The state of a port, or of its peer.
  void changed(PortIndex port);

  [[nodiscard]] const std::map<Column, std::vector<std::string>>& wrong() const { return wrong_; }
  /// Columns by which packets may go another way than when this was last asked.
  [[nodiscard]] std::vector<Column> take_touched() { return std::exchange(touched_, {}); }
  /// Follows the tables from a switch to a LID; empty if it arrives or a fault is to blame.
  [[nodiscard]] std::string follow(std::uint32_t from, Column k) const;
  [[nodiscard]] bool arrives(std::uint32_t from, Column k) const;

 private:
  // What becomes of a packet that leaves a switch by a port, besides the switch that it comes to.
  static constexpr std::uint32_t fine = 0xffffffffU;  ///< or a fault's
  static constexpr std::uint32_t lost = 0xfffffffeU;

  [[nodiscard]] std::uint32_t& next(std::uint32_t s, std::size_t port) { return next_[s * ports + port]; }
  /// From a switch by its entry.
  [[nodiscard]] std::uint32_t step(std::uint32_t s, Column k) const;
  [[nodiscard]] bool may_have_none(std::uint32_t from, const routing::Target& target) const;
  [[nodiscard]] std::uint32_t judge(std::uint32_t s, PortNum port) const;
  /// Whether packets for this LID begin at a switch, or must find a way from it.
  [[nodiscard]] bool must_arrive(std::uint32_t from, const routing::Target& target) const;
  /// Whether a neighbour's entry leads here.
  [[nodiscard]] bool is_led_to(std::uint32_t s, Column k) const;
  void check(Column k);

  static constexpr std::size_t ports = 256;
  const WatchedFabric& watched_;
  const TableColumns& tables_;
  NodeSet joined_;
  std::uint32_t seat_ = fine;        ///< the switch of the daemon
  std::vector<std::uint32_t> next_;  ///< by switch and port
  std::vector<std::uint8_t> met_;
  std::set<std::pair<std::uint32_t, PortIndex>> left_;
  std::vector<Column> touched_;
  std::map<Column, std::vector<std::string>> wrong_;
};

}  // namespace heddle::test
