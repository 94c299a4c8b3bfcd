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
  if (plan) actuator_.remember_off(plan->off);
}

std::shared_ptr<const Survey> BesideOpenSm::complete(std::shared_ptr<const Survey> survey) const {
  return provision::complete(std::move(survey), regulator_.known_links());
}

void BesideOpenSm::surveyed(const Survey& survey, std::vector<Lid> managers, Instant now) {
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
  regulator_.on_fabric(known, now);
  surveyed_ = true;
  tell_mastership(now);
}

void BesideOpenSm::tell_mastership(Instant now) {
  if (!surveyed_) return;
  const Mastership mastership = actuator_.ready() ? Mastership::Held : Mastership::Lost;
  if (mastership_ == mastership) return;
  // It begins as the master.
  const bool news = mastership_.has_value() || mastership == Mastership::Lost;
  mastership_ = mastership;
  if (news) regulator_.on_mastership(mastership, now);
}

void BesideOpenSm::on_plugin(const PluginEvent& event, Instant now) {
  actuator_.on_plugin(event, now);
  tell_mastership(now);
}

void BesideOpenSm::on_plugin_gone(Instant now) {
  actuator_.on_plugin_gone(now);
  tell_mastership(now);
}

void BesideOpenSm::on_timer(Instant now) {
  actuator_.on_timer(now);
  regulator_.on_timer(now);
}

std::optional<Instant> BesideOpenSm::next_deadline() const {
  auto first = actuator_.next_deadline();
  const auto other = regulator_.next_deadline();
  if (other && (!first || *other < *first)) first = other;
  return first;
}

}  // namespace heddle::opensm
