#include "regulate/regulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "fabric/unique_names.h"
#include "regulate/disabled_ports.h"
#include "regulate/pins.h"

namespace heddle::regulate {
namespace {

constexpr std::size_t most_names = 8;
constexpr std::size_t most_hosts = 20;

template <class Item, class Name>
std::string list_of(const std::vector<Item>& items, Name name) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == most_names) return text + fmt::format(", and {} more", items.size() - i);
    text += (i == 0 ? "" : ", ") + name(items[i]);
  }
  return text;
}

regulation::GovernorOptions as_the_actuator_can(regulation::GovernorOptions options,
                                                const Actuator& actuator) {
  options.planes = actuator.planes();
  options.movement = actuator.movement();
  return options;
}

}  // namespace

Regulator::Regulator(const RegulatorOptions& options, journal::Scribe& journal, Actuator& actuator, Log log)
    : options_{options},
      journal_{journal},
      actuator_{actuator},
      log_{std::move(log)},
      governor_{as_the_actuator_can(options.governor, actuator)},
      energy_{options.governor.power} {
  if (const auto& record = journal_.energy()) {
    energy_.restore(*record);
  } else {
    journal_trouble_ = record.error().message;
  }
}

template <class What>
void Regulator::feed(What what, Instant now) {
  carry_out(governor_.on({now, std::move(what)}), now);
}

void Regulator::carry_out(std::vector<regulation::Action> actions, Instant now) {
  if (!actions.empty()) ++revision_;
  for (const auto& action : actions) {
    std::visit([&](const auto& one) { perform(one, now); }, action);
  }
  account(now);
  if (!has_faults()) {
    cut_off_.clear();
  } else if (!actions.empty()) {
    cut_off_ = cut_off_hosts();
  }
}

bool Regulator::has_faults() const {
  return !governor_.lost_switches().empty() || !governor_.links_in(regulation::LinkState::Lost).empty();
}

/// Who has no path, and why nothing that is off can give them one; empty if nobody.
std::string Regulator::cut_off_hosts() const {
  const regulation::CutOff cut = governor_.cut_off();
  if (cut.hosts.empty()) return {};
  const Fabric& fabric = *known_.reference;
  std::string hosts;
  for (std::size_t i = 0; i < cut.hosts.size() && i < most_hosts; ++i) {
    const Node& node = fabric.node(fabric.find_node(cut.hosts[i].node));
    hosts += fmt::format("{}{}/{}", i == 0 ? "" : ", ", node.description, cut.hosts[i].port.raw());
  }
  if (cut.hosts.size() > most_hosts) hosts += fmt::format(", and {} more", cut.hosts.size() - most_hosts);
  std::string gone;
  for (const NodeGuid guid : cut.lost_switches) {
    const NodeIndex node = fabric.find_node(guid);
    gone += fmt::format("{}{}", gone.empty() ? "; gone: " : ", ",
                        node == no_node ? to_string(guid) : fabric.node(node).description);
  }
  const std::string spares =
      cut.coming > 0 ? fmt::format("{} links that may lead there are being turned on", cut.coming)
                     : "no link that can be turned on from here leads there: look at its cables and power";
  return fmt::format("{} host ports have no path to the others: {}{}. {}", cut.hosts.size(), hosts, gone,
                     spares);
}

void Regulator::later(regulation::Event event) { due_.push_back(std::move(event)); }

// --- what happens in the fabric ---

void Regulator::on_fabric(const KnownFabric& known, Instant now) {
  const bool other = known.reference != known_.reference || known.managers != known_.managers;
  if (const auto& ranks = journal_.ranks(); !ranks || *ranks != known.ranks) {
    // The order must be the same after a crash, so it is on disk before tables are written by it.
    ranks_wait_ = true;
    journal_.put_ranks(known.ranks, [this](const Result<void>& put) {
      ranks_wait_ = false;
      if (!put) journal_trouble_ = put.error().message;
    });
  }
  const KnownFabric before = std::exchange(known_, known);
  if (other) {
    Pins pins = find_pins(known.reference, options_.names, options_.pins);
    unmatched_pins_ = std::move(pins.unmatched);
    feed(regulation::TopologyChanged{known.reference, known.managers, known.ranks, std::move(pins.links)},
         now);
  }
  if (!std::exchange(restarted_, true)) {
    regulation::Restarted restarted{journal_.memory(), {}};
    for (std::uint32_t i = 0; i < known.reference->links().size(); ++i) {
      const LinkIndex link{i};
      if (!known.up.contains(link)) {
        restarted.down.push_back(link_ref(*known.reference, known.reference->link(link)));
      }
    }
    feed(std::move(restarted), now);
  }
  compare(known, now);
}

