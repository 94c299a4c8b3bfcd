// What the governor asks for: records, and the steps of a change.

#include "regulate/regulator.h"

#include <algorithm>
#include <utility>

#include "fabric/links.h"

namespace heddle::regulate {

void Regulator::perform(const regulation::Record& record, Instant now) {
  waiting_.push_back(record);
  store(now);
}

/// Behind one that the disk refused, all are written once more, in their order: they are folded in it.
void Regulator::store(Instant now) {
  store_at_ = now + options_.store_again_after;
  if (storing_ > 0 && !unstored_.empty()) return;  // word of what follows is still to come
  auto records = std::exchange(unstored_, {});
  for (regulation::Record& record : std::exchange(waiting_, {})) records.push_back(std::move(record));
  for (const regulation::Record& record : records) {
    ++storing_;
    journal_.write(record, [this, record](const Result<void>& written) {
      --storing_;
      if (!written || !unstored_.empty()) unstored_.push_back(record);
      heed(written);
    });
  }
}

void Regulator::heed(const Result<void>& stored) {
  const auto kept = stored ? journal_.check() : stored;
  if (!kept) {
    journal_trouble_ = kept.error().message;
  } else if (unstored_.empty() && storing_ == 0 && waiting_.empty()) {
    journal_trouble_.clear();
  }
}

void Regulator::look_at_the_disk(Instant now) {
  store_at_ = now + options_.store_again_after;
  if (!known_.ranks.empty()) {
    journal_.put_ranks(known_.ranks, [this](const Result<void>& put) { heed(put); });
  }
  if (const auto& lids = journal_.lids(); lids_refused_ && lids) put_lids(*lids);
  save(now);
}

void Regulator::begin(regulation::StepId step, Instant now) {
  steps_[step] = {now + options_.step_timeout, {}};
}

void Regulator::done(regulation::StepId step, const Result<void>& result, Instant now) {
  if (steps_.erase(step) == 0) return;  // cancelled, or given up
  if (result) {
    feed(regulation::StepDone{step}, now);
  } else {
    feed(regulation::StepFailed{step, result.error().message, {}}, now);
  }
}

void Regulator::perform(const regulation::WriteTables& write, Instant now) {
  const Fabric& fabric = *known_.reference;
  std::vector<LinkRef> fell = governor_.links_in(regulation::LinkState::Lost);
  std::sort(fell.begin(), fell.end());
  std::vector<LinkRef> came_up = governor_.came_up();
  std::sort(came_up.begin(), came_up.end());
  std::vector<LinkRef> avoid;
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    // A host has no other way: its link is used whenever it is up.
    if (!joins_switches(fabric, link) || write.active.contains(LinkIndex{i})) continue;
    // What fell need not be avoided; if it is up again, whoever is master may use it already, and sooner than
    // it is known here. Nor what came in sight up, with its switch: a sweep has led over it.
    const LinkRef ref = link_ref(fabric, link);
    const bool is_up =
        known_.up.contains(LinkIndex{i}) && std::binary_search(came_up.begin(), came_up.end(), ref);
    if (!is_up && !std::binary_search(fell.begin(), fell.end(), ref)) avoid.push_back(ref);
  }
  begin(write.step, now);
  const auto go = [this, plane = write.plane, step = write.step, avoid](Instant at) {
    if (!steps_.contains(step)) return;  // cancelled, or given up
    actuator_.write_tables(plane, avoid, at, [this, step](const Result<void>& result, Instant then) {
      done(step, result, then);
    });
  };
  ranks_wait_ ? journal_.after(go) : go(now);
}

void Regulator::perform(const regulation::Migrate& migrate, Instant now) {
  begin(migrate.step, now);
  actuator_.migrate(migrate.plane, now, [this, step = migrate.step](const Result<void>& result, Instant at) {
    done(step, result, at);
  });
}

void Regulator::perform(const regulation::SetPorts& set_ports, Instant now) {
  std::vector<LinkOrder> orders;
  bool closes = false;
  for (const regulation::PortOrder& port : set_ports.ports) {
    LinkOrder order{port.link, port.port, LinkTo::Off, port.mode, port.patience};
    if (port.mode.on()) {
      const PortIndex index = known_.reference->find_port(port.link.a);
      const LinkIndex link = index == no_port ? no_link : known_.reference->port(index).link;
      const bool full = link == no_link || power::mode_of(known_.reference->link(link)) == port.mode;
      order.to = full ? LinkTo::On : LinkTo::Reduced;
    }
    closes = closes || order.to != LinkTo::On;
    orders.push_back(order);
  }
  begin(set_ports.step, now);
  if (!closes) return order(set_ports.step, orders, now);
  journal_.after([this, step = set_ports.step, orders = std::move(orders)](Instant at) {
    if (!steps_.contains(step)) return;  // cancelled, or given up
    if (const auto there = journal_.check(); !there) journal_trouble_ = there.error().message;
    if (journal_trouble_.empty()) return order(step, orders, at);
    // Nobody would know of it after a crash.
    steps_.erase(step);
    later({at, regulation::StepFailed{step, journal_trouble_, {}}});
  });
}

