#include "authority/opensm/beside_opensm.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/opensm/plan_evidence.h"
#include "authority/own/survey_change.h"
#include "regulate/disabled_ports.h"

namespace heddle::opensm {

using Mastership = regulate::Regulator::Mastership;

BesideOpenSm::BesideOpenSm(const regulate::RegulatorOptions& options, transport::TransactionEngine& engine,
                           regulate::FabricSeat& seat, PluginPort& plugin, PlanStore& store,
                           journal::Scribe& journal, regulate::PathMigrator* migrator,
                           regulate::Regulator::Log log, const OpenSmActuatorOptions& actuator)
    : plugin_{plugin},
      store_{store},
      journal_{journal},
      keeper_{actuator.planes, provision::UpDownKeeper::Counts::Trained},
      actuator_{engine, seat, plugin, store, migrator, actuator},
      regulator_{options, journal, actuator_, std::move(log)} {
  // The tables that stand follow the order of the plan, or that of the journal where there is none yet.
  if (!store.plan().ranks.empty()) {
    keeper_.remember(store.plan().ranks);
  } else if (const auto& ranks = journal_.ranks()) {
    keeper_.remember(*ranks);
  }
  const regulation::Memory memory = journal_.memory();
  const bool fresh = memory.last == regulation::ChangeId{} && memory.off.empty() && memory.open.empty();
  if (fresh) off_by_plan_ = store.plan().off;
}

std::size_t BesideOpenSm::recover(const Survey& survey, Instant now) {
  if (begun_ || off_by_plan_.empty()) return 0;
  regulation::Outcome outcome{regulation::ChangeId{1}, now, off_by_plan(off_by_plan_, survey, now), {}, ""};
  if (outcome.off.empty()) return 0;
  off_by_plan_.clear();
  const std::size_t links = outcome.off.size();
  // Where the disk refuses it, the ports are named as disabled.
  journal_.write(outcome, [](const Result<void>&) {});
  return links;
}

std::shared_ptr<const Survey> BesideOpenSm::complete(std::shared_ptr<const Survey> survey) const {
  return provision::complete(std::move(survey), regulator_.known_links());
}

void BesideOpenSm::surveyed(const Survey& survey, std::vector<Lid> managers, Instant now) {
  look_at_mastership(now);
  // Before OpenSM has given LIDs there is nothing to regulate.
  std::erase_if(managers, [&](Lid lid) { return survey.fabric->find_port(lid) == no_port; });
  if (managers.empty()) return;
  if (must_wait_for_more(survey, now)) {
    first_ =
        First{std::make_unique<Survey>(survey), std::move(managers), first_ ? first_->until : now + patience};
    return;
  }
  first_.reset();
  // The tables are OpenSM's; what is wanted here is the topology with everything that was ever seen, and its
  // order.
  if (!keeper_.route(*survey.fabric) || !keeper_.full()) return;
  actuator_.use_ranks(keeper_.ranks());
  regulate::KnownFabric known;
  known.reference = keeper_.full();
  known.up = keeper_.up();
  known.ranks = keeper_.ranks();
  known.managers = std::move(managers);
  known.disabled = regulate::disabled_ports(*survey.fabric);
  for (const Node& node : survey.fabric->nodes()) {
    if (node.type == NodeType::Switch) known.present.insert(node.guid);
  }
  known_ = std::move(known);
  if (begun_) regulator_.on_fabric(*known_, now);
  look_at_mastership(now);
}

/// The order that is chosen from the first survey stays, and OpenSM's tables follow it from then on: one of
/// half a fabric would be another than that of the whole, and leave pairs apart.
bool BesideOpenSm::must_wait_for_more(const Survey& survey, Instant now) const {
  if (!keeper_.ranks().empty() || (first_ && first_->until <= now)) return false;
  return std::any_of(survey.nodes.begin(), survey.nodes.end(), [](const SurveyNode& node) {
    return node.is_switch() && std::any_of(node.ports.begin(), node.ports.end(),
                                           [](const SurveyPort& port) { return port.silent; });
  });
}

/// With the first word on who is the master: a daemon that is started again must not think that it is lost.
void BesideOpenSm::begin(Instant now) {
  if (std::exchange(begun_, true)) return;
  regulator_.on_fabric(*known_, now);
  // Not what the plan has as off: of a change that was interrupted, links may be up.
  std::vector<LinkRef> off;
  for (const regulation::OffRecord& record : regulator_.governor().off_links()) {
    if (!record.mode.on()) off.push_back(record.link);
  }
  actuator_.remember_off(off);
}

void BesideOpenSm::look_at_mastership(Instant now) {
  if (actuator_.ready()) {
    lost_at_.reset();
    master_went_ = false;
  } else if (!lost_at_) {
    lost_at_ = now + patience;
  }
  away_ = lost_at_ && *lost_at_ <= now;
  if (!known_) return;
  if (actuator_.ready()) {
    tell(Mastership::Held, now);
  } else if (away_ || yields()) {
    tell(Mastership::Lost, now);
  }
}

/// Of a master that handed over while others are here, or that died, a standby here may take the place.
bool BesideOpenSm::yields() const {
  return actuator_.yields() && !plugin_.has_others() && (!master_went_ || away_);
}

Problems BesideOpenSm::problems() const {
  Problems problems;
  if (!store_.trouble().empty()) problems.push_back({ProblemKind::PlanFile, store_.trouble()});
  if (yields()) {
    problems.push_back(
        {ProblemKind::OpenSmStandby,
         "the OpenSM beside this daemon is not the master of the fabric: nothing is regulated from here, and "
         "links "
         "that are off come back; the daemon beside the master regulates"});
  } else if (away_) {
    problems.push_back(
        {ProblemKind::OpenSmAway,
         fmt::format(
             "no OpenSM with the plugin that is the master has been here for more than {} s: nothing is "
             "regulated, and links that are off come back; see that OpenSM runs, and loads the plugin "
             "(docs/opensm.md)",
             std::chrono::duration_cast<std::chrono::seconds>(patience).count())});
  }
  return problems;
}

void BesideOpenSm::tell(Mastership mastership, Instant now) {
  begin(now);
  // The regulator begins as one who has it.
  const Mastership before = mastership_.value_or(Mastership::Held);
  mastership_ = mastership;
  if (mastership != before) regulator_.on_mastership(mastership, now);
}

void BesideOpenSm::on_plugin(const PluginEvent& event, Instant now) {
  actuator_.on_plugin(event, now);
  look_at_mastership(now);
}

void BesideOpenSm::on_plugin_gone(Instant now) {
  master_went_ = master_went_ || mastership_ == Mastership::Held;
  actuator_.on_plugin_gone(now);
  look_at_mastership(now);
}

void BesideOpenSm::on_timer(Instant now) {
  if (first_ && first_->until <= now) {
    // It is due: nothing is waited for any more.
    const auto survey = std::move(first_->survey);
    surveyed(*survey, std::move(first_->managers), now);
  }
  actuator_.on_timer(now);
  look_at_mastership(now);
  regulator_.on_timer(now);
}

std::optional<Instant> BesideOpenSm::next_deadline() const {
  auto first = actuator_.next_deadline();
  const auto other = regulator_.next_deadline();
  if (other && (!first || *other < *first)) first = other;
  if (lost_at_ && !away_ && (!first || *lost_at_ < *first)) first = lost_at_;
  if (first_ && (!first || first_->until < *first)) first = first_->until;
  return first;
}

}  // namespace heddle::opensm
