/// The routing engine `heddle`: OpenSM's callbacks on one side, the decisions of core/ on the other. All
/// callbacks of the routing engine come from OpenSM's state manager thread with its lock held, except
/// path_sl.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/plan_keeper.h"
#include "core/qos_book.h"
#include "core/route_maker.h"
#include "core/timings.h"
#include "opensm_headers.h"
#include "opensm_log.h"

namespace heddle::plugin {

class Engine {
 public:
  Engine(osm_opensm_t& opensm, const std::string& plan_path);

  /// Gives OpenSM the callbacks. `engine` lives as long as OpenSM.
  void attach(osm_routing_engine_t& engine);

  /// build_lid_matrices: everything is computed here. 0 done, -1 failed.
  int prepare();
  /// ucast_build_fwd_tables: hands over what was prepared.
  int fill_tables();
  ib_api_status_t multicast(osm_mgrp_box_t& group);
  void vl_arbitration(osm_physp_t& port, ib_vl_arb_table_t& block, unsigned number);
  void sl2vl(osm_physp_t& port, ib_slvl_table_t& table);

  /// After a routing whose answers are all in. What a report says of it.
  struct Confirmation {
    std::uint64_t epoch = 0;          ///< 0: no plan
    std::size_t switches_behind = 0;  ///< forwarding tables that are not as they should be
    std::size_t unconnected = 0;
    bool relaxed = false;
    std::vector<std::uint32_t> stages;
    std::size_t groups = 0;  ///< multicast groups that are routed again
    [[nodiscard]] bool complete() const { return switches_behind == 0; }
  };
  /// `reroute`: without rediscovery, so that multicast and HighLimit are left for us to ask for.
  Confirmation routing_done(bool reroute);
  void subnet_up();

  [[nodiscard]] const Log& log() const { return log_; }
  [[nodiscard]] Timings& timings() { return timings_; }
  /// Any thread: routes again without rediscovery.
  void ask_for_reroute();

 private:
  struct Tree {
    std::vector<LinkRef> links;
    bool whole = true;
  };

  void look_at_plan();
  void say(const std::vector<std::string>& remarks);
  void set_hop_counts();
  void prepare_qos();
  void force_second_blocks(osm_physp_t& port);
  [[nodiscard]] bool fits(const osm_physp_t& port, const plan::QosTables& tables);
  [[nodiscard]] bool high_limits_differ();
  [[nodiscard]] std::vector<osm_switch_t*> switches() const;
  [[nodiscard]] std::optional<std::size_t> concerned_groups();
  [[nodiscard]] bool still_good(const Tree& tree) const;

  osm_opensm_t& opensm_;
  osm_routing_engine_t* engine_ = nullptr;
  Log log_;
  Timings timings_;
  PlanKeeper keeper_;
  CableMemory cables_;
  RouteMaker maker_;
  std::optional<Routes> routes_;
  std::size_t waiting_ = 0;
  QosBook qos_;
  std::map<std::uint16_t, Tree> trees_;  ///< by MLID
  /// Whether tables fit ports of a kind: by tables, high and low capacity, data VLs.
  std::map<std::tuple<const plan::QosTables*, unsigned, unsigned, unsigned>, bool> fitting_;
  std::vector<osm_physp_t*> forced_;    ///< ports whose need_update we set; valid until routing_done
  std::size_t unfit_ports_ = 0;         ///< in this QoS step
  std::uint64_t limits_asked_for_ = 0;  ///< epoch for which a heavy sweep was asked
  std::vector<std::string> said_;       ///< remarks of the routing before
};

}  // namespace heddle::plugin