/// Against what the governor believes, and not against what it was told before: a topology that takes
/// another's place, or a sweep in which much was missing, leaves no fault behind that is over.
void Regulator::compare(const KnownFabric& known, Instant now) {
  std::vector<NodeGuid> switches;
  for (const Node& node : known.reference->nodes()) {
    if (node.type == NodeType::Switch) switches.push_back(node.guid);
  }
  if (!governor_.reference()) return;
  for (const NodeGuid guid : switches) {
    const bool lost = governor_.lost_switches().contains(guid);
    const bool present = known.present.contains(guid);
    if (!present && !lost) feed(regulation::SwitchLost{guid}, now);
    if (present && lost) feed(regulation::SwitchFound{guid}, now);
  }
  for (std::uint32_t i = 0; i < known.reference->links().size(); ++i) {
    const LinkIndex link{i};
    const bool up = known.up.contains(link);
    const regulation::LinkState state = governor_.state(link);
    if (up ? state != regulation::LinkState::Lost : !regulation::is_on(state)) continue;
    const LinkRef ref = link_ref(*known.reference, known.reference->link(link));
    if (up) {
      feed(regulation::LinkFound{ref}, now);
    } else {
      feed(regulation::LinkLost{ref}, now);
    }
  }
}

/// What a sweep shows may be from before a link went off; what all of them show is so.
void Regulator::look_for_contradictions(Instant now) {
  if (!governor_.reference() || known_.reference != governor_.reference()) return;
  const auto before = std::exchange(up_though_off_, {});
  std::vector<LinkRef> on;
  for (std::uint32_t i = 0; i < known_.reference->links().size(); ++i) {
    const LinkIndex link{i};
    if (governor_.state(link) != regulation::LinkState::Off || !known_.up.contains(link)) continue;
    const LinkRef ref = link_ref(*known_.reference, known_.reference->link(link));
    const auto since = before.find(ref);
    up_though_off_[ref] = since == before.end() ? now : since->second;
    if (now - up_though_off_[ref] >= options_.believe_sweeps) on.push_back(ref);
  }
  for (const LinkRef& ref : on) feed(regulation::LinkFound{ref}, now);
}

void Regulator::on_sample(std::shared_ptr<const load::Sample> sample, Instant now) {
  energy_.advance(now);
  look_for_contradictions(now);
  feed(regulation::LoadsMeasured{std::move(sample)}, now);
}

void Regulator::on_mastership(Mastership mastership, Instant now) {
  if (mastership == Mastership::Held) {
    feed(regulation::MastershipRegained{}, now);
  } else {
    feed(regulation::MastershipLost{}, now);
  }
}

void Regulator::on_timer(Instant now) {
  for (auto due = std::exchange(due_, {}); !due.empty(); due.pop_front()) {
    due.front().at = now;
    carry_out(governor_.on(due.front()), now);
  }
  std::vector<regulation::StepId> late;
  for (const auto& [step, under_way] : steps_) {
    if (under_way.until <= now) late.push_back(step);
  }
  for (const regulation::StepId step : late) {
    give_up(step, now);
    feed(regulation::StepTimedOut{step}, now);
  }
  if (const auto due = governor_.next_deadline(); due && *due <= now) feed(regulation::Tick{}, now);
  if (save_at_ && *save_at_ <= now) save(now);
  if (!unstored_.empty() && store_at_ <= now) store(now);
}

std::optional<Instant> Regulator::next_deadline() const {
  if (!due_.empty()) return due_.front().at;
  std::optional<Instant> first = governor_.next_deadline();
  const auto sooner = [&](std::optional<Instant> at) {
    if (at && (!first || *at < *first)) first = at;
  };
  for (const auto& [step, under_way] : steps_) sooner(under_way.until);
  sooner(save_at_);
  if (!unstored_.empty()) sooner(store_at_);
  return first;
}

// --- what operators ask for ---

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

void Regulator::restore(const std::string& by, Adopt adopt_them, Instant now, Reply reply) {
  if (adopt_them == Adopt::DisabledPorts) {
    reply = [adopted = adopt(by, now), reply = std::move(reply)](const Result<std::string>& restored) {
      reply(restored ? Result<std::string>{fmt::format("{}; {}", *restored, adopted)} : restored);
    };
  }
  feed(regulation::Restore{by, remember(std::move(reply))}, now);
}

