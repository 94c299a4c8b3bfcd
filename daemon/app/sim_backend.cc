// The simulated fabric in the daemon's own process: control plane, data plane, traffic, and a port to sit on.
// Served to other programs if wanted.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "app/agents_key.h"
#include "app/backend.h"
#include "fabric/source.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/path_migration.h"
#include "sim/host_agents.h"
#include "sim/make_plane.h"
#include "sim/scenario_player.h"
#include "sim/simulated_fabric.h"
#include "simserve/served_fabric.h"
#include "transport/clock.h"
#include "transport/paced_schedule.h"
#include "transport/sim_pump.h"
#include "transport/sim_transport.h"

namespace heddle::app {
namespace {

const std::string& source_of(const Config& config) {
  return config.fabric.file.empty() ? config.fabric.generate : config.fabric.file;
}

Result<ParsedFabric> describe(const Config& config) {
  auto parsed = load_fabric(source_of(config), config.fabric.partial ? Losses::Keep : Losses::Refuse);
  if (!parsed) return parsed;
  for (const auto& warning : parsed->warnings) spdlog::warn("{}", warning);
  for (const auto& detail : parsed->details) spdlog::debug("{}", detail);
  return parsed;
}

/// The agents of the simulated hosts.
class SimHosts final : public regulate::PathMigrator {
 public:
  SimHosts(boost::asio::io_context& io, const transport::Clock& clock, const sim::SimulatedFabric& fabric,
           sim::TrafficPlane& plane)
      : io_{io}, clock_{clock}, fabric_{fabric}, hosts_{plane} {}

  void migrate(unsigned plane, Instant now, Done done) override {
    const auto moved =
        hosts_.move_all(static_cast<std::uint8_t>(plane), std::max(transport::to_sim(now), fabric_.now()));
    boost::asio::post(io_, [this, moved, done = std::move(done)] { done(moved, clock_.now()); });
  }

 private:
  boost::asio::io_context& io_;
  const transport::Clock& clock_;
  const sim::SimulatedFabric& fabric_;
  sim::PathMigration hosts_;
};

class SimBackend final : public Backend {
 public:
  SimBackend(boost::asio::io_context& io, ParsedFabric description, const Config& config)
      : source_{source_of(config)},
        lost_{std::move(description.losses)},
        clock_{config.fabric.time_scale},
        fabric_{std::move(description.fabric), options(config)},
        player_{fabric_.description()},
        paced_{player_, clock_},
        pump_{io, fabric_, clock_} {}

  /// Traffic, at the level that the configuration says.
  Result<void> carry(boost::asio::io_context& io, const Config& config) {
    auto plane = sim::make_plane(
        view_, {config.fabric.plane, options(config).traits.data_vls, config.fabric.time_scale});
    if (!plane) return fail(plane.error());
    plane_ = std::move(*plane);
    fabric_.set_counter_source(plane_.get());
    fabric_.set_change_listener(plane_.get());
    plane_->set_schedule(&paced_);
    const auto key = key_of_agents(config);
    if (!key) return fail(key.error());
    if (*key) {
      migration_.emplace(*plane_);
      agents_ = std::make_unique<sim::HostAgents>(fabric_, *plane_, *migration_, **key);
    } else {
      hosts_ = std::make_unique<SimHosts>(io, clock_, fabric_, *plane_);
    }
    pump_.carry(*plane_);
    return {};
  }

  Result<void> play(const std::string& scenario) {
    const auto loaded = sim::load_scenario(scenario);
    if (!loaded) return fail(loaded.error());
    return player_.add(*loaded);
  }

  /// The first channel adapter is where the daemon sits.
  Result<void> sit_down() {
    auto transport = transport::SimTransport::open(fabric_, clock_, "", [this] { pump_.wake(); });
    if (!transport) return fail(transport.error());
    transport_ = std::move(*transport);
    return {};
  }

  /// To libibumad programs and to scripts.
  Result<void> serve(boost::asio::io_context& io, const std::string& name) {
    auto served =
        simserve::ServedFabric::open({io, fabric_, clock_, [this] { pump_.wake(); }},
                                     {plane_.get(), &player_}, {.name = name, .udp_port = std::nullopt});
    if (!served) return fail(served.error());
    served_ = std::move(*served);
    return {};
  }

  [[nodiscard]] transport::Transport& transport() override { return *transport_; }
  [[nodiscard]] const transport::Clock& clock() const override { return clock_; }
  [[nodiscard]] std::string kind() const override { return "sim"; }
  [[nodiscard]] std::string source() const override { return source_; }
  [[nodiscard]] std::vector<std::string> lost() const override { return lost_; }
  [[nodiscard]] regulate::PathMigrator* migrator() override { return hosts_.get(); }
  void stop() override {
    if (served_) served_->stop();
    pump_.stop();
  }

 private:
  static sim::Options options(const Config& config) {
    sim::Options options;
    options.seed = config.fabric.seed;
    options.training_delay = config.fabric.training_delay;
    options.longest_training = config.fabric.longest_training;
    // umad2sim hands over 232 of the 256 bytes of a MAD: no room for the 64-bit XmitWait.
    options.traits.extended_errors = config.fabric.serve.empty();
    return options;
  }

  std::string source_;
  std::vector<std::string> lost_;  ///< of the file that describes the fabric
  transport::SteadyClock clock_;
  sim::SimulatedFabric fabric_;
  sim::FabricView view_{fabric_};
  sim::ScenarioPlayer player_;
  transport::PacedSchedule paced_;
  std::unique_ptr<sim::TrafficPlane> plane_;
  std::unique_ptr<SimHosts> hosts_;              ///< none where hosts have agents that answer MADs
  std::optional<sim::PathMigration> migration_;  ///< of those
  std::unique_ptr<sim::HostAgents> agents_;
  transport::SimPump pump_;
  std::unique_ptr<transport::SimTransport> transport_;
  std::unique_ptr<simserve::ServedFabric> served_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_sim_backend(boost::asio::io_context& io, const Config& config) {
  auto description = describe(config);
  if (!description) return fail(description.error());
  auto backend = std::make_unique<SimBackend>(io, std::move(*description), config);
  if (auto carried = backend->carry(io, config); !carried)
    return fail("the simulated fabric", carried.error());
  if (auto seat = backend->sit_down(); !seat) return fail("the simulated fabric", seat.error());
  if (!config.fabric.scenario.empty()) {
    if (auto playing = backend->play(config.fabric.scenario); !playing) return fail(playing.error());
  }
  if (!config.fabric.serve.empty()) {
    if (auto served = backend->serve(io, config.fabric.serve); !served)
      return fail("fabric.serve", served.error());
  }
  return backend;
}

}  // namespace heddle::app
