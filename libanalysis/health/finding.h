/// What is wrong with the fabric itself, for operators: a link that is bad, a port that lies, two nodes with
/// one name. (What the daemon fails to do is a Problem, base/problem.h.) docs/health.md has a line for each
/// rule.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace heddle::health {

enum class Rule : std::uint8_t {
  // as the fabric stands
  LinkWidth,  ///< narrower than both ends can
  LinkSpeed,  ///< slower than both ends can
  TrunkRate,  ///< slower than others between the same two switches
  DuplicateDescription,
  DuplicateGuid,
  DuplicateLid,
  // as its counters grow
  SymbolErrors,
  ReceiveErrors,
  LinkIntegrity,
  LinkRecovery,
  LinkDowned,
  LinkFlaps,
  XmitDiscards,
  UnbalancedTrunk,
  SilentCounters,  ///< never move
  FullCounters,    ///< stand at their largest value
  EffectiveBer,    ///< bit errors that could not be corrected
  OddDevice,       ///< another device, or another revision of it, than its peers are
  SlowReceiver,    ///< a host that takes less than its link brings: what waits for it holds up others
  RefutedRoutes,   ///< the tables in force lead round in circles, or nowhere
};

struct RuleName {
  Rule rule;
  std::string_view name;  ///< of metrics, answers and documents
};

inline constexpr std::array rule_names{
    RuleName{Rule::LinkWidth, "link-width"},
    RuleName{Rule::LinkSpeed, "link-speed"},
    RuleName{Rule::TrunkRate, "trunk-rate"},
    RuleName{Rule::DuplicateDescription, "duplicate-description"},
    RuleName{Rule::DuplicateGuid, "duplicate-guid"},
    RuleName{Rule::DuplicateLid, "duplicate-lid"},
    RuleName{Rule::SymbolErrors, "symbol-errors"},
    RuleName{Rule::ReceiveErrors, "receive-errors"},
    RuleName{Rule::LinkIntegrity, "link-integrity"},
    RuleName{Rule::LinkRecovery, "link-recovery"},
    RuleName{Rule::LinkDowned, "link-downed"},
    RuleName{Rule::LinkFlaps, "link-flaps"},
    RuleName{Rule::XmitDiscards, "xmit-discards"},
    RuleName{Rule::UnbalancedTrunk, "unbalanced-trunk"},
    RuleName{Rule::SilentCounters, "silent-counters"},
    RuleName{Rule::FullCounters, "full-counters"},
    RuleName{Rule::EffectiveBer, "effective-ber"},
    RuleName{Rule::OddDevice, "odd-device"},
    RuleName{Rule::SlowReceiver, "slow-receiver"},
    RuleName{Rule::RefutedRoutes, "refuted-routes"},
};
inline constexpr std::size_t rule_count = static_cast<std::size_t>(Rule::RefutedRoutes) + 1;
static_assert(rule_names.size() == rule_count);

[[nodiscard]] constexpr std::string_view to_string(Rule rule) {
  return rule_names[static_cast<std::size_t>(rule)].name;
}

enum class Sureness : std::uint8_t { Sure, Likely };
[[nodiscard]] constexpr std::string_view to_string(Sureness sureness) {
  return sureness == Sureness::Sure ? "sure" : "likely";
}

struct Finding {
  Rule rule = Rule::LinkWidth;
  Sureness sureness = Sureness::Likely;
  PortRef at;                   ///< where it shows; port 0: the node
  std::optional<PortRef> peer;  ///< the other end, where it is about a link
  std::optional<PortRef>
      blame;  ///< the end to look at first; port 0: the node; none where both are as likely
  Instant since;
  std::string what;    ///< one clause, printable, without names of nodes
  std::string advice;  ///< what to do, likewise
};

/// What was found, at one moment. Never changes once it is published.
struct Report {
  Instant at{};
  std::size_t ports = 0;          ///< cabled ones that were looked at
  std::vector<Finding> findings;  ///< sure ones first, then by rule and place

  [[nodiscard]] std::array<std::size_t, rule_count> counts() const {
    std::array<std::size_t, rule_count> sum{};
    for (const Finding& finding : findings) ++sum[static_cast<std::size_t>(finding.rule)];
    return sum;
  }
  [[nodiscard]] std::size_t sure() const {
    return static_cast<std::size_t>(std::ranges::count(findings, Sureness::Sure, &Finding::sureness));
  }
};

}  // namespace heddle::health
