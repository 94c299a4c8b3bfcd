/// Which agents have an attribute of which no capability bit tells: an agent that refuses it is not asked
/// again, one that is silent not for a while.
#pragma once

#include <map>
#include <set>

#include "base/ids.h"
#include "base/units.h"
#include "transport/transactions.h"

namespace heddle::sampling {

class AttributeHolders {
 public:
  /// `silence`: before a silent agent is asked again.
  explicit AttributeHolders(FabricClock::duration silence) : silence_{silence} {}

  /// Agents that were silent long enough may be asked again.
  void forget(Instant now) {
    std::erase_if(silent_until_, [now](const auto& each) { return each.second <= now; });
  }
  [[nodiscard]] bool may_ask(const PortRef& agent) const {
    return !refuse_.contains(agent) && !silent_until_.contains(agent);
  }
  [[nodiscard]] bool has(const PortRef& agent) const { return have_.contains(agent); }
  /// True the first time.
  bool answered(const PortRef& agent) { return have_.insert(agent).second; }
  void unanswered(const PortRef& agent, const transport::Completion& completion) {
    if (completion.outcome == transport::Outcome::Refused) {
      have_.erase(agent);
      refuse_.insert(agent);
    } else if (!have_.contains(agent)) {
      silent_until_[agent] = completion.at + silence_;
    }
  }

 private:
  FabricClock::duration silence_;
  std::set<PortRef> have_;
  std::set<PortRef> refuse_;
  std::map<PortRef, Instant> silent_until_;
};

}  // namespace heddle::sampling
