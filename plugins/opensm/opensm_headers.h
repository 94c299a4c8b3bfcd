/// OpenSM's own headers, for C++. They are C: one names a member `delete`, and their inline functions are
/// not for our warnings (they are found as system headers).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// NOLINTBEGIN
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define delete delete_plugin
// First: the others ask what it defines, and without it their structures have another layout.
// clang-format off
#include <opensm/osm_config.h>
// clang-format on
#include <opensm/osm_mcm_port.h>
#include <opensm/osm_multicast.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>
#undef delete
#ifdef __clang__
#pragma clang diagnostic pop
#endif
// NOLINTEND

// Of osm_state_mgr.c; no header declares it. True: OpenSM is ending.
extern "C" int wait_for_pending_transactions(osm_stats_t* stats);
