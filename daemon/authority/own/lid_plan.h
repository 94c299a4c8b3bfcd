/// Which LID each port is to have. Ports keep what they have as long as it is valid and nobody else's, and
/// get back what they had before, so that neither a restart of the manager nor one of a host moves anybody.
/// Of two that say they have the same one, it is whose it was: nobody takes a LID by saying that it is his.
/// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "mad/survey.h"

namespace heddle::provision {

/// Base LIDs by port: of switches port 0, of others each cabled port.
using LidsByPort = std::unordered_map<PortRef, Lid>;

struct LidPlan {
  LidsByPort lids;
  /// Ports whose LID had to change, and why: a conflict, a wrong alignment.
  std::vector<std::string> moved;
};

/// `remembered` is what ports had in earlier plans. Switches have an LMC of 0 (IBA 14.2.5.6, base port 0).
/// Errors: Invalid for an LMC above 7, Conflict when the unicast LIDs do not suffice.
[[nodiscard]] Result<LidPlan> plan_lids(const Survey& survey, std::uint8_t lmc, const LidsByPort& remembered);

/// Adds what the plan gave; who had one of these LIDs before, and is not in the plan, has none any more.
/// Beyond `most_remembered`, what is not in it is forgotten: a node may call itself another one each time.
void remember(const LidPlan& plan, LidsByPort& remembered);
constexpr std::size_t most_remembered = 100'000;  ///< ports; twice as many as there are unicast LIDs

}  // namespace heddle::provision
