#include "engine_callbacks.h"

#include "engine.h"

namespace heddle::plugin {

void Engine::attach(osm_routing_engine_t& engine) {
  engine_ = &engine;
  engine.context = this;
  engine.build_lid_matrices = &callbacks::build_lid_matrices;
  engine.ucast_build_fwd_tables = &callbacks::build_fwd_tables;
  engine.update_vlarb = &callbacks::update_vlarb;
  engine.update_sl2vl = nullptr;
  engine.path_sl = &callbacks::path_sl;
  engine.mcast_build_stree = &callbacks::build_tree;
  engine.ucast_dump_tables = nullptr;
  engine.destroy = nullptr;  // the plugin outlives it, and owns the engine
}

namespace callbacks {

int build_lid_matrices(void* engine) {
  auto& self = *static_cast<Engine*>(engine);
  const Stopwatch watch(self.timings(), Callback::Prepare);
  return guarded(self.log(), "routing", -1, [&] { return self.prepare(); });
}

int build_fwd_tables(void* engine) {
  auto& self = *static_cast<Engine*>(engine);
  const Stopwatch watch(self.timings(), Callback::FillTables);
  return guarded(self.log(), "handing over the tables", -1, [&] { return self.fill_tables(); });
}

void update_sl2vl(void* engine, osm_physp_t* port, std::uint8_t, std::uint8_t, ib_slvl_table_t* table) {
  auto& self = *static_cast<Engine*>(engine);
  const Stopwatch watch(self.timings(), Callback::Sl2Vl);
  guarded(self.log(), "SL2VL", 0, [&] {
    self.sl2vl(*port, *table);
    return 0;
  });
}

void update_vlarb(void* engine, osm_physp_t* port, std::uint8_t, ib_vl_arb_table_t* block, unsigned,
                  unsigned number) {
  auto& self = *static_cast<Engine*>(engine);
  const Stopwatch watch(self.timings(), Callback::VlArbitration);
  guarded(self.log(), "VL arbitration", 0, [&] {
    self.vl_arbitration(*port, *block, number);
    return 0;
  });
}

/// Paths are in order on every SL. Another answer than the hint makes queries with an explicit SL fail.
std::uint8_t path_sl(void* engine, std::uint8_t hint, ib_net16_t, ib_net16_t) {
  const Stopwatch watch(static_cast<Engine*>(engine)->timings(), Callback::PathSl);
  return hint;
}

ib_api_status_t build_tree(void* engine, osm_mgrp_box_t* group) {
  auto& self = *static_cast<Engine*>(engine);
  const Stopwatch watch(self.timings(), Callback::Multicast);
  return guarded(self.log(), "multicast", IB_ERROR, [&] { return self.multicast(*group); });
}

}  // namespace callbacks
}  // namespace heddle::plugin
