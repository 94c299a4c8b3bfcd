#include "authority/host_agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/printable.h"
#include "base/text.h"
#include "fabric/unique_names.h"

namespace heddle::regulate {

using transport::Completion;
using transport::Outcome;

namespace {

constexpr FabricClock::duration longest_pause = std::chrono::seconds{1};
/// Hosts that are named when a move fails.
constexpr std::size_t most_named = 3;

/// Apart from the key of the PMA behind the same LID: where no agent runs, counters are read all the same.
transport::AgentKey key_of(PortGuid port) {
  constexpr std::uint64_t apart = 0x6170'6d00'0000'0000;
  return transport::AgentKey{port.raw() ^ apart};
}

bool is_host_port(const Fabric& fabric, const Port& port) {
  const Node& node = fabric.node(port.node);
  return node.type == NodeType::ChannelAdapter && !node.aggregation && port.link != no_link &&
         port.lid.raw() != 0 && port.guid.raw() != 0;
}

std::string why_not(const Completion& completion) {
  if (completion.outcome != Outcome::Refused) return "its agent does not answer";
  switch (completion.status) {
    case apm::status::stale:
      return "its agent has heard later orders than ours";
    case apm::status::not_kept:
      return "its agent cannot write orders down";
    default:
      return fmt::format("its agent refuses (status {:#06x})", completion.status);
  }
}

}  // namespace

void HostAgents::use(const Fabric& fabric, Instant now) {
  std::unordered_map<PortGuid, Host> before = std::exchange(hosts_, {});
  due_.clear();
  away_.clear();
  able_ = 0;
  for (const Port& port : fabric.ports()) {
    if (!is_host_port(fabric, port)) continue;
    Host host{.port = port.guid};
    if (const auto known = before.find(port.guid); known != before.end()) {
      host = std::move(known->second);
    } else {
      host.ask_at = now;
    }
    host.lid = port.lid;
    host.name = in_quotes(plain_name(fabric.node(port.node)));
    if (host.ask_at) due_.emplace(*host.ask_at, port.guid);
    if (host.away) away_.emplace(host.back_at, port.guid);
    able_ += host.is_able() ? 1 : 0;
    hosts_.emplace(port.guid, std::move(host));
  }
}

HostAgents::Host* HostAgents::find(PortGuid port) {
  const auto found = hosts_.find(port);
  return found == hosts_.end() ? nullptr : &found->second;
}

// --- questions ---

bool HostAgents::submit(Host& host, Asked why, apm::Attribute attribute, Instant now) {
  return submit(host, {.port = host.port, .why = why, .attribute = attribute}, now);
}

bool HostAgents::submit(Host& host, Question question, Instant now) {
  const bool asks = question.attribute == apm::Attribute::Connections;
  mad::Packet packet =
      apm::request(asks ? mad::Method::Get : mad::Method::Set, question.attribute, host.lid, host.port);
  if (question.attribute == apm::Attribute::Move) apm::encode(*in_force_, packet.mad);
  const std::uint64_t context = ++last_request_;
  // An order is for now: who was silent a moment ago may have come back.
  const auto on_silence = transport::OnSilence::Ask;
  // An agent answers an order when it has written it down.
  const auto patience = asks ? transport::Patience::Normal : transport::Patience::Slow;
  const auto sent = engine_.submit({packet, key_of(host.port), patience, on_silence}, *this, context, now);
  if (!sent) return false;
  question.order = last_number_;
  host.sets += asks ? 0 : 1;
  asked_.emplace(context, question);
  return true;
}

void HostAgents::ask_in_turn(Instant now) {
  while (asking_ < options_.at_a_time && !due_.empty() && due_.begin()->first <= now) {
    const PortGuid port = due_.begin()->second;
    due_.erase(due_.begin());
    Host& host = hosts_.at(port);
    host.ask_at.reset();
    host.strayed = false;
    if (submit(host, Asked::InTurn, apm::Attribute::Connections, now)) {
      ++asking_;
    } else {
      rest(host, now + options_.ask_every);
    }
  }
}

void HostAgents::rest(Host& host, Instant until) {
  if (host.ask_at) due_.erase({*host.ask_at, host.port});
  host.ask_at = until;
  due_.emplace(until, host.port);
}

void HostAgents::on_completion(const Completion& completion) {
  const auto found = asked_.find(completion.context);
  if (found == asked_.end()) return;
  Question question = found->second;
  asked_.erase(found);
  if (question.why == Asked::InTurn) --asking_;
  if (completion.outcome == Outcome::Stopped) return;
  Host* host = find(question.port);
  if (host == nullptr) return;
  const bool set = question.attribute != apm::Attribute::Connections;
  host->sets -= set && host->sets > 0 ? 1 : 0;
  // Numbers go on from there (apm/seal.h), so that the next one is taken.
  const bool stale = completion.outcome == Outcome::Refused && completion.status == apm::status::stale;
  if (stale && !std::exchange(question.again, true) && submit(*host, question, completion.now)) {
    if (question.why == Asked::InTurn) ++asking_;
    return;
  }
  std::optional<apm::Standing> standing;
  std::string why_none;
  if (completion.outcome == Outcome::Answered) {
    if (auto read = apm::read_standing(completion.answer->mad)) {
      standing = *std::move(read);
    } else {
      why_none = read.error().message;
    }
  } else {
    why_none = why_not(completion);
  }
  heard(*host, question, std::move(standing), std::move(why_none), completion.now);
}

void HostAgents::heard(Host& host, const Question& question, std::optional<apm::Standing> standing,
                       std::string why_none, Instant now) {
  const bool known = host.standing || standing;
  const bool left = has_left(host, question, standing);
  able_ -= host.is_able() ? 1 : 0;
  host.standing = std::move(standing);
  if (host.standing) host.last = host.standing;
  if (left) let_be(host, now);
  able_ += host.is_able() ? 1 : 0;
  if (question.why == Asked::InTurn) rest(host, now + (known ? options_.ask_every : options_.look_every));
  if (!order_ || !order_->undecided.contains(host.port)) return set_right(host, now);
  if (host.sets == 0 && order_->behind.erase(host.port) > 0) return tell(host, now);
  if (question.why != Asked::OfOrder || question.order != order_->what.number) return;
  order_->asking.erase(host.port);
  on_order(host, why_none, now);
}

/// Nobody has told them to: they have found no way in their plane.
bool HostAgents::has_left(const Host& host, const Question& question,
                          const std::optional<apm::Standing>& now) const {
  if (!in_force_ || order_ || question.why != Asked::InTurn || !host.last || !now) return false;
  if (host.last->order != now->order) return false;
  const unsigned plane = in_force_->plane;
  const unsigned other = 1 - plane;
  return now->in_plane[plane] < host.last->in_plane[plane] &&
         now->in_plane[other] > host.last->in_plane[other];
}

/// Told to go back before tables are mended, they would go where they came from, and wait for answers there.
void HostAgents::let_be(Host& host, Instant now) {
  if (host.away) away_.erase({host.back_at, host.port});
  const bool again = host.let_be.count() > 0 && now < host.back_at + options_.let_be_longest;
  host.let_be = again ? std::min(2 * host.let_be, options_.let_be_longest) : options_.let_be;
  host.away = true;
  host.back_at = now + host.let_be;
  away_.emplace(host.back_at, host.port);
}

void HostAgents::return_from_away(Instant now) {
  while (!away_.empty() && away_.begin()->first <= now) {
    Host& host = hosts_.at(away_.begin()->second);
    away_.erase(away_.begin());
    host.away = false;
    able_ += host.is_able() ? 1 : 0;
    set_right(host, now);
  }
}

/// What has turned up since the last order: it belongs into its plane, and is to have a way to the other one.
void HostAgents::set_right(Host& host, Instant now) {
  if (!in_force_ || !host.standing || host.strayed || movement() != regulation::Movement::Planes) return;
  const apm::Standing& standing = *host.standing;
  const bool strays = standing.in_plane[in_force_->plane] != standing.connections;
  if (standing.progress == apm::Progress::Moving || (!strays && standing.armed == standing.connections))
    return;
  host.strayed = true;
  const auto attribute = strays ? apm::Attribute::Move : apm::Attribute::Arm;
  (void)submit(host, Asked::Stray, attribute, now);
}

// --- orders ---

void HostAgents::migrate(unsigned plane, Instant now, Done done) {
  if (order_) {
    // Whoever ordered it has given it up.
    answers_.at(now, [given_up = std::move(order_->done)](Instant at) {
      given_up(fail(ErrorCode::Refused, "another order to move has come"), at);
    });
  }
  ++moves_;
  last_number_ = std::max(last_number_ + 1, static_cast<std::uint64_t>(now.time_since_epoch().count()));
  in_force_ = apm::MoveOrder{last_number_, static_cast<std::uint8_t>(plane)};
  order_.emplace(Order{.what = *in_force_, .done = std::move(done), .until = now + options_.patience});
  for (auto& [port, host] : hosts_) order_->undecided.insert(port);
  if (hosts_.empty()) answers_.at(now, [this](Instant at) { finish_order(at); });
  for (auto& [port, host] : hosts_) {
    if (!host.standing) {
      decide(host, "it has no agent that answers", now);
    } else if (host.sets > 0) {
      order_->behind.insert(port);
    } else {
      tell(host, now);
    }
  }
}

void HostAgents::tell(Host& host, Instant now) {
  if (submit(host, Asked::OfOrder, apm::Attribute::Move, now)) {
    order_->asking.insert(host.port);
  } else {
    decide(host, "too many requests wait", now);
  }
}

/// What a host has said to the order under way.
void HostAgents::on_order(const Host& host, const std::string& why_none, Instant now) {
  if (!host.standing) return decide(host, why_none, now);
  const apm::Standing& standing = *host.standing;
  if (standing.order != order_->what.number || standing.plane != order_->what.plane) {
    return decide(host, "its agent has begun anew, or obeys somebody else", now);
  }
  switch (standing.progress) {
    case apm::Progress::Moved:
      return decide(host, std::nullopt, now);
    case apm::Progress::Moving: {
      auto& pause = order_->pause.try_emplace(host.port, options_.ask_again).first->second;
      order_->ask_at.emplace(now + pause, host.port);
      pause = std::min(2 * pause, longest_pause);
      return;
    }
    case apm::Progress::None:
    case apm::Progress::Partial:
    case apm::Progress::Failed:
      return decide(host,
                    fmt::format("{} of {} connections have moved{}{}", standing.in_plane[standing.plane],
                                standing.connections, standing.trouble.empty() ? "" : ": ",
                                printable(standing.trouble)),
                    now);
  }
}

void HostAgents::decide(const Host& host, std::optional<std::string> failure, Instant now) {
  order_->undecided.erase(host.port);
  order_->asking.erase(host.port);
  if (failure) order_->failures.push_back(host.name + ": " + *std::move(failure));
  if (order_->undecided.empty()) answers_.at(now, [this](Instant at) { finish_order(at); });
}

/// Those that are on their way are asked again; those that take too long have not moved.
void HostAgents::press(Instant now) {
  if (!order_ || order_->undecided.empty()) return;
  if (now >= order_->until) {
    for (const PortGuid port : std::set<PortGuid>{order_->undecided}) {
      if (const Host* host = find(port)) {
        decide(*host, order_->asking.contains(port) ? "its agent does not answer" : "it takes too long", now);
      } else {
        order_->undecided.erase(port);
      }
    }
    if (order_->undecided.empty()) finish_order(now);
    return;
  }
  while (!order_->ask_at.empty() && order_->ask_at.begin()->first <= now) {
    const PortGuid port = order_->ask_at.begin()->second;
    order_->ask_at.erase(order_->ask_at.begin());
    Host* host = find(port);
    if (host == nullptr || !order_->undecided.contains(port)) continue;
    if (submit(*host, Asked::OfOrder, apm::Attribute::Connections, now)) {
      order_->asking.insert(port);
    } else {
      decide(*host, "too many requests wait", now);
    }
  }
}

void HostAgents::finish_order(Instant now) {
  if (!order_ || !order_->undecided.empty()) return;
  const Order order = *std::exchange(order_, std::nullopt);
  if (order.failures.empty()) return order.done({}, now);
  ++failed_moves_;
  std::vector<std::string> names = order.failures;
  std::sort(names.begin(), names.end());
  const std::size_t named = std::min(names.size(), most_named);
  trouble_ = fmt::format("connections have not moved to plane {} at {} of {} hosts: {}{}", order.what.plane,
                         names.size(), hosts_.size(), joined(std::span{names}.first(named), "; "),
                         names.size() > named ? "; ..." : "");
  order.done(fail(ErrorCode::Unreachable, trouble_), now);
}

// --- time ---

void HostAgents::on_timer(Instant now) {
  answers_.on_timer(now);
  return_from_away(now);
  press(now);
  ask_in_turn(now);
}

std::optional<Instant> HostAgents::next_deadline() const {
  std::optional<Instant> first = answers_.next_deadline();
  const auto sooner = [&first](Instant at) {
    if (!first || at < *first) first = at;
  };
  if (order_ && !order_->undecided.empty()) {
    sooner(order_->until);
    if (!order_->ask_at.empty()) sooner(order_->ask_at.begin()->first);
  }
  if (asking_ < options_.at_a_time && !due_.empty()) sooner(due_.begin()->first);
  if (!away_.empty()) sooner(away_.begin()->first);
  return first;
}

}  // namespace heddle::regulate
