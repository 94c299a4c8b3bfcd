/// What FabricWatch must find, by looking at everything at every instant: the proofs of routing/, and each
/// route hop by hop. Slow; for fabric_watch_test.cc.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routing/tables.h"
#include "support/watch/watched_fabric.h"

namespace heddle::test {

class WholeCheck {
 public:
  WholeCheck(const WatchedFabric& watched, Picoseconds life) : watched_{watched}, life_{life} {}

  enum class Rests : std::uint8_t { No, Yes };
  struct Verdict {
    std::size_t loops = 0;  ///< of the tables as they stand, and together with those of the last rest
    std::size_t deadlocks = 0;
    std::vector<std::string> others;
  };
  [[nodiscard]] Verdict look(Rests rests, Picoseconds at);
  /// What stands is at rest.
  void rest() { at_rest_ = watched_.tables(); }
  /// From here on. Everything is on and well.
  void begin();

 private:
  using Tables = routing::ForwardingTables;

  void count_circles(const Tables& now, Rests rests, Verdict& verdict) const;
  [[nodiscard]] std::vector<std::string> routes(const Tables& now) const;
  [[nodiscard]] std::vector<std::string> writes(const Tables& now, Picoseconds at);
  [[nodiscard]] std::vector<std::string> under_way(const Tables& now, Picoseconds at);
  [[nodiscard]] std::string follow(const Tables& now, routing::SwitchIndex from,
                                   const routing::Target& target, Lid lid) const;
  [[nodiscard]] bool may_have_none(routing::SwitchIndex from, const routing::Target& target) const;
  [[nodiscard]] bool leads_on(NodeIndex node, PortNum port) const;
  [[nodiscard]] const routing::Target* target_of(Lid lid) const;

  struct Replaced {
    Picoseconds at;
    routing::SwitchIndex sw;
    Lid lid;
    PortNum port;
  };

  const WatchedFabric& watched_;
  Picoseconds life_;
  Tables at_rest_;
  Tables last_;
  std::deque<Replaced> replaced_;
  std::set<std::pair<routing::SwitchIndex, PortIndex>>
      left_;  ///< of managers and switches, who has no way from the start
};

}  // namespace heddle::test
