/// A world from its plan, a storm over it, and what must be true when the storm has passed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "swarm/plan.h"
#include "swarm/recording.h"

namespace heddle::swarm {

struct Outcome {
  std::size_t instants = 0;  ///< at which anything changed, by the watch of the simulator's state
  std::map<std::string, unsigned> done;
  std::vector<std::string> wrong;  ///< by that watch, or not well when the storm had passed
};

class Storm {
 public:
  /// Recordings, the fabric and the commands go into this directory.
  Storm(const Plan& plan, std::string directory);
  /// So long, and then until everything has settled.
  Outcome run(FabricClock::duration length);

 private:
  void start_daemon();
  void step();
  void load();
  void order();
  void change_mode();
  void cut_or_mend();
  void kill_or_revive();
  void kill_daemon();
  void settle();
  void expect_all_well();
  [[nodiscard]] bool is_switch(NodeIndex node) const { return truth().node(node).type == NodeType::Switch; }
  [[nodiscard]] const Fabric& truth() const { return world_.fabric.description(); }
  [[nodiscard]] const std::string& name(NodeIndex node) const { return truth().node(node).description; }

  Plan plan_;
  Dice dice_;
  std::string directory_;
  test::RegulatedWorld world_;
  RecordingClock clock_;
  Commands commands_;
  int daemons_ = 0;
  std::unique_ptr<Recording> recording_;
  std::vector<PortIndex> hosts_;
  std::vector<LinkIndex> cables_;    ///< between switches
  std::vector<NodeIndex> switches_;  ///< without the daemon's own
  std::vector<sim::TrafficId> flows_;
  std::vector<LinkIndex> cut_;
  std::vector<NodeIndex> dead_;
  Outcome outcome_;
};

}  // namespace heddle::swarm
