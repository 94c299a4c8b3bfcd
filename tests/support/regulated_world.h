/// A simulated fabric with traffic, and the daemon's core as it ships, which regulates it on a clock that the
/// test moves. The daemon can be killed at any MAD or write, and started again on the same journal; MADs can
/// be lost one by one; a FabricWatch looks on at every instant.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/generators.h"
#include "fabric/source.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "sim/flow/path_migration.h"
#include "sim/host_agents.h"
#include "sim/scenario_player.h"
#include "sim/simulated_fabric.h"
#include "support/fabric_watch.h"
#include "support/fate.h"
#include "support/opensm/file_engine.h"
#include "support/opensm/scripted_opensm.h"
#include "support/opensm/scripted_plugin.h"
#include "support/world_shell.h"

namespace heddle::test {

/// Of a generator, or of a file if it begins with a slash.
inline std::shared_ptr<const Fabric> description_of(std::string_view source) {
  return source.starts_with('/') ? load_fabric(std::string{source})->fabric : *generate(source);
}

class RegulatedWorld {
 public:
  RegulatedWorld(std::string_view source, WorldOptions how, std::string journal_file)
      : options{std::move(how)}, path{std::move(journal_file)}, fabric{description_of(source), options.sim} {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
    fabric.set_counter_source(&plane);
    plane.set_schedule(&player);
    if (options.agents == HostAgents::Speak) {
      agents = std::make_unique<sim::HostAgents>(fabric, plane, hosts, apm::Key{});
    }
    if (options.written_by != WrittenBy::Daemon) start_opensm();
  }
  ~RegulatedWorld() { fabric.set_counter_source(nullptr); }
  RegulatedWorld(const RegulatedWorld&) = delete;
  RegulatedWorld& operator=(const RegulatedWorld&) = delete;

  void start() {
    daemon = std::make_unique<WorldShell>(*this);
    daemon->begin();
  }
  /// One that knows nothing. Whoever was there before is gone.
  void start_opensm() {
    stop_opensm();
    ScriptedOpenSmOptions how = options.opensm;
    how.lmc = options.lmc;
    opensm = std::make_unique<ScriptedOpenSm>(fabric, port, how, [this] { return now; });
    if (options.written_by == WrittenBy::Plugin) {
      const auto text = [this] { return plan_file; };
      auto made = std::make_unique<ScriptedPlugin>(*opensm, text, options.plugin);
      plugin = made.get();
      opensm->use(std::move(made));
      plugin->listen(listener_);
    } else {
      opensm->use(std::make_unique<FileEngine>(*opensm, [this] { return lfts_file; }));
    }
    opensm->begin();
  }
  void stop_opensm() {
    plugin = nullptr;
    if (!opensm) return;
    opensm.reset();
    if (listener_ != nullptr) listener_->gone();
  }
  /// OpenSM's plugin calls this one; null: nobody.
  void listen(ScriptedPlugin::Daemon* listener) {
    listener_ = listener;
    if (plugin != nullptr) plugin->listen(listener);
  }
  /// As opensm.lfts_file, and SIGHUP.
  void put_tables(std::string text) {
    lfts_file = std::move(text);
    if (opensm) opensm->ask_for_heavy_sweep();
  }
  /// Brings the fabric up from power-on, and begins to watch.
  void bring_up() {
    ASSERT_TRUE(run([&] { return !opensm || (opensm->quiet() && opensm->heavy_sweeps() > 0); }));
    start();
    ASSERT_TRUE(run([&] { return daemon->quiet() && has_tables(); }));
    watch.begin();
  }
  /// Of an OpenSM that has none from the daemon yet, none.
  [[nodiscard]] bool has_tables() const { return !opensm || (opensm->quiet() && opensm->has_tables()); }
  /// Also what is written, and packets under way as long as the daemon counts on.
  void judge_writes() {
    watch.judge_writes(options.governor.packet_life, [this](const routing::Target& target, Lid lid) {
      if (options.agents == HostAgents::Absent) return true;
      if (options.agents == HostAgents::Speak) return target.lmc == 0 || is_used(lid);
      return target.lmc == 0 || static_cast<unsigned>(lid.raw() - target.base.raw()) % 2 == traffic_plane;
    });
  }
  /// A connection leads to this LID.
  [[nodiscard]] bool is_used(Lid lid) const {
    return std::ranges::any_of(plane.ids(), [&](sim::TrafficId flow) {
      return fabric.port_info(plane.flow(flow).to).lid.raw() + plane.path(flow) == lid.raw();
    });
  }
  /// Hears of every MAD before it leaves the daemon, and before the daemon sees it.
  enum class Way : std::uint8_t { Sent, Received };
  std::function<void(Way, const mad::Packet&)> on_wire;

