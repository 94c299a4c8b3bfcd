// What OpenSM loads: the symbol osm_event_plugin, and nothing else is visible.

#include <fmt/format.h>

#include <memory>

#include "core/options.h"
#include "engine.h"
#include "opensm_headers.h"

namespace heddle::plugin {
namespace {

struct Plugin {
  osm_opensm_t* opensm;
  Log log;
  std::unique_ptr<Engine> engine;
};

int set_up(osm_routing_engine_t* engine, osm_opensm_t* opensm) {
  const Log log(opensm->log);
  return guarded(log, "setting the engine up", -1, [&] {
    static_cast<Engine*>(engine->context)->attach(*engine);
    return 0;
  });
}

/// OpenSM has compared version strings before. A build of the same version with other options has another
/// layout: pointers of OpenSM to itself tell.
bool has_our_layout(const osm_opensm_t& opensm) {
  return opensm.osm_version != nullptr && std::strcmp(opensm.osm_version, OSM_VERSION) == 0 &&
         opensm.subn.p_osm == &opensm && opensm.sm.p_subn == &opensm.subn && opensm.sm.p_log == &opensm.log &&
         opensm.sm.p_lock == &opensm.lock && opensm.sa.p_log == &opensm.log;
}

void* create(osm_opensm_t* opensm) {
  if (!has_our_layout(*opensm)) {
    std::fprintf(stderr,
                 "libheddle-opensm.so was built for %s with other options than this OpenSM's; build it with "
                 "the headers of this OpenSM\n",
                 OSM_VERSION);
    return nullptr;
  }
  const Log log(opensm->log);
  return guarded(log, "starting", static_cast<void*>(nullptr), [&]() -> void* {
    const char* text = opensm->subn.opt.event_plugin_options;
    const auto options = parse_options(text != nullptr ? text : "");
    if (!options) {
      log.error("HE07", options.error().message);
      return nullptr;
    }
    auto plugin =
        std::make_unique<Plugin>(Plugin{opensm, log, std::make_unique<Engine>(*opensm, options->plan)});
    // The name is copied, the context kept.
    external_routing_engine_module_t module{"heddle", &set_up, plugin->engine.get()};
    if (osm_register_external_routing_engine(opensm, &module, plugin->engine.get()) != CL_SUCCESS) {
      log.error("HE08", "OpenSM did not register the routing engine");
      return nullptr;
    }
    log.notice(fmt::format("plugin for {}; plan {}", OSM_VERSION, options->plan));
    return plugin.release();
  });
}

void destroy(void* data) { delete static_cast<Plugin*>(data); }

void report(void* data, osm_epi_event_id_t event, void* event_data) {
  auto& plugin = *static_cast<Plugin*>(data);
  const Stopwatch watch(plugin.engine->timings(), Callback::Report);
  guarded(plugin.log, "an event", 0, [&] {
    if (event == OSM_EVENT_ID_UCAST_ROUTING_DONE) {
      const bool reroute = event_data == reinterpret_cast<void*>(UCAST_ROUTING_REROUTE);
      const auto done = plugin.engine->routing_done(reroute);
      plugin.log.info(
          fmt::format("routing done, epoch {}, {} switches behind", done.epoch, done.switches_behind));
    } else if (event == OSM_EVENT_ID_SUBNET_UP) {
      plugin.engine->subnet_up();
    }
    return 0;
  });
}

}  // namespace
}  // namespace heddle::plugin

extern "C" {
// OpenSM's own declaration does not name it; the version script exports it.
__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
    OSM_VERSION, &heddle::plugin::create, &heddle::plugin::destroy, &heddle::plugin::report};
}
