/// Which bad links are to be taken out: what UFM's PDR plugin does, with the regulation's proof behind it.
/// What is decided here is a wish like an operator's, which ends by itself: then the link is on trial. The
/// governor carries it out, tables first, refuses what would cut hosts off, and has it in the journal.
///
/// How often a link was taken out is known since the start only.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/change.h"
#include "health/finding.h"

namespace heddle::health {

enum class Isolate : std::uint8_t {
  Off,
  Advise,   ///< say which would go
  Enforce,  ///< and have them go
};
[[nodiscard]] std::string_view to_string(Isolate mode);

/// Sources: UFM's PDR plugin (ufm_sdk_3.0): 10 links or half a percent, back after some two hours.
struct IsolationOptions {
  Isolate mode = Isolate::Advise;
  FabricClock::duration trial_after = std::chrono::minutes{125};
  std::uint32_t most = 10;      ///< links at a time ...
  Ratio most_share{0.005};      ///< ... or this share of those between switches, where that is more ...
  Ratio never_more_than{0.10};  ///< ... but never more than this
};

struct IsolationOrder {
  LinkRef link;
  Instant until;
  std::string reason;  ///< printable
  friend bool operator==(const IsolationOrder&, const IsolationOrder&) = default;
};

class Isolation {
 public:
  explicit Isolation(const IsolationOptions& options = {}) : options_{options} {}

  /// What somebody wants of links: of these nothing is ordered. `ours`: how many of them by orders from here.
  struct Wishes {
    std::set<LinkRef> all;
    std::size_t ours = 0;
  };
  /// Orders to give, or, with Advise, that would be given. `fabric`: what carries traffic.
  [[nodiscard]] std::vector<IsolationOrder> decide(const Report& report, const Fabric& fabric,
                                                   const Wishes& wishes, Instant now) const;
  /// The order was given: the next one for this link, if it comes soon after the trial, lasts twice as long.
  void given(const IsolationOrder& order, Instant now);
  /// It was not taken, as where hosts would be cut off: it is not given again for a while.
  void refused(const IsolationOrder& order, Instant now);
  /// How many may be out at a time.
  [[nodiscard]] std::size_t most(std::size_t switch_links) const;

 private:
  struct History {
    Instant until{};  ///< of the last order
    FabricClock::duration term{};
    std::optional<Instant> refused;
  };
  [[nodiscard]] FabricClock::duration term_of(const LinkRef& link, Instant now) const;

  IsolationOptions options_;
  std::map<LinkRef, History> history_;
};

}  // namespace heddle::health
