// What OpenSM loads: the symbol osm_event_plugin, and nothing else is visible.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "channel.h"
#include "core/options.h"
#include "engine.h"
#include "opensm_headers.h"
#include "second_asking.h"

namespace heddle::plugin {
namespace {

std::string state_of(const osm_opensm_t& opensm) {
  switch (opensm.subn.sm_state) {
    case IB_SMINFO_STATE_MASTER:
      return "master";
    case IB_SMINFO_STATE_STANDBY:
      return "standby";
    case IB_SMINFO_STATE_DISCOVERING:
      return "discovering";
    default:
      return "inactive";
  }
}

constexpr std::chrono::milliseconds multicast_look{50};
constexpr std::chrono::milliseconds state_look{500};

/// One per OpenSM. Events come from several of its threads.
class Plugin {
 public:
  Plugin(osm_opensm_t& opensm, const Options& options)
      : opensm_{opensm},
        options_{options},
        engine_{opensm, options.plan, events_},
        second_asking_{opensm},
        channel_{options.socket,
                 events_,
                 {[this] { return greeting(); }, [this](Command command) { carry_out(command); },
                  [this] { return tick(); }}} {}

  [[nodiscard]] Engine& engine() { return engine_; }

  void report(osm_epi_event_id_t event, void* data) {
    switch (event) {
      case OSM_EVENT_ID_UCAST_ROUTING_DONE:
        routing_done(data == reinterpret_cast<void*>(UCAST_ROUTING_REROUTE));
        return;
      case OSM_EVENT_ID_SUBNET_UP:
        // It comes even where there were errors.
        window_ = opensm_.subn.subnet_initialization_error == 0;
        events_.push(subnet_up_line(!window_, engine_.epoch()));
        engine_.subnet_up();
        return;
      case OSM_EVENT_ID_HEAVY_SWEEP_START:
        window_ = false;
        events_.push(plain_line("heavy_sweep_start"));  // at once: no port is to be set from here on
        engine_.heavy_sweep_starts();
        return;
      case OSM_EVENT_ID_HEAVY_SWEEP_DONE:
        second_asking_.run(engine_.links_off());
        engine_.read_tables();
        blocks_ = 0;  // of those that were read
        events_.push(plain_line("heavy_sweep_done"));
        return;
      case OSM_EVENT_ID_STATE_CHANGE:
        events_.push(state_line(state_of(opensm_)));
        return;
      case OSM_EVENT_ID_LFT_CHANGE:
        blocks_.fetch_add(1, std::memory_order_relaxed);
        return;
      case OSM_EVENT_ID_TRAP:
        trap(*static_cast<const ib_mad_notice_attr_t*>(data));
        return;
      default:
        return;
    }
  }

 private:
  void routing_done(bool reroute) {
    Confirmation done = engine_.routing_done(reroute);
    done.blocks = blocks_.exchange(0);
    engine_.log().info(fmt::format("routing done, epoch {}, {} blocks, {} switches behind", done.epoch,
                                   done.blocks, done.switches_behind));
    {
      const std::lock_guard lock(mutex_);
      last_ = done;
      multicast_waits_ = multicast_waits_ || done.groups != 0;
    }
    events_.push(routing_line(done));
    events_.push(timings_line(engine_.timings()));
  }

  void trap(const ib_mad_notice_attr_t& notice) {
    const unsigned number =
        ib_notice_is_generic(&notice) != 0 ? cl_ntoh16(notice.g_or_v.generic.trap_num) : 0;
    events_.push(trap_line(ib_notice_get_type(&notice), number, cl_ntoh16(notice.issuer_lid)));
  }

  std::string greeting() {
    const std::lock_guard lock(mutex_);
    return hello_line({OSM_VERSION, options_.plan, state_of(opensm_), events_.dropped(), window_}, last_);
  }

  void carry_out(Command command) {
    if (command == Command::NewPlan) engine_.ask_for_reroute();
    if (command == Command::HeavySweep) engine_.ask_for_heavy_sweep();
    if (command == Command::Status) {
      events_.push(greeting());
      events_.push(timings_line(engine_.timings()));
    }
  }

  /// How long until something else may be due.
  std::chrono::milliseconds tick() {
    look_at_state();
    const auto now = Timings::Clock::now();
    engine_.go_on(now);
    const bool groups_change = multicast_is_waited_for() || !engine_.groups_are_settled();
    std::chrono::milliseconds next = groups_change ? multicast_look : state_look;
    if (const auto at = engine_.next_pass_at()) {
      next = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(*at - now), std::chrono::milliseconds{0},
                        next);
    }
    return next;
  }

  /// OpenSM hands mastership over, or gets it, without an event (osm_state_mgr.c, do_sweep).
  void look_at_state() {
    std::string state = state_of(opensm_);
    if (state == state_) return;
    state_ = std::move(state);
    if (state_ != "master") window_ = false;
    events_.push(state_line(state_));
  }

  bool multicast_is_waited_for() {
    const std::lock_guard lock(mutex_);
    if (!multicast_waits_) return false;
    if (engine_.multicast_is_pending()) return true;
    multicast_waits_ = false;
    events_.push(multicast_line(last_.epoch, opensm_.subn.subnet_initialization_error != 0));
    return false;
  }

  osm_opensm_t& opensm_;
  Options options_;
  EventQueue events_;
  Engine engine_;
  SecondAsking second_asking_;
  std::atomic<std::uint64_t> blocks_{0};
  std::atomic<bool> window_{false};
  std::mutex mutex_;
  Confirmation last_;
  bool multicast_waits_ = false;
  std::string state_;  ///< as told last; the channel's thread
  Channel channel_;    ///< last: its thread uses the others
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
    auto plugin = std::make_unique<Plugin>(*opensm, *options);
    // The name is copied, the context kept.
    external_routing_engine_module_t module{"heddle", &set_up, &plugin->engine()};
    if (osm_register_external_routing_engine(opensm, &module, &plugin->engine()) != CL_SUCCESS) {
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
  const Stopwatch watch(plugin.engine().timings(), Callback::Report);
  guarded(plugin.engine().log(), "an event", 0, [&] {
    plugin.report(event, event_data);
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
