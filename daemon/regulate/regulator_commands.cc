// What operators ask for.

#include "regulate/regulator.h"

#include <fmt/format.h>

#include <utility>

#include "regulate/disabled_ports.h"

namespace heddle::regulate {

regulation::CommandId Regulator::remember(Reply reply) {
  const regulation::CommandId id{++last_command_};
  replies_[id] = std::move(reply);
  return id;
}

void Regulator::set_mode(regulation::Mode mode, const std::string& by, Instant now, Reply reply) {
  feed(regulation::SetMode{mode, by, remember(std::move(reply))}, now);
}

void Regulator::set_override(const LinkRef& link, const regulation::Override& value, regulation::Force force,
                             Instant now, Reply reply) {
  feed(regulation::SetOverride{link, value, force, remember(std::move(reply))}, now);
}

void Regulator::set_drain(const regulation::Drain& drain, regulation::Force force, Instant now, Reply reply) {
  feed(regulation::SetDrain{drain, force, remember(std::move(reply))}, now);
}

void Regulator::end_drain(const std::string& what, const std::string& by, Instant now, Reply reply) {
  feed(regulation::EndDrain{what, by, remember(std::move(reply))}, now);
}

void Regulator::forget_link(const LinkRef& link, const std::string& by, Instant now, Reply reply) {
  feed(regulation::ForgetLink{link, by, remember(std::move(reply))}, now);
}

void Regulator::keep_baseline(const regulation::Baseline& baseline, Instant now, Reply reply) {
  feed(regulation::KeepBaseline{baseline, remember(std::move(reply))}, now);
}

void Regulator::forget_baseline(const std::string& by, Instant now, Reply reply) {
  feed(regulation::ForgetBaseline{by, remember(std::move(reply))}, now);
}

void Regulator::forget_gone(const std::string& by, Instant now, Reply reply) {
  if (!known_.reference) {
    return reply(fail(ErrorCode::Unreachable, "the fabric has not been swept yet; ask again in a moment"));
  }
  const Gone gone = this->gone();
  if (gone.switches.empty() && gone.cables.empty()) return reply("nothing is gone");
  std::vector<std::string> counts;
  const auto count = [&](std::size_t n, std::string_view one, std::string_view several) {
    if (n > 0) counts.push_back(fmt::format("{} {}", n, n == 1 ? one : several));
  };
  count(gone.switches.size(), "switch", "switches");
  count(gone.cables.size(), "link", "links");
  const std::string text = fmt::format("forgotten until seen again: {}", fmt::join(counts, " and "));
  const std::vector<LinkRef> cables(gone.cables.begin(), gone.cables.end());
  const std::vector<NodeGuid> switches(gone.switches.begin(), gone.switches.end());
  log(regulation::ReportKind::Operator, names(cables),
      fmt::format("{}{}, by {}", text, switches.empty() ? "" : fmt::format(" ({})", names(switches)), by),
      now);
  // Nobody is told that they are forgotten before it is on disk.
  cables_.forget(gone, [this](const Result<void>& put) { heed(put); });
  journal_.after([this, reply = std::move(reply), text](Instant) {
    reply(cables_.refused() ? text + ", but the disk has not taken it: they are missed again after a start"
                            : text);
  });
}

void Regulator::restore(const std::string& by, Adopt adopt_them, Instant now, Reply reply) {
  if (adopt_them == Adopt::DisabledPorts) {
    reply = [adopted = adopt(by, now), reply = std::move(reply)](const Result<std::string>& restored) {
      reply(restored ? Result<std::string>{fmt::format("{}; {}", *restored, adopted)} : restored);
    };
  }
  feed(regulation::Restore{by, remember(std::move(reply))}, now);
}

std::string Regulator::adopt(const std::string& by, Instant now) {
  const std::vector<PortRef> ports = not_ours(known_.disabled, governor_);
  adopting_ = Adopting{by, now + options_.adopt_for, {ports.begin(), ports.end()}};
  if (ports.empty()) return "no port is disabled that this daemon did not disable";
  return enable(ports, by, now);
}

/// What was enabled once is left: a sweep may be from before that.
void Regulator::adopt_more(Instant now) {
  if (!adopting_) return;
  if (adopting_->until <= now) return adopting_.reset();
  std::vector<PortRef> ports = not_ours(known_.disabled, governor_);
  std::erase_if(ports, [&](const PortRef& port) { return !adopting_->enabled.insert(port).second; });
  if (!ports.empty()) (void)enable(ports, adopting_->by, now);
}

/// Without an Intent: what is still disabled after a crash is found to be so.
std::string Regulator::enable(const std::vector<PortRef>& ports, const std::string& by, Instant now) {
  std::vector<LinkOrder> orders;
  for (const PortRef& port : ports) {
    // As wide and fast as the port allows: what else it was, nobody knows.
    LinkOrder order{{PortRef{}, port}, port, LinkTo::On, {}, {}};
    const PortIndex index = known_.reference->find_port(port);
    const LinkIndex link = index == no_port ? no_link : known_.reference->port(index).link;
    if (link != no_link) order.link = link_ref(*known_.reference, known_.reference->link(link));
    orders.push_back(order);
  }
  std::string text = fmt::format("{} disabled {} enabled: {}", ports.size(),
                                 ports.size() == 1 ? "port is" : "ports are", names(ports));
  log(regulation::ReportKind::Operator, {}, fmt::format("{}, by {}", text, by), now);
  actuator_.set_links(orders, now, [this, orders](const std::vector<LinkOutcome>& outcomes, Instant at) {
    std::vector<PortRef> failed;
    std::string why;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (!outcomes[i].failure) continue;
      if (failed.empty()) why = outcomes[i].failure->message;
      failed.push_back(orders[i].port);
    }
    if (failed.empty()) return;
    log(regulation::ReportKind::Failed, {},
        fmt::format("enabled, and no link came up: {}: {}", names(failed), why), at);
  });
  return text;
}

void Regulator::stop(regulation::Stopping::Links links, Instant now) {
  feed(regulation::Stopping{links}, now);
  save(now);
}

void Regulator::perform(const regulation::Answer& answer, Instant /*now*/) {
  const auto found = replies_.find(answer.command);
  if (found == replies_.end()) return;
  // What an operator was told outlives a crash.
  journal_.after([reply = std::move(found->second), answer](Instant) {
    if (answer.refusal) {
      reply(fail(*answer.refusal));
    } else {
      reply(answer.text);
    }
  });
  replies_.erase(found);
}

}  // namespace heddle::regulate
