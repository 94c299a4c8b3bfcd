/// A world from its plan, a storm over it, and what must be true when the storm has passed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/other_sm.h"
#include "support/volatile_disk.h"
#include "swarm/plan.h"
#include "swarm/recording.h"

namespace heddle::swarm {

struct Outcome {
  std::size_t instants = 0;        ///< at which anything changed, by the watch of the simulator's state
  FabricClock::duration lasted{};  ///< of the world's time, until all had settled
  std::map<std::string, unsigned> done;
  std::vector<std::string> wrong;  ///< by that watch, or not well when the storm had passed
};

class Storm;

/// What is done to a world at a moment of its storm, with all that was drawn for it: it can be done again in
/// a storm from which others were left out.
struct Step {
  const char* what = "";
  std::function<void(Storm&)> act;
  FabricClock::duration then{};  ///< that passes before the next one
};

class Storm {
 public:
  /// Recordings, the fabric and the commands go into this directory.
  Storm(const Plan& plan, std::string directory);
  /// So long, and then until everything has settled.
  Outcome run(FabricClock::duration length);
  /// Of another storm over the same world: what that one did, in the same time, but only the steps with these
  /// numbers.
  Outcome repeat(const std::vector<Step>& steps, const std::set<std::size_t>& only);
  /// That were done, in order.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  using Act = std::function<void(Storm&)>;
  /// At a time, where several are out.
  static constexpr std::size_t most_cut = 3;
  static constexpr std::size_t most_dead = 2;

  [[nodiscard]] bool begin();
  Outcome end();
  void start_daemon();
  void begin_faults();
  /// So much time passes. A daemon that dies meanwhile is started again.
  void pass(FabricClock::duration span);
  Step draw();
  Act load();
  Act order();
  Act change_mode();
  Act cut_or_mend();
  Act kill_or_revive();
  Act kill_daemon();
  Act change_disk();
  Act cut_own();
  // Of worlds with all kinds of storms: storm_host.cc, storm_others.cc.
  Act kill_at_any_moment();
  Act lose_power();
  Act change_manners();
  Act stop_daemon();
  Act change_calendar();
  Act other_manager();
  Act odd_agent();
  // Of wider storms: storm_fabric.cc.
  Act arrive();
  Act bounce();
  Act tamper();
  Act trouble_opensm();
  // Of storms with calms: storm_aimed.cc.
  Act calm();
  Act aim();
  Act aim_between_two_reads();
  Act aim_at_raising();
  Act aim_at_stages();
  Act aim_at_new_topology();
  Act aim_at_agents();
  void come_to_rest();
  [[nodiscard]] bool is_up() const;
  [[nodiscard]] bool some_link_trains() const;
  void mend_all();
  using Seen = std::function<bool(test::RegulatedWorld::Way, const mad::Packet&)>;
  [[nodiscard]] bool wait_for(Seen seen);
  void note_state(const mad::Packet& packet);
  [[nodiscard]] bool is_told_of(PortIndex port) const;
  [[nodiscard]] NodeIndex node_of(const mad::Packet& packet) const;
  void excuse();
  void leave_out();
  void say(const char* what, LinkEnd where);
  void kill_now();
  void start_again(FabricClock::duration away);
  void wait_for_journal();
  void end_other();
  void end_others();
  void end_odd_agent();
  void spoil(mad::Packet& packet);
  void judge_sent(const mad::Packet& packet);
  void judge_records();
  void cut(LinkIndex link);
  void mend(LinkIndex link);
  void kill(NodeIndex node);
  void revive(NodeIndex node);
  void settle();
  void write_story() const;
  void set_disk(bool full, FabricClock::duration write);
  // storm_judges.cc
  void expect_all_well();
  void expect_true_status(const char* when);
  [[nodiscard]] std::vector<std::string> untrue_problems() const;
  [[nodiscard]] std::set<std::string> out_of_reach() const;
  [[nodiscard]] bool is_out_of_reach(const Problem& problem) const;
  [[nodiscard]] std::vector<std::string> untrue_records() const;
  [[nodiscard]] std::vector<std::string> untrue_tables() const;
  [[nodiscard]] std::string text_of(const LinkRef& link) const;
  void expect_true_picture();
  void expect_small_journal();
  [[nodiscard]] bool is_wide() const { return plan_.seed >= first_of_wider_storms; }
  [[nodiscard]] bool is_switch(NodeIndex node) const { return truth().node(node).type == NodeType::Switch; }
  [[nodiscard]] const Fabric& truth() const { return world_.fabric.description(); }
  [[nodiscard]] const std::string& name(NodeIndex node) const { return truth().node(node).description; }

  Plan plan_;
  Dice dice_;
  std::string directory_;
  std::unique_ptr<test::VolatileDisk> disk_;  ///< null: the machine's
  test::RegulatedWorld world_;
  RecordingClock clock_;
  Commands commands_;
  int daemons_ = 0;
  std::unique_ptr<Recording> recording_;
  std::vector<PortIndex> hosts_;
  std::vector<LinkIndex> cables_;    ///< between switches
  LinkIndex own_ = no_link;          ///< the daemon's, where commands can name it
  std::vector<NodeIndex> switches_;  ///< without the daemon's own
  std::vector<sim::TrafficId> flows_;
  std::vector<LinkIndex> cut_;
  std::vector<NodeIndex> dead_;
  bool forgot_ = false;  ///< the disk lied, and the power went: links may be off of which nobody knows
  Dice chances_;         ///< of what happens between steps
  std::unique_ptr<test::OtherSm> other_;
  NodeIndex odd_ = no_node;  ///< whose agent does not do as it should
  Seen awaited_;             ///< a MAD, if one is
  bool came_ = false;
  /// Where there are calms: since when the daemon has been told that a port is not Active.
  std::map<PortIndex, Instant> told_;
  FabricClock::duration rested_{};  ///< that belongs to no storm
  bool said_two_write_ = false;
  bool said_future_ = false;
  std::vector<Step> steps_;
  std::vector<Instant> begun_;  ///< likewise, by the world's time
  Outcome outcome_;
};

}  // namespace heddle::swarm