void Regulator::order(regulation::StepId step, const std::vector<LinkOrder>& orders, Instant now) {
  StepUnderWay& under_way = steps_[step];
  for (const LinkOrder& order : orders) {
    under_way.links.push_back(order.link);
    // The actuator answers by then; who is slower than that is not waited for.
    under_way.until = std::max(under_way.until, now + order.patience + options_.step_timeout);
  }
  actuator_.set_links(orders, now,
                      [this, step, orders, now](const std::vector<LinkOutcome>& outcomes, Instant at) {
                        set(step, outcomes, orders, now, at);
                      });
}

void Regulator::set(regulation::StepId step, const std::vector<LinkOutcome>& outcomes,
                    const std::vector<LinkOrder>& orders, Instant ordered, Instant now) {
  regulation::StepFailed failed{step, {}, {}};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].failure) {
      ++transitions_.failed;
      failed.links.push_back(outcomes[i].link);
      if (failed.reason.empty()) failed.reason = outcomes[i].failure->message;
      continue;
    }
    switch (orders[i].to) {
      case LinkTo::Off:
        ++transitions_.off;
        break;
      case LinkTo::On:
        ++transitions_.on;
        transitions_.waited += outcomes[i].at.value_or(now) - ordered;
        transitions_.longest = std::max(transitions_.longest, outcomes[i].at.value_or(now) - ordered);
        break;
      case LinkTo::Reduced:
        ++transitions_.reduced;
        break;
    }
  }
  if (steps_.erase(step) == 0) return;
  if (failed.links.empty()) {
    feed(regulation::StepDone{step}, now);
  } else {
    feed(std::move(failed), now);
  }
}

std::map<PortRef, LinkRef> Regulator::ends_with_queues(const std::vector<LinkRef>& links, Instant now) const {
  std::map<PortRef, LinkRef> ends;
  for (const LinkRef& link : links) {
    for (const PortRef& port : {link.a, link.b}) {
      const auto mute = no_queues_until_.find(port.node);
      if (mute == no_queues_until_.end() || mute->second <= now) ends.emplace(port, link);
    }
  }
  return ends;
}

void Regulator::perform(const regulation::LookAtQueues& look, Instant now) {
  const auto ends = ends_with_queues(look.links, now);
  std::vector<PortRef> ports;
  for (const auto& [port, link] : ends) ports.push_back(port);
  if (!look_at_queues_ || ports.empty()) return later({now, regulation::QueuesSeen{look.step, {}}});
  begin(look.step, now);
  const auto begun =
      look_at_queues_(ports, [this, step = look.step, ends](const std::vector<sampling::QueueLook>& looks,
                                                            Instant at) { looked(step, ends, looks, at); });
  if (begun) return;
  steps_.erase(look.step);
  later({now, regulation::StepFailed{look.step, begun.error().message, {}}});
}

void Regulator::looked(regulation::StepId step, const std::map<PortRef, LinkRef>& ends,
                       const std::vector<sampling::QueueLook>& looks, Instant now) {
  if (steps_.erase(step) == 0) return;  // cancelled, or given up
  regulation::QueuesSeen seen{step, {}};
  for (const sampling::QueueLook& look : looks) {
    const auto link = ends.find(look.port);
    if (link == ends.end()) continue;
    if (look.failure && look.failure->code != ErrorCode::Conflict) {
      const bool never = look.failure->code == ErrorCode::Unsupported;
      no_queues_until_[look.port.node] = never ? Instant::max() : now + options_.silent_queues;
      continue;
    }
    const auto fullest = std::ranges::max_element(look.depth);
    if (look.failure || *fullest == 0) continue;
    const auto vl = static_cast<std::uint8_t>(fullest - look.depth.begin());
    seen.filled.push_back({link->second, look.port, Vl{vl}, *fullest});
  }
  later({now, std::move(seen)});
}

void Regulator::perform(const regulation::Cancel& cancel, Instant now) { give_up(cancel.step, now); }

void Regulator::give_up(regulation::StepId step, Instant now) {
  const auto found = steps_.find(step);
  if (found == steps_.end()) return;
  const std::vector<LinkRef> links = std::move(found->second.links);
  steps_.erase(found);
  if (!links.empty()) actuator_.cancel_links(links, now);
}

}  // namespace heddle::regulate