  /// The daemon is gone from one instant to the next; the fabric goes on.
  void kill() { daemon.reset(); }

  [[nodiscard]] Picoseconds ps() const { return Picoseconds{now.time_since_epoch()}; }
  [[nodiscard]] static Instant instant(Picoseconds at) {
    return Instant{std::chrono::duration_cast<FabricClock::duration>(at)};
  }

  /// Goes from event to event until `done`, or until so much time has passed. True if `done`.
  bool run(const std::function<bool()>& done, FabricClock::duration limit = std::chrono::minutes{10}) {
    const Instant end = now + limit;
    while (!done()) {
      std::optional<Instant> next = daemon ? daemon->next_deadline() : std::nullopt;
      const auto sooner = [&](std::optional<Picoseconds> at) {
        if (!at) return;
        // Round up: the fabric counts finer than we do.
        const Instant due = instant(*at + Picoseconds{999});
        if (!next || due < *next) next = due;
      };
      if (opensm) {
        const Instant due = *opensm->next_deadline();
        if (!next || due < *next) next = due;
      }
      sooner(fabric.next_event());
      sooner(plane.next_event());
      if (!next || *next > end) {
        now = end;
        advance();
        return done();
      }
      now = std::max(now, *next);
      advance();
      if (opensm && !fate.dead) opensm->on_timer();
      if (daemon && !fate.dead) daemon->on_timers();
      if (fate.dead) {
        daemon.reset();
        fate.dead = false;
        fate.on_moment = nullptr;
        return false;
      }
    }
    return true;
  }
  void run_for(FabricClock::duration span) {
    run([] { return false; }, span);
  }

  /// Whether one of the links between switches is off by a Set.
  [[nodiscard]] std::vector<LinkIndex> links_off() const {
    std::vector<LinkIndex> off;
    const Fabric& truth = fabric.description();
    for (std::uint32_t i = 0; i < truth.links().size(); ++i) {
      const Link& link = truth.link(LinkIndex{i});
      for (const LinkEnd& end : {link.a, link.b}) {
        if (fabric.port_info(truth.port_index(end)).physical == PhysState::Disabled) {
          off.push_back(LinkIndex{i});
          break;
        }
      }
    }
    return off;
  }

  WorldOptions options;
  std::string path;  ///< of the journal
  Fate fate;
  sim::SimulatedFabric fabric;
  sim::FabricView view{fabric};
  sim::FlowPlane plane{view};
  sim::ScenarioPlayer player{fabric.description()};
  sim::PathMigration hosts{plane};
  std::unique_ptr<sim::HostAgents> agents;  ///< none unless they speak
  std::optional<std::string> plan_file;     ///< for OpenSM's plugin
  std::optional<std::string> plan_file_before;
  std::optional<std::string> lfts_file;
  PortIndex port = no_port;    ///< where the daemon sits
  unsigned traffic_plane = 0;  ///< that hosts use where there are two
  Instant now{};
  FabricWatch watch{fabric, find_port(), &plane};
  std::unique_ptr<ScriptedOpenSm> opensm;  ///< none where the daemon is the subnet manager
  ScriptedPlugin* plugin = nullptr;        ///< in it, or null
  std::unique_ptr<WorldShell> daemon;
  std::vector<WorldShell::Order> orders;  ///< of recorded runs, by what is written of them

 private:
  ScriptedPlugin::Daemon* listener_ = nullptr;

  [[nodiscard]] PortIndex find_port() {
    const Fabric& truth = fabric.description();
    for (std::uint32_t i = 0; i < truth.ports().size(); ++i) {
      const Port& candidate = truth.port(PortIndex{i});
      const Node& node = truth.node(candidate.node);
      // No program runs on an aggregation node, to which a spine's neighbours may have no way.
      if (candidate.link == no_link || node.type != NodeType::ChannelAdapter || node.aggregation) continue;
      return port = PortIndex{i};
    }
    return no_port;
  }

  void advance() {
    // Traffic changes in turn with the fabric, so that it meets the routes of its time.
    for (auto next = plane.next_event(); next && *next <= ps(); next = plane.next_event()) {
      if (fabric.now() < *next) fabric.advance(*next);
      plane.advance(*next);
    }
    fabric.advance(std::max(ps(), fabric.now()));
  }
};

}  // namespace heddle::test
