#include "app/core_options.h"

#include <utility>

namespace heddle::app {
namespace {

/// A host without an agent is asked so many times less often than one with.
constexpr int looks_apart = 10;

transport::EngineOptions engine_options(const Config& config) {
  transport::EngineOptions options;
  options.window = static_cast<std::uint32_t>(config.sampling.window);
  options.per_agent = static_cast<std::uint32_t>(config.sampling.per_agent);
  options.timeout = config.sampling.timeout;
  options.attempts = static_cast<std::uint32_t>(config.sampling.retries) + 1;
  return options;
}

sampling::SamplerOptions sampler_options(const Config& config) {
  sampling::SamplerOptions options;
  options.history = config.sampling.history;
  // The simulated fabric has one tick everywhere, whatever device a description names.
  if (config.fabric.backend == BackendKind::Umad) options.ticks = load::documented_ticks();
  return options;
}

regulate::RegulatorOptions regulator_options(const Config& config, const NodeNames& names,
                                             const journal::Calendar& calendar) {
  regulate::RegulatorOptions options;
  options.governor = governor_options(config);
  options.calendar = calendar;
  options.pins = config.regulation.pin;
  options.tariff = config.tariff;
  options.measured = config.power.measured;
  options.names = names;
  return options;
}

}  // namespace

core::Settings core_settings(const Config& config) {
  core::Settings settings;
  settings.light_sweep = config.sweep.light_interval;
  settings.heavy_sweep = config.sweep.heavy_interval;
  settings.sampling = config.sampling.interval;
  settings.verify_qos = config.qos.verify_interval;
  for (const auto& set : config.sets) settings.sets.push_back({set.name, set.nodes});
  settings.mode = config.regulation.governor.mode;
  return settings;
}

core::CoreOptions core_options(const Config& config, NodeNames names, const journal::Calendar& calendar) {
  using Links = regulation::Stopping::Links;
  core::CoreOptions options;
  options.settings = core_settings(config);
  options.engine = engine_options(config);
  options.sampler = sampler_options(config);
  options.m_key = config.fabric.m_key;
  options.guest_smps_per_second = static_cast<std::uint32_t>(config.sweep.smps_per_second);
  options.health = config.health;
  options.isolation = config.isolation;
  options.regulation = regulator_options(config, names, calendar);
  options.on_stop = config.regulation.on_stop == OnStop::Leave ? Links::Stay : Links::ComeBack;
  if (!config.agents.key_file.empty()) {
    options.agents = regulate::HostAgentsOptions{.ask_every = config.agents.interval,
                                                 .look_every = looks_apart * config.agents.interval,
                                                 .patience = config.agents.patience};
  }
  options.names = std::move(names);
  return options;
}

}  // namespace heddle::app
