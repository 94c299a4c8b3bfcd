#include "app/authorities.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "authority/lfts/lfts_opensm.h"
#include "authority/observer/follower.h"
#include "authority/observer/observer.h"
#include "authority/opensm/beside_opensm.h"
#include "authority/own/own_fabric.h"
#include "routing/link_set.h"
#include "routing/minhop.h"
#include "routing/packet_life.h"

namespace heddle::app {
namespace {

provision::LinkDriverOptions driver_options(const Config& config) {
  provision::LinkDriverOptions options;
  options.m_key = config.fabric.m_key;
  options.packet_life = config.regulation.governor.packet_life;
  return options;
}

provision::ProvisionOptions provision_options(const Config& config) {
  provision::ProvisionOptions options;
  options.ports.m_key = config.fabric.m_key;
  options.ports.lmc = static_cast<std::uint8_t>(config.sm.lmc);
  options.sm_key = config.sm.sm_key;
  options.packet_life = config.regulation.governor.packet_life;
  options.verify_within = config.sweep.heavy_interval;
  if (config.sm.administrator) options.administrator = sa::AdministratorOptions{.sm_key = config.sm.sm_key};
  return options;
}

Result<provision::Routes> route_minhop(const Fabric& fabric) {
  const auto graph = routing::SwitchGraph::make(fabric);
  if (!graph) return fail(graph.error());
  return routing::route_minhop(*graph, routing::LinkSet::all(fabric));
}

void write_down(const provision::ProvisionReport& report) {
  if (report.failure) {
    spdlog::warn("subnet manager: {}", report.failure->message);
  } else {
    spdlog::info("configured in {:.1f} ms: {} ports set, {} table blocks written, {} ports raised",
                 seconds(report.ended - report.begun) * 1e3, report.ports_set, report.blocks_written,
                 report.links_raised);
    if (report.multicast_groups > 0) {
      spdlog::info("{} multicast groups have members", report.multicast_groups);
    }
  }
  for (const auto& trouble : report.troubles) spdlog::warn("subnet manager: {}", trouble.text);
}

/// The backend's agents of hosts, whose word enters as everything does.
class Hosts final : public regulate::PathMigrator {
 public:
  Hosts(regulate::PathMigrator& agents, const core::FabricCore& core, Enter enter)
      : agents_{agents}, core_{core}, enter_{std::move(enter)} {}

  void migrate(unsigned plane, Instant now, Done done) override {
    agents_.migrate(
        plane, now,
        [&core = core_, enter = enter_, done = std::move(done)](const Result<void>& moved, Instant /*at*/) {
          enter([&] { done(moved, core.now()); });
        });
  }

