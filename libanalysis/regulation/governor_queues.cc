// Queues of links that are to leave: behind a blocked head of line a link moves little, and looks idle though
// packets wait for it (facts/regulation.md).

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

namespace {

/// Of a link both ends send into it.
constexpr std::size_t ends_of_a_link = 2;

}  // namespace

std::string Governor::Impl::in_words(const QueueSeen& queue) const {
  const NodeIndex node = network->fabric().find_node(queue.port.node);
  return fmt::format("{} credits wait at {}/{} for VL {}", queue.credits,
                     node == no_node ? to_string(queue.port.node) : name(node), queue.port.port.raw(),
                     queue.vl.raw());
}

/// Trunk by trunk, as far as the budget goes: those of the others leave later. What was chosen for any
/// traffic leaves at once: part of it may crowd others, and all of it does not.
void Governor::Impl::look_then_begin(Choice choice) {
  std::vector<Take> takes = std::exchange(choice.takes, {});
  if (options.queue_looks == 0) return begin_chosen(choice, std::move(takes));
  std::vector<LinkRef> links;
  std::set<std::uint32_t> trunks;
  for (Take& take : takes) {
    const std::uint32_t trunk = network->trunk_of(take.link);
    if (!trunks.contains(trunk)) {
      std::vector<LinkRef> more;
      for (const LinkIndex link : network->trunks()[trunk].links) {
        if (is_on(at(link))) more.push_back(at(link).ref);
      }
      const bool has_room = choice.chosen_for == ChosenFor::Any || links.empty() ||
                            ends_of_a_link * (links.size() + more.size()) <= options.queue_looks;
      if (!has_room) continue;
      trunks.insert(trunk);
      links.insert(links.end(), more.begin(), more.end());
    }
    choice.takes.push_back(std::move(take));
  }
  if (choice.takes.size() < takes.size()) choice.takes = what_fits(choice, std::move(choice.takes));
  if (choice.takes.empty()) return;
  looked_for_ = std::move(choice);
  to_look_at_ = std::move(links);
  filled_.clear();
  look_on();
}

/// As many at a time as the budget has room for.
void Governor::Impl::look_on() {
  const std::size_t most = std::max<std::size_t>(1, options.queue_looks / ends_of_a_link);
  const auto end = to_look_at_.begin() + static_cast<std::ptrdiff_t>(std::min(most, to_look_at_.size()));
  std::vector<LinkRef> links(to_look_at_.begin(), end);
  to_look_at_.erase(to_look_at_.begin(), end);
  look_ = next_step();
  actions_.emplace_back(LookAtQueues{*look_, std::move(links)});
}

void Governor::Impl::handle(const QueuesSeen& event) {
  if (look_ == event.step) return queues_seen(event);
  if (step_ != event.step || stage != Stage::Draining) return;
  step_.reset();
  close_what_is_empty(event.filled);
}

/// Whoever is under way with it is answered to nobody.
void Governor::Impl::queues_seen(const QueuesSeen& event) {
  look_.reset();
  filled_.insert(filled_.end(), event.filled.begin(), event.filled.end());
  if (looked_for_ && !to_look_at_.empty()) return look_on();
  std::optional<Choice> choice = std::exchange(looked_for_, std::nullopt);
  // Whatever has begun meanwhile comes first: there is another choice soon.
  if (!choice || takes_from_ || stage != Stage::Idle || !opening_.empty() || !is_master_ ||
      mode != Mode::Enforce || is_stopping_)
    return;
  std::map<std::uint32_t, const QueueSeen*> filled;
  for (const QueueSeen& queue : filled_) {
    if (const auto link = find(queue.link)) filled.emplace(network->trunk_of(*link), &queue);
  }
  std::vector<LinkRef> kept;
  std::erase_if(choice->takes, [&](const Take& take) {
    LinkRecord& link = at(take.link);
    if (link.state != LinkState::Active || link.wanted) return true;
    const auto queue = filled.find(network->trunk_of(take.link));
    if (queue == filled.end()) return false;
    link.reason = "stays: " + in_words(*queue->second);
    kept.push_back(link.ref);
    return true;
  });
  if (!kept.empty())
    report(ReportKind::CalledOff, std::move(kept), "links stay: " + in_words(*filled.begin()->second));
  std::vector<Take> takes = what_fits(*choice, std::move(choice->takes));
  if (!takes.empty()) begin_chosen(*choice, std::move(takes));
}

void Governor::Impl::forget_look() {
  look_.reset();
  looked_for_.reset();
  to_look_at_.clear();
}

void Governor::Impl::look_then_close() {
  std::vector<LinkRef> links;
  for (const LinkRecord& link : records) {
    const bool may_stay = link.state == LinkState::Draining && link.off.cause == Cause::Regulation;
    if (may_stay && ends_of_a_link * (links.size() + 1) <= options.queue_looks) links.push_back(link.ref);
  }
  if (links.empty()) return close_now();
  step_ = next_step();
  actions_.emplace_back(LookAtQueues{*step_, std::move(links)});
}

/// No table leads there any more, and what was under way is gone: who still has packets for it would lose
/// them.
void Governor::Impl::close_what_is_empty(const std::vector<QueueSeen>& filled) {
  std::vector<LinkRef> kept;
  for (const QueueSeen& queue : filled) {
    const auto index = find(queue.link);
    if (!index || at(*index).state != LinkState::Draining) continue;
    LinkRecord& link = at(*index);
    move(link, LinkState::Ready);
    link.reason = "stays: " + in_words(queue);
    kept.push_back(link.ref);
  }
  if (!kept.empty())
    report(ReportKind::CalledOff, std::move(kept), "links stay: " + in_words(filled.front()));
  const bool some_go =
      std::ranges::any_of(records, [](const LinkRecord& link) { return link.state == LinkState::Draining; });
  some_go ? close_now() : finish("packets wait for them");
}

void Governor::Impl::close_now() {
  stage = Stage::Closing;
  retries_ = 0;
  for (LinkRecord& link : records) {
    if (link.state == LinkState::Draining) move(link, LinkState::Closing);
  }
  close_ports();
}

}  // namespace heddle::regulation