/// Without an Intent: what is still disabled after a crash is found to be so.
std::string Regulator::adopt(const std::string& by, Instant now) {
  const std::vector<PortRef> ports = not_ours(known_.disabled, governor_);
  if (ports.empty()) return "no port is disabled that this daemon did not disable";
  std::vector<LinkOrder> orders;
  for (const PortRef& port : ports) {
    // As wide and fast as the port allows: what else it was, nobody knows.
    LinkOrder order{{PortRef{}, port}, port, LinkTo::On, {}};
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

void Regulator::stop(Instant now) {
  feed(regulation::Stopping{}, now);
  save(now);
}

// --- what the governor asks for ---

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
      if (!written) journal_trouble_ = written.error().message;
      if (!written || !unstored_.empty()) {
        unstored_.push_back(record);
        return;
      }
      const auto kept = journal_.check();
      if (!kept) journal_trouble_ = kept.error().message;
      if (kept && storing_ == 0 && waiting_.empty()) journal_trouble_.clear();
    });
  }
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
  const auto is_switch = [&](LinkEnd end) { return fabric.node(end.node).type == NodeType::Switch; };
  std::vector<LinkRef> fell = governor_.links_in(regulation::LinkState::Lost);
  std::sort(fell.begin(), fell.end());
  std::vector<LinkRef> avoid;
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    // A host has no other way: its link is used whenever it is up.
    const bool between_switches = is_switch(link.a) && is_switch(link.b);
    if (!between_switches || write.active.contains(LinkIndex{i})) continue;
    // What fell need not be avoided; if it is up again, whoever is master may use it already, and sooner than
    // it is known here.
    const LinkRef ref = link_ref(fabric, link);
    if (!std::binary_search(fell.begin(), fell.end(), ref)) avoid.push_back(ref);
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
    LinkOrder order{port.link, port.port, LinkTo::Off, port.mode};
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
  for (const LinkOrder& order : orders) steps_[step].links.push_back(order.link);
  actuator_.set_links(orders, now,
                      [this, step, orders](const std::vector<LinkOutcome>& outcomes, Instant at) {
                        set(step, outcomes, orders, at);
                      });
}

