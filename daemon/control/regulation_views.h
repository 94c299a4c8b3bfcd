/// The regulation as JSON, as docs/api.md describes it. Pure: states in, values out.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "control/list_views.h"
#include "journal/journal.h"
#include "regulate/regulator.h"

namespace heddle::control {

[[nodiscard]] boost::json::value regulation_view(const regulate::Regulator& regulator);
[[nodiscard]] boost::json::value plan_view(const regulate::Regulator& regulator, Instant now);
/// Those whose name `match` fits, `most` of them; all where it is empty.
[[nodiscard]] boost::json::value power_links_view(const regulate::Regulator& regulator,
                                                  std::string_view match, std::uint64_t most, Instant now);

/// A value, so that any thread may write it down.
struct Energy {
  std::shared_ptr<const Fabric> reference;  ///< null before the first sweep
  power::EnergyRecord record;
  Watts power;
  Watts saving;
};
[[nodiscard]] Energy energy(const regulate::Regulator& regulator);
void write_energy(const Energy& energy, const TextSink& out);

/// As an entry of power_links_view(); null for a link that is not regulated.
[[nodiscard]] boost::json::value power_link_view(const regulate::Regulator& regulator, const LinkRef& link,
                                                 Instant now);
[[nodiscard]] boost::json::value events_view(const std::vector<journal::Event>& events, std::uint64_t after);

}  // namespace heddle::control
