/// The routing engine `heddle`: OpenSM's callbacks on one side, the decisions of core/ on the other. All
/// callbacks of the routing engine come from OpenSM's state manager thread with its lock held, except
/// path_sl.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/event_queue.h"
#include "core/events.h"
#include "core/group_stages.h"
#include "core/kept_tree.h"
#include "core/plan_keeper.h"
#include "core/qos_book.h"
#include "core/second_look.h"
#include "core/timings.h"
#include "opensm_headers.h"
#include "opensm_log.h"
#include "planned/away.h"
#include "planned/lost_cables.h"
#include "planned/route_maker.h"
#include "planned/tables_in_force.h"
#include "planned/transition.h"

namespace heddle::plugin {

class Engine {
 public:
  Engine(osm_opensm_t& opensm, const std::string& plan_path, EventQueue& events);

  /// Gives OpenSM the callbacks. `engine` lives as long as OpenSM.
  void attach(osm_routing_engine_t& engine);

  /// build_lid_matrices: everything is computed here. 0 done, -1 failed.
  int prepare();
  /// ucast_build_fwd_tables: hands over what was prepared.
  int fill_tables();
  ib_api_status_t multicast(osm_mgrp_box_t& group);
  void vl_arbitration(osm_physp_t& port, ib_vl_arb_table_t& block, unsigned number);
  void sl2vl(osm_physp_t& port, ib_slvl_table_t& table);

  /// The fabric has been discovered, and nothing written yet: what switches hold of which nothing is known is
  /// read. Without OpenSM's lock; waits for the answers.
  void read_tables();
  /// OpenSM says nothing of a reroute in which an answer was missing, and rediscovers: what has been answered
  /// of it is in force all the same. Without OpenSM's lock.
  void heavy_sweep_starts();
  /// By the plan that was looked at last.
  [[nodiscard]] std::vector<LinkRef> links_off() const;
  /// `reroute`: without rediscovery, so that multicast and HighLimit are left for us to ask for.
  Confirmation routing_done(bool reroute);
  void subnet_up();
  /// Whether the groups of the last confirmation wait for their trees. Any thread; never waits for OpenSM.
  [[nodiscard]] bool multicast_is_pending();
  /// Whether every group has the tree that it is to have. Any thread.
  [[nodiscard]] bool groups_are_settled();
  /// Of the plan in force; 0: none. Any thread.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }

  [[nodiscard]] const Log& log() const { return log_; }
  [[nodiscard]] Timings& timings() { return timings_; }
  /// When tables that are on their way are to be routed again; none, if they are there. Any thread.
  [[nodiscard]] std::optional<Timings::Clock::time_point> next_pass_at() const;
  /// Asks for it where it is due. Any thread.
  void go_on(Timings::Clock::time_point now);

  /// Any thread: routes again without rediscovery, or with it.
  void ask_for_reroute();
  void ask_for_heavy_sweep();

 private:
  void look_at_plan();
  bool take_what_was_read(const std::vector<osm_switch_t*>& switches);
  void choose_pass(const planned::Subnet& subnet);
  [[nodiscard]] bool is_calm() const;
  [[nodiscard]] Timings::Clock::duration packet_life() const;
  bool take_answers(const osm_switch_t& sw);
  void end_pass();
  void plan_next_pass();
  void say(const std::vector<std::string>& remarks);
  void set_hop_counts();
  void prepare_qos();
  void force_second_blocks(osm_physp_t& port);
  [[nodiscard]] bool fits(const osm_physp_t& port, const plan::QosTables& tables);
  [[nodiscard]] bool high_limits_differ();
  [[nodiscard]] std::vector<osm_switch_t*> switches() const;
  [[nodiscard]] std::size_t reroute_concerned_groups();
  [[nodiscard]] osm_switch_t* find_switch(NodeGuid guid) const;
  [[nodiscard]] GroupStages::Leads where_leads(const PortRef& port) const;
  void hand_over(std::uint16_t mlid, GroupStages::Tree wanted);
  void confirm_groups();
  void go_on_with_groups(Timings::Clock::time_point now);
  enum class Quiet : std::uint8_t { No, Yes, AfterErrors };
  /// Whether OpenSM has nothing under way. With groups_mutex_.
  [[nodiscard]] Quiet look_for_quiet();

  osm_opensm_t& opensm_;
  EventQueue& events_;
  osm_routing_engine_t* engine_ = nullptr;
  Log log_;
  Timings timings_;
  PlanKeeper keeper_;
  planned::CableMemory cables_;
  planned::LostCables lost_cables_;
  bool leaves_later_ = false;
  planned::HostMemory hosts_;
  planned::AwayMemory away_;
  planned::ReleasedLinks released_;
  planned::RouteMaker maker_;
  std::optional<planned::Routes> routes_;
  planned::TablesInForce in_force_;
  planned::Pass pass_;                         ///< on the way to the tables of routes_
  bool is_asked_ = false;                      ///< OpenSM has it, and has not said what became of it
  Timings::Clock::time_point written_at_{};    ///< by the last pass that did
  Timings::Clock::time_point packets_gone_{};  ///< that followed the tables before
  mutable std::mutex next_pass_mutex_;
  std::optional<Timings::Clock::time_point> next_pass_at_;
  std::size_t waiting_ = 0;
  SecondLook second_look_;
  QosBook qos_;
  std::map<std::uint16_t, KeptTree> trees_;  ///< by MLID
  /// Whether tables fit ports of a kind: by tables, high and low capacity, data VLs.
  std::map<std::tuple<const plan::QosTables*, unsigned, unsigned, unsigned>, bool> fitting_;
  std::vector<osm_physp_t*> forced_;    ///< ports whose need_update we set; valid until routing_done
  std::size_t unfit_ports_ = 0;         ///< in this QoS step
  bool sl2vl_was_planned_ = false;      ///< since OpenSM's start
  std::uint64_t limits_asked_for_ = 0;  ///< epoch for which a heavy sweep was asked
  routing::LinkSet usable_;             ///< links that forward, of routes_
  std::mutex groups_mutex_;             ///< taken after OpenSM's lock, or that is only tried
  std::vector<std::uint16_t> pending_;  ///< MLIDs that a confirmation waits for
  GroupStages stages_;
  Timings::Clock::duration packets_live_{};
  std::atomic<std::uint64_t> epoch_{0};
  std::vector<std::string> said_;  ///< remarks of the routing before
};

}  // namespace heddle::plugin
