#include "opensm/beside_opensm.h"

#include <algorithm>
#include <utility>

#include "opensm/plan_file.h"
#include "provision/survey_change.h"

namespace heddle::opensm {

using Mastership = regulate::Regulator::Mastership;

BesideOpenSm::BesideOpenSm(const regulate::RegulatorOptions& options, transport::TransactionEngine& engine,
                           regulate::FabricSeat& seat, PluginPort& plugin, journal::Journal& journal,
                           regulate::PathMigrator* migrator, regulate::Regulator::Log log,
                           const OpenSmActuatorOptions& actuator)
    : journal_{journal},
      keeper_{actuator.planes},
      actuator_{engine, seat, plugin, migrator, actuator},
      regulator_{options, journal, actuator_, std::move(log)} {
  // The tables that stand follow the order of the plan, or that of the journal where there is none yet.
  const auto plan = read_plan(actuator.plan_path);
  if (plan && !plan->ranks.empty()) {
    keeper_.remember(plan->ranks);
  } else if (const auto ranks = journal_.ranks()) {
    keeper_.remember(*ranks);
  }
}

std::shared_ptr<const Survey> BesideOpenSm::complete(std::shared_ptr<const Survey> survey) const {
  return provision::complete(std::move(survey), regulator_.known_links());
}

void BesideOpenSm::surveyed(const Survey& survey, std::vector<Lid> managers, Instant now) {
  // Before OpenSM has given LIDs there is nothing to regulate.
  std::erase_if(managers, [&](Lid lid) { return survey.fabric->find_port(lid) == no_port; });
  if (managers.empty()) return;
  // The tables are OpenSM's; what is wanted here is the topology with everything that was ever seen, and its
  // order.
  if (!keeper_.route(*survey.fabric) || !keeper_.full()) return;
  actuator_.use_ranks(keeper_.ranks());
  regulate::KnownFabric known;
  known.reference = keeper_.full();
  known.up = keeper_.up();
  known.ranks = keeper_.ranks();
  known.managers = std::move(managers);
  for (const Node& node : survey.fabric->nodes()) {
    if (node.type == NodeType::Switch) known.present.insert(node.guid);
  }
  known_ = std::move(known);
  if (begun_) regulator_.on_fabric(*known_, now);
  look_at_mastership(now);
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
  if (!known_) return;
  if (actuator_.ready()) {
    lost_at_.reset();
    tell(Mastership::Held, now);
  } else if (actuator_.yields() || (lost_at_ && *lost_at_ <= now)) {
    tell(Mastership::Lost, now);
  } else if (!lost_at_) {
    lost_at_ = now + patience;
  }
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
  actuator_.on_plugin_gone(now);
  look_at_mastership(now);
}

void BesideOpenSm::on_timer(Instant now) {
  actuator_.on_timer(now);
  look_at_mastership(now);
  regulator_.on_timer(now);
}

std::optional<Instant> BesideOpenSm::next_deadline() const {
  auto first = actuator_.next_deadline();
  const auto other = regulator_.next_deadline();
  if (other && (!first || *other < *first)) first = other;
  const bool lost = mastership_ == Mastership::Lost;
  if (lost_at_ && !lost && (!first || *lost_at_ < *first)) first = lost_at_;
  return first;
}

}  // namespace heddle::opensm
