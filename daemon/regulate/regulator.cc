// What happens: in the fabric, in time, and to energy.

#include "regulate/regulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fabric/links.h"
#include "regulate/pins.h"

namespace heddle::regulate {
namespace {

regulation::GovernorOptions as_the_actuator_can(regulation::GovernorOptions options,
                                                const Actuator& actuator) {
  options.planes = actuator.planes();
  options.movement = actuator.movement();
  return options;
}

std::vector<NodeGuid> drained_in(const regulation::Memory& memory) {
  std::vector<NodeGuid> switches;
  for (const auto& [what, drain] : memory.drains)
    switches.insert(switches.end(), drain.nodes.begin(), drain.nodes.end());
  // One may be part of several.
  std::ranges::sort(switches);
  switches.erase(std::unique(switches.begin(), switches.end()), switches.end());
  return switches;
}

std::vector<authority::KnownLink> links_known_in(const regulation::Memory& memory) {
  std::vector<authority::KnownLink> links;
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

}  // namespace

Regulator::Regulator(const RegulatorOptions& options, journal::Scribe& journal, Actuator& actuator, Log log)
    : options_{options},
      journal_{journal},
      actuator_{actuator},
      log_{std::move(log)},
      governor_{as_the_actuator_can(options.governor, actuator)},
      energy_{options.governor.power},
      cables_{journal} {
  actuator_.tell_of_links(
      [this](const std::vector<LinkRef>& links, Instant now) { feed(regulation::LinksThere{links}, now); });
  if (const auto& record = journal_.energy()) {
    energy_.restore(*record);
  } else {
    journal_trouble_ = record.error().message;
  }
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

void Regulator::set_movement(regulation::Movement movement, Instant now) {
  const bool differs = movement != governor_.movement() && actuator_.planes() > 1;
  if (!differs || !at_rest() || !governor_.reference()) return;
  // Advice moves nobody.
  if (movement == regulation::Movement::Planes && governor_.mode() != regulation::Mode::Enforce) return;
  feed(regulation::MovementChanged{movement}, now);
}

void Regulator::later(regulation::Event event) { due_.push_back(std::move(event)); }

void Regulator::on_fabric(const KnownFabric& known, Instant now) {
  const bool other = known.reference != known_.reference || known.managers != known_.managers;
  if (const auto& ranks = journal_.ranks(); !ranks || *ranks != known.ranks) {
    // The order must be the same after a crash, so it is on disk before tables are written by it.
    ranks_wait_ = true;
    journal_.put_ranks(known.ranks, [this](const Result<void>& put) {
      ranks_wait_ = false;
      heed(put);
    });
  }
  const KnownFabric before = std::exchange(known_, known);
  if (other) {
    no_queues_until_.clear();
    Pins pins = find_pins(known.reference, options_.names, options_.pins);
    unmatched_pins_ = std::move(pins.unmatched);
    feed(regulation::TopologyChanged{known.reference, known.managers, known.ranks, std::move(pins.links),
                                     known.turns},
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
  keep_cables(known.reference != before.reference);
  tell_of_what_came(before.left, now);
  compare(known, now);
  adopt_more(now);
}

bool Regulator::is_up(const LinkRef& ref) const {
  const LinkIndex link = find_link(*known_.reference, ref);
  return link != no_link && known_.up.contains(link);
}

void Regulator::keep_cables(bool other_topology) {
  const bool back =
      cables_.remember_again(known_.present, [this](const LinkRef& link) { return is_up(link); });
  if (back || other_topology) cables_.look(*known_.reference, [this](const Result<void>& put) { heed(put); });
}

/// Cables that the topology was without because they were lost.
void Regulator::tell_of_what_came(const std::vector<LinkRef>& left, Instant now) {
  for (const LinkRef& ref : left) {
    if (find_link(*known_.reference, ref) == no_link) continue;
    const std::string name = names(std::vector{ref});
    log(regulation::ReportKind::Back, name, name + " is up again", now);
  }
}

/// Against what the governor believes, and not against what it was told before: a topology that takes
/// another's place, or a sweep in which much was missing, leaves no fault behind that is over.
void Regulator::compare(const KnownFabric& known, Instant now) {
  std::vector<NodeGuid> switches;
  for (const Node& node : known.reference->nodes()) {
    if (node.type == NodeType::Switch) switches.push_back(node.guid);
  }
  if (!governor_.reference()) return;
  // All that are gone before anything is ordered: who can still be asked depends on all of them.
  regulation::SwitchesLost gone;
  for (const NodeGuid guid : switches) {
    const bool is_known = governor_.lost_switches().contains(guid);
    if (!known.present.contains(guid) && !is_known) gone.nodes.push_back(guid);
  }
  if (!gone.nodes.empty()) feed(std::move(gone), now);
  for (const NodeGuid guid : switches) {
    if (known.present.contains(guid) && governor_.lost_switches().contains(guid))
      feed(regulation::SwitchFound{guid}, now);
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
    const Seen& seen = up_though_off_[ref] = since == before.end() ? Seen{now, looks_} : since->second;
    if (now - seen.since >= options_.believe_sweeps && looks_ - seen.looks >= options_.believe_looks) {
      on.push_back(ref);
    }
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

void Regulator::on_apart(std::size_t pairs, Instant now) { feed(regulation::PairsApart{pairs}, now); }

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
  if (wants_the_disk() && store_at_ <= now) unstored_.empty() ? look_at_the_disk(now) : store(now);
}

std::optional<Instant> Regulator::next_deadline() const {
  if (!due_.empty()) return due_.front().at;
  std::optional<Instant> first = governor_.next_deadline();
  const auto sooner = [&](std::optional<Instant> at) {
    if (at && (!first || *at < *first)) first = at;
  };
  for (const auto& [step, under_way] : steps_) sooner(under_way.until);
  sooner(save_at_);
  if (wants_the_disk()) sooner(store_at_);
  return first;
}

void Regulator::calibrate() {
  if (options_.measured.empty() || calibrated_for_ == governor_.reference()) return;
  // Once it is known of all of them what they were like, that stays: states differ later.
  if (calibrated_for_ && unmatched_readings_.empty()) return;
  calibrated_for_ = governor_.reference();
  power::Calibration calibration =
      power::calibrate(options_.governor.power, *calibrated_for_, governor_.modes(), options_.measured);
  energy_.use(std::move(calibration.model));
  accounted_ = {};
  compared_ = std::move(calibration.compared);
  unmatched_readings_ = std::move(calibration.unmatched);
}

std::vector<NodeGuid> Regulator::unknown_switches() const {
  std::vector<NodeGuid> unknown;
  if (!governor_.reference()) return unknown;
  for (const Node& node : governor_.reference()->nodes()) {
    // One that is only remembered has not said what it is.
    if (energy_.model().is_unknown(node) && !governor_.lost_switches().contains(node.guid))
      unknown.push_back(node.guid);
  }
  return unknown;
}

void Regulator::account(Instant now) {
  if (!governor_.reference()) return;
  calibrate();
  Accounted as{governor_.reference(), governor_.modes(), governor_.full_modes()};
  if (as == accounted_) {
    energy_.advance(now);
  } else {
    energy_.set(now, *as.reference, as.modes, as.full);
    accounted_ = std::move(as);
  }
  if (!save_at_) save_at_ = now + options_.save_energy_every;
}

void Regulator::save(Instant now) {
  energy_.advance(now);
  journal_.put_energy(energy_.record(), [this](const Result<void>& put) { heed(put); });
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

/// Nobody waits for them: a fabric comes up beside a disk that is slow, or full.
void Regulator::on_lids(std::vector<authority::PortLid> lids) {
  if (const auto& stored = journal_.lids(); stored && *stored == lids) return;
  put_lids(std::move(lids));
}

void Regulator::put_lids(std::vector<authority::PortLid> lids) {
  journal_.put_lids(std::move(lids), [this](const Result<void>& put) {
    lids_refused_ = !put;
    heed(put);
  });
}

std::vector<LinkRef> Regulator::links_off() const {
  std::vector<LinkRef> off;
  for (const regulation::OffRecord& record : governor_.off_links()) {
    if (!record.mode.on()) off.push_back(record.link);
  }
  return off;
}

std::vector<NodeGuid> Regulator::switches_drained() const {
  return restarted_ ? drained_in(governor_.memory()) : drained_in(journal_.memory());
}

std::vector<authority::KnownLink> Regulator::known_links() const {
  return restarted_ ? links_known_in(governor_.memory()) : links_known_in(journal_.memory());
}

/// At a start also those that were going off: the Set may be under way to a port that is up.
std::vector<LinkRef> Regulator::links_withheld() const {
  if (restarted_) return governor_.withheld();
  std::vector<LinkRef> links;
  for (const auto& [id, change] : journal_.memory().open) {
    for (const auto& off : change.off) links.push_back(off.link);
  }
  return links;
}

}  // namespace heddle::regulate
