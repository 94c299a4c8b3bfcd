#include "health/isolation.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/links.h"

namespace heddle::health {
namespace {

/// What was refused, since hosts would be cut off, may be possible later.
constexpr FabricClock::duration ask_again_after = std::chrono::minutes{10};
/// A link that fails each of its trials is out for no longer than this before the next one.
constexpr int most_terms = 8;

/// What a link does to traffic that it carries. One that is merely slow does more good than none.
bool harms(Rule rule) {
  switch (rule) {
    case Rule::EffectiveBer:
    case Rule::SymbolErrors:
    case Rule::ReceiveErrors:
    case Rule::LinkRecovery:
    case Rule::LinkDowned:
    case Rule::LinkFlaps:
      return true;
    default:
      return false;
  }
}

/// Between switches, and carrying traffic.
bool can_go(const Fabric& fabric, const Link& link) {
  return joins_switches(fabric, link) && is_active(fabric, link);
}

std::size_t switch_links(const Fabric& fabric) {
  return static_cast<std::size_t>(
      std::ranges::count_if(fabric.links(), [&](const Link& link) { return can_go(fabric, link); }));
}

}  // namespace

std::string_view to_string(Isolate mode) {
  return mode == Isolate::Off ? "off" : mode == Isolate::Advise ? "advise" : "enforce";
}

std::size_t Isolation::most(std::size_t switch_links) const {
  const auto share = [&](Ratio of) {
    return static_cast<std::size_t>(static_cast<double>(switch_links) * of.value());
  };
  return std::min(std::max<std::size_t>(options_.most, share(options_.most_share)),
                  share(options_.never_more_than));
}

FabricClock::duration Isolation::term_of(const LinkRef& link, Instant now) const {
  const auto it = history_.find(link);
  if (it == history_.end() || it->second.term == FabricClock::duration{}) return options_.trial_after;
  // It has stood its trial.
  if (now - it->second.until > options_.trial_after) return options_.trial_after;
  return std::min(it->second.term * 2, options_.trial_after * most_terms);
}

std::vector<IsolationOrder> Isolation::decide(const Report& report, const Fabric& fabric,
                                              const Wishes& wishes, Instant now) const {
  std::vector<IsolationOrder> orders;
  if (options_.mode == Isolate::Off) return orders;
  std::set<LinkRef> decided = wishes.all;
  // Those that are out are not in sight.
  const std::size_t room = most(switch_links(fabric) + wishes.ours);
  for (const Finding& finding : report.findings) {
    if (finding.sureness != Sureness::Sure || !finding.peer || !harms(finding.rule)) continue;
    const PortIndex port = fabric.find_port(finding.at);
    if (port == no_port || fabric.port(port).link == no_link) continue;
    const Link& link = fabric.link(fabric.port(port).link);
    const LinkRef ref = link_ref(fabric, link);
    if (!can_go(fabric, link) || decided.contains(ref)) continue;
    if (wishes.ours + orders.size() >= room) break;
    const auto history = history_.find(ref);
    const bool was_refused = history != history_.end() && history->second.refused &&
                             now - *history->second.refused < ask_again_after;
    if (was_refused) continue;
    decided.insert(ref);
    orders.push_back(
        {ref, now + term_of(ref, now), fmt::format("{}: {}", to_string(finding.rule), finding.what)});
  }
  return orders;
}

void Isolation::given(const IsolationOrder& order, Instant now) {
  history_[order.link] = {.until = order.until, .term = order.until - now, .refused = std::nullopt};
}

void Isolation::refused(const IsolationOrder& order, Instant now) { history_[order.link].refused = now; }

}  // namespace heddle::health
