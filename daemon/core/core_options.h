/// What the core is told at its start, and what may change while it runs. app/ makes it of the configuration.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "authority/host_agents.h"
#include "base/units.h"
#include "fabric/node_names.h"
#include "health/isolation.h"
#include "health/options.h"
#include "load/locality.h"
#include "regulate/regulator.h"
#include "regulation/governor.h"
#include "sampling/sampler.h"
#include "transport/transactions.h"

namespace heddle::core {

/// What may change while the core runs.
struct Settings {
  FabricClock::duration light_sweep = std::chrono::seconds{10};
  FabricClock::duration heavy_sweep = std::chrono::minutes{10};
  FabricClock::duration sampling = std::chrono::seconds{1};
  FabricClock::duration verify_qos = std::chrono::minutes{10};  ///< zero: only when asked to
  std::vector<load::NamedSet> sets{};
  regulation::Mode mode = regulation::Mode::Advise;
};

struct CoreOptions {
  Settings settings{};
  transport::EngineOptions engine{};
  sampling::SamplerOptions sampler{};  ///< but for what is among the settings
  std::uint64_t m_key = 0;
  std::uint32_t guest_smps_per_second = 0;  ///< see discovery::SweepOptions
  health::Options health{};
  health::IsolationOptions isolation{};
  regulate::RegulatorOptions regulation{};  ///< but for the mode
  /// What becomes of links that are off when the core is stopped.
  regulation::Stopping::Links on_stop = regulation::Stopping::Links::ComeBack;
  std::optional<regulate::HostAgentsOptions> agents{};  ///< of hosts; none: nobody speaks with them
  NodeNames names{};                                    ///< that the operator gave
};

}  // namespace heddle::core
