/// How the governor weighs saving against coming back. Every value is the operator's.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "regulation/link_policy.h"
#include "regulation/memory.h"
#include "regulation/selector.h"
#include "routing/packet_life.h"

namespace heddle::regulation {

enum class Movement : std::uint8_t {
  Planes,  ///< hosts migrate from plane to plane
  Staged,  ///< traffic cannot move: all planes are written in stages
};
enum class AfterLoss : std::uint8_t {
  BringBack,  ///< links that are off are set on: whoever is master now routes over them
  Leave,      ///< nothing is touched
};

/// What the general policy chooses links for.
enum class ChosenFor : std::uint8_t {
  Present,  ///< the flows of the moment, as estimated
  Any,      ///< whatever the hosts could send to one another at their rates (any_links.h)
};
[[nodiscard]] std::string_view to_string(ChosenFor chosen_for);

struct GovernorOptions {
  Mode mode = Mode::Advise;
  SelectOptions select;
  PolicyOptions policy;
  ChosenFor chosen_for = ChosenFor::Present;
  power::PowerModel power;
  Movement movement = Movement::Planes;
  unsigned planes = 2;
  AfterLoss after_loss = AfterLoss::BringBack;

  /// A link must have been below its threshold for so long, by the busiest sample of that time.
  std::chrono::nanoseconds quiet = std::chrono::minutes{10};
  std::chrono::nanoseconds least_on = std::chrono::minutes{10};
  std::chrono::nanoseconds least_off = std::chrono::minutes{2};  ///< against everything but rising load
  /// Between the last confirmed table and the first port that is closed; at least `packet_life`.
  std::chrono::nanoseconds drain = std::chrono::seconds{2};
  /// How long a packet is under way at most (routing/packet_life.h).
  std::chrono::nanoseconds packet_life = routing::default_packet_life;
  /// Between two selections.
  std::chrono::nanoseconds plan_every = std::chrono::seconds{30};
  /// From the order until traffic flows again, until links have shown it (wake_times.h; table 2 of the paper:
  /// DDR 4x, 4.5 s).
  std::chrono::nanoseconds wake = std::chrono::milliseconds{4500};
  /// A link that took longer to come back is left on from then on.
  std::chrono::nanoseconds longest_wake = std::chrono::minutes{2};
  /// A link is closed only if it is expected to stay off for so many times what going and coming back take.
  /// Expected is what it has been quiet for; twice as much after each time it had to come back sooner.
  double break_even = 10;
  /// XmitWait's share of the time above which a link counts as overloaded whatever it carries.
  Ratio waiting{0.20};
  /// Transmit queues that are looked into before links leave, and once more before their ports are closed; 0:
  /// none. Two MADs each, where agents have PortSamplesControl. Links that this has no room for stay for now.
  unsigned queue_looks = 4096;
  /// Links taken away at a time as long as no choice has proved right; each that does doubles it, one that
  /// was wrong takes it back. 0: no limit.
  unsigned first_closing = 16;
  unsigned most_closing = 0;       ///< links taken away at a time at most; 0: any number
  unsigned most_transitions = 24;  ///< of one link in 24 hours; then it is left on
  unsigned retries = 2;            ///< of each step
  std::chrono::nanoseconds retry_after = std::chrono::seconds{30};  ///< of what must succeed in the end
};

/// Errors: Invalid with the key and what may stand there.
[[nodiscard]] Result<void> check(const GovernorOptions& options);

}  // namespace heddle::regulation
