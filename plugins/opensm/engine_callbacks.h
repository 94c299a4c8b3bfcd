/// The C side of the engine: each function times itself, calls the engine, and lets nothing be thrown.
#pragma once

#include "opensm_headers.h"

namespace heddle::plugin::callbacks {

int build_lid_matrices(void* engine);
int build_fwd_tables(void* engine);
void update_sl2vl(void* engine, osm_physp_t* port, std::uint8_t in, std::uint8_t out, ib_slvl_table_t* table);
void update_vlarb(void* engine, osm_physp_t* port, std::uint8_t port_num, ib_vl_arb_table_t* block,
                  unsigned length, unsigned number);
std::uint8_t path_sl(void* engine, std::uint8_t hint, ib_net16_t from, ib_net16_t to);
ib_api_status_t build_tree(void* engine, osm_mgrp_box_t* group);

}  // namespace heddle::plugin::callbacks