 private:
  regulate::PathMigrator& agents_;
  const core::FabricCore& core_;
  Enter enter_;
};

/// Who moves connections: the core, by agents that answer MADs, or the backend. Null: nobody.
regulate::PathMigrator* migrator(const AroundAuthority& around, std::uint64_t lmc, AuthorityInForce& made) {
  if (lmc == 0) return nullptr;
  if (around.core.migrator() != nullptr) return around.core.migrator();
  if (around.migrator == nullptr) return nullptr;
  made.hosts = std::make_unique<Hosts>(*around.migrator, around.core, around.entering(core::Source::Hosts));
  return made.hosts.get();
}

AuthorityInForce own_fabric(const AroundAuthority& around, const Config& config) {
  provision::OwnFabricOptions options;
  options.provision = provision_options(config);
  options.driver = driver_options(config);
  options.planes = config.sm.lmc > 0 ? 2 : 1;
  if (config.sm.engine == RoutingEngine::MinHop) options.other_engine = route_minhop;
  AuthorityInForce made;
  made.authority = std::make_unique<provision::OwnFabric>(options, around.core.engine(), around.transport,
                                                          around.core.seat(),
                                                          migrator(around, config.sm.lmc, made), write_down);
  return made;
}

opensm::OpenSmActuatorOptions opensm_options(const Config& config) {
  opensm::OpenSmActuatorOptions options;
  options.planes = config.opensm.lmc > 0 ? 2 : 1;
  options.reduction = config.opensm.reduction ? opensm::Reduction::Allowed : opensm::Reduction::Refused;
  options.driver = driver_options(config);
  // Unless an operator says otherwise, the plugin goes by what the switches are told.
  const auto packet_life = config.regulation.governor.packet_life;
  if (packet_life != routing::default_packet_life) {
    options.packet_life = std::chrono::duration_cast<std::chrono::microseconds>(packet_life);
  }
  return options;
}

/// What the plugin says reaches the authority within an event; nobody listens before there is somebody to
/// listen. No words: it is gone.
void hear(const std::shared_ptr<opensm::BesideOpenSm*>& listener, const opensm::PluginEvent* said,
          Instant now) {
  if (*listener == nullptr) return;
  said != nullptr ? (*listener)->on_plugin(*said, now) : (*listener)->on_plugin_gone(now);
}

/// The plugin as it was when this run was recorded.
PluginDoor played_plugin(const AroundAuthority& around) {
  record::Replay& replay = *around.replay;
  const auto listener = std::make_shared<opensm::BesideOpenSm*>(nullptr);
  replay.hear_with([listener, &core = around.core](std::string_view words) {
    const auto said = opensm::parse_plugin_event(words);
    hear(listener, said ? &*said : nullptr, core.now());
  });
  auto behind = std::make_unique<opensm::PluginBehind>(
      [&replay](opensm::PluginBehind::Question what) {
        return replay.asked(static_cast<std::uint64_t>(what));
      },
      [&replay](opensm::PluginCommand command) { replay.told(to_string(command)); });
  return {nullptr, std::move(behind), listener};
}

std::unique_ptr<opensm::PluginBehind> recorded_plugin(record::Recorder& recorder,
                                                      opensm::PluginServer& real) {
  using Question = opensm::PluginBehind::Question;
  return std::make_unique<opensm::PluginBehind>(
      [&](Question what) {
        const bool is = what == Question::Connected ? real.connected() : real.has_others();
        return recorder.asked(static_cast<std::uint64_t>(what), is);
      },
      [&](opensm::PluginCommand command) {
        recorder.told(to_string(command));
        real.tell(command);
      });
}

Result<PluginDoor> open_plugin_door(const AroundAuthority& around, const Config& config) {
  if (around.replay != nullptr) return played_plugin(around);
  const auto listener = std::make_shared<opensm::BesideOpenSm*>(nullptr);
  auto server = opensm::PluginServer::listen(
      around.io, config.opensm.socket,
      {[listener, &core = around.core, hearing = around.hearing](const opensm::PluginEvent& event) {
         if (event.kind == opensm::PluginEvent::Kind::Hello) {
           spdlog::info("OpenSM's plugin is here, OpenSM is {}", event.state);
         }
         hearing([&] { hear(listener, &event, core.now()); }, to_line(event));
       },
       [listener, &core = around.core, hearing = around.hearing] {
         spdlog::warn("OpenSM's plugin is gone");
         hearing([&] { hear(listener, nullptr, core.now()); }, "");
       },
       [](const Error& error) { spdlog::warn("{}", error.message); }});
  if (!server) return fail("opensm.socket", server.error());
  PluginDoor door{*std::move(server), nullptr, listener};
  if (around.recorder != nullptr) door.behind = recorded_plugin(*around.recorder, *door.server);
  return door;
}

AuthorityInForce beside_opensm(const AroundAuthority& around, const Config& config, PluginDoor door) {
  AuthorityInForce made;
  auto* const hosts = migrator(around, config.opensm.lmc, made);
  opensm::PluginPort& plugin = door.behind ? static_cast<opensm::PluginPort&>(*door.behind) : *door.server;
  auto authority =
      std::make_unique<opensm::BesideOpenSm>(around.core.engine(), around.transport, around.core.seat(),
                                             plugin, around.plans, hosts, opensm_options(config));
  *door.listener = authority.get();
  made.plugin = std::move(door);
  made.authority = std::move(authority);
  made.opensm_metrics = std::make_shared<metrics::OpenSmMetrics>();
  return made;
}

/// The file, as it is there and as it goes down. `thread` is null where a run is played.
void use_file(const AroundAuthority& around, const Config& config, const TablesThread* thread,
              lfts::LftsOptions& options) {
  using What = record::Answer::What;
  if (around.replay != nullptr) {
    options.put = [failing = around.replay->failing(What::TablesFailed)](const std::string&) {
      return failing();
    };
    options.is_there = [failing = around.replay->failing(What::TablesGone)] { return failing().has_value(); };
    return;
  }
  options.put = [path = config.opensm.lfts_file, reload = config.opensm.reload,
                 ending = thread->ending.get_token()](const std::string& text) {
    return put_tables(path, text, reload, ending);
  };
  options.is_there = [path = config.opensm.lfts_file] {
    std::error_code unreadable;
    return std::filesystem::is_regular_file(path, unreadable);
  };
  if (around.recorder == nullptr) return;
  options.put = [put = options.put, noting = around.recorder->noting(What::TablesFailed)](
                    const std::string& text) { return noting(put(text)); };
  options.is_there = [is_there = options.is_there, noting = around.recorder->noting(What::TablesGone)] {
    const bool there = is_there();
    return noting(there ? Result<void>{} : fail(ErrorCode::NotFound, "it is not there")).has_value();
  };
}

Desk tables_desk(const AroundAuthority& around, const AuthorityInForce& made) {
  if (around.replay != nullptr) return around.replay->desk(core::Source::Tables);
  Desk desk = desk_at(
      made.tables->thread, [&core = around.core] { return core.now(); },
      around.entering(core::Source::Tables));
  return around.recorder != nullptr ? around.recorder->between(std::move(desk)) : desk;
}

AuthorityInForce by_file(const AroundAuthority& around, const Config& config) {
  lfts::LftsOptions options;
  options.lmc = static_cast<unsigned>(config.opensm.lmc);
  options.m_key = config.fabric.m_key;
  AuthorityInForce made;
  if (around.replay == nullptr) made.tables = std::make_unique<TablesThread>(around.io);
  use_file(around, config, made.tables.get(), options);
  auto* const hosts = migrator(around, config.opensm.lmc, made);
  made.authority = std::make_unique<lfts::LftsOpenSm>(
      around.core.engine(), around.transport, around.core.seat(), around.plans, tables_desk(around, made),
      hosts, opensm_options(config), std::move(options));
  return made;
}

AuthorityInForce observer(const AroundAuthority& around, const char* why_not, const char* why_not_regulated) {
  AuthorityInForce made;
  made.authority = std::make_unique<authority::Observer>(around.core.seat(), why_not, why_not_regulated);
  return made;
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> secrets_of(const Config& config) {
  return {{"fabric.m_key", config.fabric.m_key}, {"sm.sm_key", config.sm.sm_key}};
}

bool can_be_recorded(const Config& config) { return !shares_state(config); }

Result<AuthorityInForce> open_authority(const AroundAuthority& around, const Config& config) {
  constexpr const char* read_only = "fabric.read_only is set";
  if (config.fabric.read_only) return observer(around, read_only, read_only);
  if (config.opensm.plugin) {
    auto door = open_plugin_door(around, config);
    if (!door) return fail(door.error());
    return beside_opensm(around, config, *std::move(door));
  }
  if (!config.opensm.lfts_file.empty()) return by_file(around, config);
  if (may_manage_subnet(config)) return own_fabric(around, config);
  return observer(around, "this daemon is no subnet manager (sm.mode)",
                  "this daemon only watches the fabric of another subnet manager; set opensm.plugin or "
                  "opensm.lfts_file beside OpenSM, or sm.mode = \"auto\" where there is none");
}

Result<AuthorityInForce> follow(const AroundAuthority& around, const Config& config,
                                std::function<std::string()> whom) {
  AuthorityInForce made;
  if (config.opensm.plugin) {
    auto door = open_plugin_door(around, config);
    if (!door) return fail(door.error());
    made.plugin = *std::move(door);
  }
  made.authority = std::make_unique<authority::Follower>(around.core.seat(), std::move(whom));
  return made;
}

AuthorityInForce take_over(const AroundAuthority& around, const Config& config, AuthorityInForce following) {
  if (!following.plugin.server) return own_fabric(around, config);
  return beside_opensm(around, config, std::move(following.plugin));
}

bool is_fit(const AuthorityInForce& in_force, const core::FabricCore& core) {
  if (in_force.plugin.server) return in_force.plugin.server->has_master();
  return core.seen() && core.seen()->fabric->nodes().size() > 1;
}

}  // namespace heddle::app
