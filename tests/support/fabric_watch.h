/// Watches a simulated fabric at every instant at which a table, a state or a LID changes, and writes down
/// what must never be (facts/regulation.md 2):
///
/// - a packet that runs in circles, or a cycle of channel dependencies, also together with the tables that
/// stood
///   when the fabric was last at rest: packets under way still follow those;
/// - a route between two hosts, or between the daemon and a switch, that ends, or leads into a link that was
///   turned off. Where a fault has just taken a link or a switch away, routes through it are the fault's
///   until the test says that the fabric must have settled;
/// - a switch that directed routes of the daemon do not reach, though no fault is between;
/// - with judge_writes(): an entry that is written to lead into a link that is not Active; a packet that was
///   sent on by an entry that is gone, no longer ago than packets live, and that does not arrive any more;
/// - a packet of a multicast group that comes to a switch twice, or is sent into a link that was turned off;
///   at rest, also a member of whom it does not come.
///
/// Each part looks at what a change can change, and no more; fabric_watch_test.cc holds it against looking at
/// everything.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/simulated_fabric.h"
#include "support/watch/circle_watch.h"
#include "support/watch/multicast_watch.h"
#include "support/watch/route_watch.h"
#include "support/watch/table_columns.h"
#include "support/watch/under_way_watch.h"
#include "support/watch/watched_fabric.h"

namespace heddle::test {

class FabricWatch final : public sim::ChangeListener {
 public:
  /// `next` hears of everything after us: the flow plane. Sits where the daemon does.
  FabricWatch(sim::SimulatedFabric& fabric, PortIndex daemon, sim::ChangeListener* next = nullptr)
      : fabric_{fabric}, watched_{fabric, daemon}, next_{next} {
    fabric_.set_change_listener(this);
  }
  ~FabricWatch() override { fabric_.set_change_listener(next_); }
  FabricWatch(const FabricWatch&) = delete;
  FabricWatch& operator=(const FabricWatch&) = delete;

  /// From here on; before that a fabric is being brought up. Whatever stands is at rest.
  void begin();
  /// Also what is written, and packets that live so long, of the LIDs that carry something.
  void judge_writes(Picoseconds life, UnderWayWatch::Carries carries) {
    under_way_.judge(life, std::move(carries));
  }
  /// But for ports of which that cannot be known yet.
  void excuse_writes(std::function<bool(PortIndex)> cannot_know) {
    under_way_.excuse(std::move(cannot_know));
  }
  /// Faults come and go without rest from here on: tables are judged as they are, without those of the last
  /// rest.
  void never_rests() { circles_.never_rests(); }
  /// Changes come without rest from here on: tables are judged together with the entries of so long ago,
  /// which packets that are under way still follow.
  void packets_live(Picoseconds life) { circles_.packets_live(life); }
  /// Everything must be well, faults or not: each pair that cables still join has its route.
  void settled();

  // Faults are made through here, so that it is known what is their doing.
  void cut(LinkIndex link, Picoseconds at);
  void mend(LinkIndex link, Picoseconds at);
  void kill(NodeIndex node, Picoseconds at);
  void revive(NodeIndex node, Picoseconds at);
  /// An operator takes a switch out of service: nobody has to have a way there, and none may lead into what
  /// is off.
  void drain(NodeIndex node) { watched_.faults.drain(node); }
  void end_drain(NodeIndex node) { watched_.faults.drain(node, false); }
  /// Something else is wrong, on the way of MADs: who does not answer counts as lost.
  void fault() { watched_.faults.open(); }

  void changed(const sim::Change& change, Picoseconds at) override;

  [[nodiscard]] bool is_faulty(LinkIndex link) const { return watched_.faults.has(link); }
  /// Where packets between these host ports do not arrive, faults or not.
  [[nodiscard]] std::vector<std::string> apart(const std::vector<PortIndex>& hosts) const;

  /// The first ones. What goes on being wrong counts once an instant.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  /// All that is wrong at this instant, but for multicast; and what it goes by.
  [[nodiscard]] const std::vector<std::string>& wrongs() const { return wrongs_; }
  [[nodiscard]] const WatchedFabric& watched() const { return watched_; }
  [[nodiscard]] std::size_t instants() const { return instants_; }
  /// For a test to say what it did when one of them comes up.
  void say(std::string context) { context_ = std::move(context); }

 private:
  static constexpr std::size_t most_violations = 5;

  void violation(const std::string& text);
  void check();
  void learn_lids();
  void read_entries(NodeIndex node, std::uint32_t block);
  void read_states(PortIndex port);

  sim::SimulatedFabric& fabric_;
  WatchedFabric watched_;
  TableColumns tables_;
  CircleWatch circles_{watched_, tables_};
  RouteWatch routes_{watched_, tables_};
  UnderWayWatch under_way_{watched_, tables_, routes_};
  MulticastWatch multicast_{watched_};
  sim::ChangeListener* next_;
  bool watching_ = false;
  bool lids_may_differ_ = true;
  std::uint64_t faults_seen_ = 0;  ///< by the routes
  bool reach_may_differ_ = true;
  bool groups_may_differ_ = true;
  std::vector<std::string> out_of_reach_;
  std::vector<std::string> group_wrongs_;
  std::vector<std::string> wrongs_;
  Picoseconds at_{0};
  std::size_t instants_ = 0;
  std::string context_;
  std::vector<std::string> violations_;
};

}  // namespace heddle::test
