#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine.h"
#include "engine_callbacks.h"
#include "subnet_reader.h"

namespace heddle::plugin {
namespace {

/// The code of PortInfo.OperationalVLs (IBA 14.2.5.6): 1, 2, 4, 8 or 15 data VLs.
unsigned data_vls_of(const osm_physp_t& port) {
  return qos::data_vls(ib_port_info_get_op_vls(&port.port_info)).value_or(1);
}

void write(const std::array<qos::ArbEntry, block_entries>& entries, ib_vl_arb_table_t& block) {
  for (std::size_t i = 0; i < block_entries; ++i) {
    block.vl_entry[i].vl = entries[i].vl.raw();
    block.vl_entry[i].weight = entries[i].weight;
  }
}

}  // namespace

void Engine::prepare_qos() {
  const plan::Plan* plan = keeper_.plan();
  qos_ = plan != nullptr && plan->qos ? QosBook(*plan->qos) : QosBook();
  fitting_.clear();
  unfit_ports_ = 0;
  // Where it is not null OpenSM programs SL2VL port by port instead of switch by switch. Switch by switch it
  // looks at one port only, and would leave in the others what a plan has put there.
  sl2vl_was_planned_ = sl2vl_was_planned_ || qos_.has_sl2vl();
  if (engine_ != nullptr) engine_->update_sl2vl = sl2vl_was_planned_ ? &callbacks::update_sl2vl : nullptr;
  forced_.clear();
  if (qos_.empty()) return;
  if (!opensm_.subn.opt.qos) {
    say({"the plan has QoS tables, but opensm.conf does not say `qos TRUE`: they are not programmed"});
    return;
  }
  for_each<osm_node_t>(opensm_.subn.node_guid_tbl, [&](osm_node_t& node) {
    for (unsigned p = 0; p < osm_node_get_num_physp(&node); ++p) {
      osm_physp_t* port = osm_node_get_physp_ptr(&node, p);
      if (port != nullptr) force_second_blocks(*port);
    }
  });
}

void Engine::force_second_blocks(osm_physp_t& port) {
  if (ib_port_info_get_port_state(&port.port_info) == IB_LINK_DOWN) return;
  const plan::QosTables* tables = qos_.tables(ref_of(port));
  if (tables == nullptr || port.need_update != 0 || !fits(port, *tables)) return;
  // OpenSM compares 64 % 32 entries of the second block of a full table, and takes it for equal.
  const auto differs = [&](unsigned capacity, ArbBlock block) {
    if (capacity != qos::max_entries) return false;
    ib_vl_arb_table_t wanted{};
    write(block_of(tables->arbitration, block), wanted);
    return std::memcmp(&wanted, &port.vl_arb[static_cast<unsigned>(block)], sizeof wanted) != 0;
  };
  if (differs(port.port_info.vl_arb_low_cap, ArbBlock::LowSecond) ||
      differs(port.port_info.vl_arb_high_cap, ArbBlock::HighSecond)) {
    port.need_update = 1;
    forced_.push_back(&port);
  }
}

bool Engine::fits(const osm_physp_t& port, const plan::QosTables& tables) {
  const qos::PortCapability capability{port.port_info.vl_arb_high_cap, port.port_info.vl_arb_low_cap,
                                       data_vls_of(port)};
  const auto [known, fresh] = fitting_.try_emplace(
      {&tables, capability.high_entries, capability.low_entries, capability.data_vls}, true);
  if (!fresh) return known->second;
  auto good = qos::check(tables.arbitration, capability);
  if (good && tables.sl2vl) good = qos::check(*tables.sl2vl, capability);
  if (!good) {
    log_.error("HE06", fmt::format("port {} and those like it cannot take the plan's QoS tables: {}",
                                   to_string(ref_of(port)), good.error().message));
  }
  return known->second = good.has_value();
}

void Engine::vl_arbitration(osm_physp_t& port, ib_vl_arb_table_t& block, unsigned number) {
  const plan::QosTables* tables = qos_.tables(ref_of(port));
  if (tables == nullptr || number > static_cast<unsigned>(ArbBlock::HighSecond)) return;
  if (!fits(port, *tables)) {
    ++unfit_ports_;
    return;
  }
  write(block_of(tables->arbitration, static_cast<ArbBlock>(number)), block);
  port.vl_high_limit = tables->arbitration.limit.raw();
}

void Engine::sl2vl(osm_physp_t& port, ib_slvl_table_t& table) {
  const plan::QosTables* tables = qos_.tables(ref_of(port));
  if (tables == nullptr || !tables->sl2vl || !fits(port, *tables)) return;
  for (std::size_t sl = 0; sl < qos::sl_count; ++sl) {
    ib_slvl_table_set(&table, static_cast<std::uint8_t>(sl), tables->sl2vl->vl[sl].raw());
  }
}

bool Engine::high_limits_differ() {
  if (qos_.empty() || !opensm_.subn.opt.qos) return false;
  bool differ = false;
  for_each<osm_node_t>(opensm_.subn.node_guid_tbl, [&](osm_node_t& node) {
    for (unsigned p = 0; p < osm_node_get_num_physp(&node); ++p) {
      const osm_physp_t* port = osm_node_get_physp_ptr(&node, p);
      if (port == nullptr || ib_port_info_get_port_state(&port->port_info) == IB_LINK_DOWN) continue;
      const plan::QosTables* tables = qos_.tables(ref_of(*port));
      differ = differ || (tables != nullptr && fits(*port, *tables) &&
                          port->port_info.vl_high_limit != tables->arbitration.limit.raw());
    }
  });
  return differ;
}

}  // namespace heddle::plugin
