/// What the governor keeps of links, of orders and of choices. Parts of its inside: only governor_impl.h
/// includes this.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "regulation/any_search.h"
#include "regulation/governor.h"

namespace heddle::regulation::governing {

struct LinkRecord {
  LinkRef ref;
  LinkState state = LinkState::Active;
  power::LinkMode full;
  power::LinkMode mode;
  Instant since;         ///< of the state
  Instant active_since;  ///< last time it became Active
  Instant off_since;
  OffRecord off;        ///< while it leaves, drains, closes or is off
  bool wanted = false;  ///< is to be opened as soon as it can be
  unsigned doubling = 0;
  std::deque<Instant> transitions;    ///< of the last 24 hours
  std::optional<Instant> retry_at;    ///< of an order that failed
  bool came_up = false;               ///< while off or opening: it was up when it came in sight
  bool in_vain = false;               ///< ordered on and did not come; what is behind it is gone
  bool went_alone = false;            ///< off by this program's order, confirmed, and nothing befell it since
  std::optional<Instant> ordered_on;  ///< for the first time since then
  std::string reason;
};

/// Links that are ordered on together.
struct OpenStep {
  ChangeId change;
  std::vector<LinkRef> links;
  unsigned retries = 0;
};

struct Take {
  LinkIndex link;
  power::LinkMode mode;
  Cause cause = Cause::Regulation;
  std::string reason;
};

/// How links leave.
enum class Kind : std::uint8_t { Closing, Mode };

/// Why a link is to go off. Precondition: its wish is Off.
struct OffOrder {
  std::string by;
  std::string reason;
  bool forced = false;
};

struct Choice {
  ChosenFor chosen_for = ChosenFor::Present;
  SelectPolicy policy = SelectPolicy::Trunk;  ///< by which it was made
  routing::LinkSet available;
  MeasuredLoads loads;
  Selection selection;
  std::vector<Take> takes;  ///< links that are to leave
};

/// What became of a choice.
enum class Took : std::uint8_t {
  Some,
  NoneMay,   ///< nothing leaves by it, or not yet
  NoneFits,  ///< no part of it that is small enough
};

/// Links for whatever the hosts could send at their rates.
struct AnySet {
  std::unique_ptr<AnySearch> search;  ///< that found it, or found that it still does; never null
  routing::LinkSet active;
  AnyLinks::Outcome outcome;
  Instant fewer_from;  ///< not before that a set with fewer links is looked for
  /// The hosts have sent less for all of a quiet time: what it spares may leave without another one.
  bool is_due = false;
};

/// Of a search for such a set.
enum class SearchFor : std::uint8_t {
  More,  ///< the hosts send more: links may come back
  Same,  ///< others have to stay, or are there: likewise
  Less,  ///< among what is on alone
};

/// Loads, and the links that were in the tables.
struct Seen {
  routing::LinkSet active;
  MeasuredLoads loads;
};

/// How far predictions are trusted: whenever links must come back although the hosts send no more than when
/// they left, the margin grows, and for a while that doubles the trunk rule decides.
struct Trust {
  double sent_then = 0;  ///< bit/s of all hosts at the last choice that was carried out
  unsigned distrust = 0;
  bool is_proving = false;     ///< links left by a choice, and nobody knows yet whether it was right
  unsigned proved = 0;         ///< choices in a row that were right
  double sent_when_wrong = 0;  ///< bit/s of all hosts when the last choice was found wrong; 0: it was not
  std::optional<Instant> hold_until{};
};

/// How often links were exchanged for others while the hosts sent the same: what the next exchange waits for.
struct Swaps {
  unsigned count = 0;
  double sent = 0;  ///< bit/s of all hosts at the last one
  std::optional<Instant> none_until{};
};

}  // namespace heddle::regulation::governing
