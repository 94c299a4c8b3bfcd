/// The regulation as JSON, as docs/api.md describes it. Pure: states in, values out.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "control/account_view.h"
#include "control/list_views.h"
#include "core/regulation_control.h"
#include "journal/journal.h"

namespace heddle::control {

[[nodiscard]] boost::json::value regulation_view(const core::RegulationState& state);

/// The hosts whose connections are to move between LID planes.
struct HostAgentsShown {
  std::size_t hosts = 0;
  std::size_t agents = 0;  ///< that answer
  std::size_t able = 0;    ///< hosts of which everything can be moved
  std::uint64_t connections = 0;
  std::vector<std::uint64_t> in_plane;
  std::uint64_t armed = 0;
  std::uint64_t failed = 0;
  std::uint64_t unable = 0;
  std::uint64_t others = 0;
  std::uint64_t moves = 0;
  std::uint64_t failed_moves = 0;
  std::string trouble;                       ///< of the last move that failed
  bool by_planes = false;                    ///< tables of a plane are written while nothing uses it
  std::optional<Ratio> immovable;            ///< share of what hosts send
  std::vector<std::string> immovable_hosts;  ///< the first ones, and why
};
[[nodiscard]] boost::json::value host_agents_view(const HostAgentsShown& shown);

// What is as long as the fabric is large: values, so that any thread may write them down.

/// A link that is left on because it took so long to come back.
struct SlowLink {
  LinkRef link;
  std::chrono::nanoseconds took{};
};

struct PlanShown {
  regulation::Mode mode{};
  std::optional<regulation::Plan> plan;
  std::shared_ptr<const Fabric> reference;  ///< null before the first sweep
  std::vector<SlowLink> slow;
  std::vector<regulation::IdleSwitch> idle;
  Instant now;
};
[[nodiscard]] PlanShown plan(const core::RegulationState& state, core::RegulationPlan planned, Instant now);
void write_plan(const PlanShown& plan, const TextSink& out);

struct PowerLinks {
  std::vector<regulation::LinkStatus> links;
  std::shared_ptr<const Fabric> reference;  ///< null before the first sweep
  std::string match;                        ///< over names; empty: all of them
  std::uint64_t most = 0;
  Instant now;
};
[[nodiscard]] PowerLinks power_links(core::RegulationState state, std::string match, std::uint64_t most,
                                     Instant now);
void write_power_links(const PowerLinks& links, const TextSink& out);

struct Energy {
  std::shared_ptr<const Fabric> reference;  ///< null before the first sweep
  power::EnergyRecord record;
  Watts power;
  Watts saving;
  Account account;
  std::vector<power::Compared> measured;
};
[[nodiscard]] Energy energy(const core::RegulationState& state, power::EnergyRecord record);
void write_energy(const Energy& energy, const TextSink& out);

/// As an entry of write_power_links(); null for a link that is not regulated.
[[nodiscard]] boost::json::value power_link_view(const core::RegulationState& state, const LinkRef& link,
                                                 Instant now);
[[nodiscard]] boost::json::value events_view(const std::vector<journal::Event>& events, std::uint64_t after);

}  // namespace heddle::control
