#include "core/sm_observer.h"

#include <fmt/format.h>

#include <utility>

#include "mad/sm_state.h"

namespace heddle::core {
namespace {

using discovery::SmEvent;
using discovery::SmSight;

std::string text_of(const SmSight& sight) {
  if (!sight.info) return fmt::format("LID {}", sight.lid.raw());
  return fmt::format("LID {} (GUID {}, priority {}, {})", sight.lid.raw(), to_string(sight.info->guid),
                     sight.info->priority, mad::to_string(sight.info->state));
}

}  // namespace

SmObserver::SmObserver(transport::TransactionEngine& engine, transport::Transport& transport,
                       std::uint64_t m_key, Moved moved, Say say)
    : transport_{transport},
      moved_{std::move(moved)},
      say_{std::move(say)},
      watch_{engine, m_key, [this](const SmSight& seen, Instant now) { looked(seen, now); }} {}

void SmObserver::look(Instant now) { watch_.look(transport_.local().port, now); }

void SmObserver::looked(const SmSight& seen, Instant now) {
  const bool first = !sight_;
  const SmSight before = std::exchange(sight_, seen).value_or(SmSight{});
  switch (compare(before, seen)) {
    case SmEvent::Nothing:
      return;
    case SmEvent::Appeared:
      say_(Severity::Info, fmt::format("the subnet manager is at {}", text_of(seen)));
      if (!first) moved_(now);
      return;
    case SmEvent::Moved:
      ++moves_;
      say_(Severity::Warning, fmt::format("mastership moved from {} to {}", text_of(before), text_of(seen)));
      moved_(now);
      return;
    case SmEvent::Silent:
      say_(Severity::Warning,
           fmt::format("the subnet manager at {} does not answer as master", text_of(seen)));
      return;
    case SmEvent::Back:
      say_(Severity::Info, fmt::format("the subnet manager at {} answers again", text_of(seen)));
      return;
    case SmEvent::Gone:
      say_(Severity::Warning,
           fmt::format("this port has no subnet manager any more; the last one was at {}", text_of(before)));
      return;
  }
}

}  // namespace heddle::core