void Regulator::set(regulation::StepId step, const std::vector<LinkOutcome>& outcomes,
                    const std::vector<LinkOrder>& orders, Instant now) {
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

void Regulator::perform(const regulation::Cancel& cancel, Instant now) { give_up(cancel.step, now); }

void Regulator::give_up(regulation::StepId step, Instant now) {
  const auto found = steps_.find(step);
  if (found == steps_.end()) return;
  const std::vector<LinkRef> links = std::move(found->second.links);
  steps_.erase(found);
  if (!links.empty()) actuator_.cancel_links(links, now);
}

std::string Regulator::name(NodeGuid node) const {
  const NodeIndex index = known_.reference ? known_.reference->find_node(node) : no_node;
  return index == no_node ? to_string(node) : unique_name(*known_.reference, index);
}

std::string Regulator::name(const PortRef& port) const {
  return fmt::format("{}/{}", name(port.node), port.port.raw());
}

std::string Regulator::names(const std::vector<NodeGuid>& nodes) const {
  return list_of(nodes, [this](NodeGuid node) { return name(node); });
}

std::string Regulator::names(const std::vector<LinkRef>& links) const {
  return list_of(links, [this](const LinkRef& link) { return name(link.a) + " -- " + name(link.b); });
}

std::string Regulator::names(const std::vector<PortRef>& ports) const {
  return list_of(ports, [this](const PortRef& port) { return name(port); });
}

void Regulator::perform(const regulation::Report& report, Instant now) {
  log(report.kind, names(report.links), report.reason, now);
}

void Regulator::log(regulation::ReportKind kind, const std::string& links, const std::string& text,
                    Instant now) {
  const journal::Event event{0, options_.calendar.to_wall(now), std::string(to_string(kind)), links, text};
  journal_.append(event, [this](const Result<void>& stored) {
    if (!stored) journal_trouble_ = stored.error().message;
  });
  log_(event);
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

// --- energy ---

void Regulator::account(Instant now) {
  if (!governor_.reference()) return;
  energy_.set(now, *governor_.reference(), governor_.modes(), governor_.full_modes());
  if (!save_at_) save_at_ = now + options_.save_energy_every;
}

void Regulator::save(Instant now) {
  energy_.advance(now);
  journal_.put_energy(energy_.record(), [this](const Result<void>& put) {
    if (!put) journal_trouble_ = put.error().message;
  });
  save_at_ = now + options_.save_energy_every;
}

void Regulator::on_evidence(const std::vector<regulation::OffRecord>& off, Instant now) {
  const regulation::Memory memory = journal_.memory();
  if (memory.last != regulation::ChangeId{} || !memory.off.empty() || !memory.open.empty()) return;
  // What cannot be written is one of the journal's own problems, and the ports are named as disabled.
  journal_.write(regulation::Outcome{regulation::ChangeId{1}, now, off, {}, ""}, [](const Result<void>&) {});
  log(regulation::ReportKind::Recovered, "",
      fmt::format("the journal is a fresh one; that {} links are off is known from the plan for OpenSM",
                  off.size()),
      now);
}

std::vector<LinkRef> Regulator::links_off() const {
  std::vector<LinkRef> off;
  for (const regulation::OffRecord& record : governor_.off_links()) {
    if (!record.mode.on()) off.push_back(record.link);
  }
  return off;
}

std::vector<authority::KnownLink> Regulator::known_links() const {
  std::vector<authority::KnownLink> links;
  const regulation::Memory memory = restarted_ ? governor_.memory() : journal_.memory();
  for (const auto& [ref, off] : memory.off) links.push_back({ref, off.full.width, off.full.speed});
  for (const auto& [id, change] : memory.open) {
    for (const auto& off : change.off) links.push_back({off.link, off.full.width, off.full.speed});
  }
  // Every cable once.
  std::sort(links.begin(), links.end(), [](const auto& x, const auto& y) { return x.link < y.link; });
  links.erase(
      std::unique(links.begin(), links.end(), [](const auto& x, const auto& y) { return x.link == y.link; }),
      links.end());
  return links;
}

Problems Regulator::problems() const {
  Problems problems;
  const auto add = [&](ProblemKind kind, std::string text) { problems.push_back({kind, std::move(text)}); };
  std::string journal = journal_trouble_;
  if (const auto there = journal_.check(); !there) journal = there.error().message;
  if (!journal.empty()) {
    add(ProblemKind::Journal, journal + ". No link is turned off until it can be written again");
  }
  if (journal_.wait() > options_.slow_disk) {
    add(ProblemKind::Journal,
        fmt::format(
            "the disk has taken nothing of the journal for {:.0f} s: until it does, no link is turned "
            "off, and no command is answered; see what keeps the disk of state.directory busy",
            seconds(journal_.wait())));
  }
  for (const std::string& pattern : unmatched_pins_) {
    add(ProblemKind::Pins,
        fmt::format("regulation.pin: no link between switches is called \"{}\"; 'heddle links' lists their "
                    "names",
                    pattern));
  }
  if (!governor_.trouble().empty()) {
    add(governor_.reference() ? ProblemKind::Tables : ProblemKind::NotRegulated, governor_.trouble());
  }
  if (known_.reference) add_problems_of_links(problems);
  return problems;
}

void Regulator::add_problems_of_links(Problems& problems) const {
  if (!cut_off_.empty()) problems.push_back({ProblemKind::CutOff, cut_off_});
  const auto add = [&](ProblemKind kind, const auto& which, std::string_view one, std::string_view several,
                       std::string_view advice) {
    if (which.empty()) return;
    problems.push_back({kind, fmt::format("{} {}: {}: {}", which.size(), which.size() == 1 ? one : several,
                                          names(which), advice)});
  };
  const Fabric& fabric = *known_.reference;
  const auto& gone = governor_.lost_switches();
  add(ProblemKind::LostLinks, std::vector(gone.begin(), gone.end()), "switch is gone", "switches are gone",
      "see their power, and the cables there");
  std::vector<LinkRef> lost = governor_.links_in(regulation::LinkState::Lost);
  // Hosts come and go, and say so themselves.
  std::erase_if(lost, [&](const LinkRef& link) {
    const auto between_switches = [&](const PortRef& port) {
      const NodeIndex node = fabric.find_node(port.node);
      return node != no_node && fabric.node(node).type == NodeType::Switch && !gone.contains(port.node);
    };
    return !between_switches(link.a) || !between_switches(link.b);
  });
  const std::vector<PortRef> disabled = not_ours(known_.disabled, governor_);
  std::erase_if(lost, [&](const LinkRef& link) {
    return std::any_of(disabled.begin(), disabled.end(),
                       [&](const PortRef& port) { return port == link.a || port == link.b; });
  });
  add(ProblemKind::LostLinks, lost, "link is down, and nobody ordered it",
      "links are down, and nobody ordered it", "see their cables");
  add(ProblemKind::DisabledPorts, disabled, "port is disabled and not by us",
      "ports are disabled and not by us",
      "an operator may have done that, or a journal that is lost had it; `heddle restore --adopt` enables "
      "them");
  add(ProblemKind::LinksNotBack, governor_.not_back(), "link was ordered on and did not come",
      "links were ordered on and did not come", "see their cables; they are ordered again and again");
  for (const auto& [link, off] : governor_.memory().off) {
    const PortIndex port = fabric.find_port(off.port);
    const PortRef& other = off.port == link.a ? link.b : link.a;
    if (port == no_port || fabric.find_port(other) != no_port) continue;
    const std::string end = name(off.port);
    problems.push_back(
        {ProblemKind::OffUnseen,
         fmt::format(
             "{} is off ({}), and what is behind it has not been seen since the start; `heddle link auto "
             "\"{}\"` brings it back",
             end, printable(off.reason), end)});
  }
}

}  // namespace heddle::regulate
