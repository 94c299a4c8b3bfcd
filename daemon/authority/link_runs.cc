#include "authority/link_runs.h"

#include <algorithm>
#include <utility>

namespace heddle::authority {

using regulate::LinkTo;
using Window = LinkRunsSeat::Window;

namespace {

Error not_wanted() { return {ErrorCode::Conflict, "it was called off before the port was set"}; }

}  // namespace

void LinkRuns::run(const std::vector<Order>& orders, Instant now, Done done) {
  auto run = std::make_shared<Run>();
  run->done = std::move(done);
  run->open = orders.size();
  for (std::size_t i = 0; i < orders.size(); ++i) {
    run->outcomes.push_back({orders[i].link, std::nullopt});
    auto& queue = queues_[orders[i].link];
    for (const ItemPtr& earlier : std::deque(queue)) call_off(*earlier, not_wanted(), now);
    auto item = std::make_shared<Item>();
    item->order = orders[i];
    item->run = run;
    item->number = i;
    queues_[orders[i].link].push_back(std::move(item));
  }
  if (orders.empty()) due_.at(now, [run](Instant at) { run->done(run->outcomes, at); });
  due_.at(now, [this](Instant at) { begin_what_can(at); });
}

void LinkRuns::remember_off(const std::vector<LinkRef>& links) {
  closed_.insert(links.begin(), links.end());
  seat_.on_closed_changed();
}

std::vector<LinkRef> LinkRuns::going() const {
  std::vector<LinkRef> links;
  for (const auto& [link, queue] : queues_) {
    const Item& item = *queue.front();
    const bool is_begun = item.state == State::Closing || item.state == State::Ready;
    if (is_begun && item.order.to != LinkTo::On) links.push_back(link);
  }
  return links;
}

void LinkRuns::take_routes(const Survey& from) {
  for (const auto& batch : batches_) batch->setter->take_routes(from);
}

void LinkRuns::call_off(const std::vector<LinkRef>& links, Instant now) {
  for (const LinkRef& link : links) {
    const auto queue = queues_.find(link);
    if (queue == queues_.end()) continue;
    for (const ItemPtr& item : std::deque(queue->second)) call_off(*item, not_wanted(), now);
  }
}

bool LinkRuns::turns_on(const LinkRef& link) const {
  const auto queue = queues_.find(link);
  return queue != queues_.end() && queue->second.front()->order.to == LinkTo::On;
}

void LinkRuns::call_off_what_goes(const std::vector<LinkRef>& kept_off, const Error& why, Instant now) {
  std::vector<ItemPtr> going;
  for (const auto& [link, queue] : queues_) {
    if (std::ranges::find(kept_off, link) != kept_off.end()) continue;
    for (const ItemPtr& item : queue) {
      if (item->order.to != LinkTo::On) going.push_back(item);
    }
  }
  for (const ItemPtr& item : going) call_off(*item, why, now);
}

void LinkRuns::call_off(Item& item, const Error& why, Instant now) {
  if (std::exchange(item.called_off, true)) return;
  if (item.state == State::Driving) {
    item.batch->setter->call_off(item.job);
  } else {
    end(item, why, now);
  }
}

void LinkRuns::begin_what_can(Instant now) {
  std::vector<ItemPtr> closing;
  std::vector<LinkRef> links;
  std::vector<ItemPtr> refused;
  for (const auto& [link, queue] : queues_) {
    const ItemPtr& item = queue.front();
    if (item->state != State::Waiting) continue;
    if (seat_.why_not(item->order)) {
      refused.push_back(item);
    } else if (item->order.to == LinkTo::On) {
      closed_.erase(link);
      item->state = State::Ready;
      item->ready_at = now;
    } else {
      closed_.insert(link);
      item->state = State::Closing;
      closing.push_back(item);
      links.push_back(link);
    }
  }
  seat_.on_closed_changed();
  for (const ItemPtr& item : refused) end(*item, seat_.why_not(item->order), now);
  if (!closing.empty()) {
    seat_.write_tables_without(
        links, now, [this, closing](const Result<void>& result, Instant at) { closed(closing, result, at); });
  }
  look_at_window(now);
}

void LinkRuns::closed(const std::vector<ItemPtr>& items, const Result<void>& result, Instant now) {
  for (const ItemPtr& item : items) {
    if (item->state != State::Closing) continue;
    if (!result) {
      end(*item, result.error(), now);
      continue;
    }
    item->state = State::Ready;
    item->ready_at = now;
  }
  look_at_window(now);
}

void LinkRuns::look_at_window(Instant now) {
  const Window window = seat_.window();
  std::vector<ItemPtr> ready;
  std::vector<ItemPtr> refused;
  for (const auto& [link, queue] : queues_) {
    const ItemPtr& item = queue.front();
    if (item->state != State::Ready) continue;
    const bool on = item->order.to == LinkTo::On;
    if (window == Window::Open || (on && (window == Window::Nobody || item->ready_at + patience <= now))) {
      ready.push_back(item);
    } else if (window == Window::Nobody) {
      refused.push_back(item);
    }
  }
  for (const ItemPtr& item : refused) {
    end(*item, Error{ErrorCode::Unreachable, "OpenSM was lost before the links went off"}, now);
  }
  // Each run by itself: one of which a link never trains holds up no other.
  while (!ready.empty()) {
    const auto rest =
        std::stable_partition(ready.begin(), ready.end(),
                              [run = ready.front()->run](const ItemPtr& item) { return item->run == run; });
    std::vector<ItemPtr> items(ready.begin(), rest);
    ready.erase(ready.begin(), rest);
    drive(std::move(items), now);
  }
}

void LinkRuns::drive(std::vector<ItemPtr> items, Instant now) {
  auto owned = std::make_unique<Batch>();
  Batch* const batch = owned.get();
  batch->items = std::move(items);
  if (idle_.empty()) {
    batch->setter = seat_.make_setter();
  } else {
    batch->setter = std::move(idle_.back());
    idle_.pop_back();
  }
  std::vector<Order> orders;
  for (const ItemPtr& item : batch->items) {
    item->state = State::Driving;
    item->batch = batch;
    item->job = orders.size();
    orders.push_back(item->order);
  }
  seat_.on_closed_changed();
  batches_.push_back(std::move(owned));
  batch->setter->tell(
      [this, batch](const std::vector<std::size_t>& those, Instant at) { came(*batch, those, at); });
  batch->setter->run(orders, now,
                     [this, batch](const std::vector<std::optional<Error>>& failures, Instant at) {
                       driven(batch, failures, at);
                     });
}

/// They are answered with all others of their run; whoever is told may use them, and give them other orders.
void LinkRuns::came(const Batch& batch, const std::vector<std::size_t>& orders, Instant now) {
  std::vector<LinkRef> links;
  for (const std::size_t order : orders) {
    Item& item = *batch.items[order];
    if (item.called_off) continue;
    links.push_back(item.order.link);
    end(item, std::nullopt, now);
  }
  if (!links.empty() && there_) due_.at(now, [this, links](Instant at) { there_(links, at); });
}

void LinkRuns::driven(Batch* batch, const std::vector<std::optional<Error>>& failures, Instant now) {
  const auto found = std::find_if(batches_.begin(), batches_.end(),
                                  [batch](const auto& each) { return each.get() == batch; });
  const auto owned = std::move(*found);
  batches_.erase(found);
  // It is still on the stack.
  due_.at(now, [this, setter = std::make_shared<std::unique_ptr<PortSetter>>(std::move(owned->setter))](
                   Instant) { idle_.push_back(std::move(*setter)); });
  for (std::size_t i = 0; i < owned->items.size(); ++i) {
    owned->items[i]->batch = nullptr;
    if (owned->items[i]->state == State::Ended) continue;
    end(*owned->items[i], failures[i], now);
  }
}

void LinkRuns::end(Item& item, std::optional<Error> failure, Instant now) {
  const LinkRef link = item.order.link;
  // What did not go off is no reason not to use it; a reduced link is up again.
  const bool up = item.order.to == LinkTo::Reduced || (item.order.to == LinkTo::Off && failure);
  if (up && closed_.erase(link) != 0) seat_.on_closed_changed();
  item.state = State::Ended;
  const std::shared_ptr<Run> run = item.run;
  run->outcomes[item.number].failure = std::move(failure);
  run->outcomes[item.number].at = now;
  if (--run->open == 0) due_.at(now, [run](Instant at) { run->done(run->outcomes, at); });
  auto& queue = queues_[link];
  std::erase_if(queue, [&](const ItemPtr& each) { return each.get() == &item; });
  if (queue.empty()) {
    queues_.erase(link);
  } else {
    due_.at(now, [this](Instant at) { begin_what_can(at); });
  }
}

void LinkRuns::on_timer(Instant now) {
  due_.on_timer(now);
  std::vector<PortSetter*> setters;
  for (const auto& batch : batches_) setters.push_back(batch->setter.get());
  for (PortSetter* setter : setters) setter->on_timer(now);
  look_at_window(now);
}

std::optional<Instant> LinkRuns::next_deadline() const {
  auto first = due_.next_deadline();
  const auto consider = [&](std::optional<Instant> due) {
    if (due && (!first || *due < *first)) first = due;
  };
  for (const auto& batch : batches_) consider(batch->setter->next_deadline());
  for (const auto& [link, queue] : queues_) {
    const Item& item = *queue.front();
    if (item.state == State::Ready && item.order.to == LinkTo::On) consider(item.ready_at + patience);
  }
  return first;
}

}  // namespace heddle::authority
