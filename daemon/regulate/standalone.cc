#include "regulate/standalone.h"

#include <algorithm>
#include <utility>

#include "authority/own/survey_change.h"
#include "regulate/disabled_ports.h"

namespace heddle::regulate {

Standalone::Standalone(const RegulatorOptions& options, unsigned planes, transport::TransactionEngine& engine,
                       FabricSeat& seat, journal::Scribe& journal, PathMigrator* migrator, Regulator::Log log,
                       const provision::LinkDriverOptions& driver)
    : options_{options},
      engine_{engine},
      seat_{seat},
      journal_{journal},
      migrator_{migrator},
      log_{std::move(log)},
      driver_{driver},
      keeper_{planes} {
  // Tables that an earlier run left follow its order.
  if (const auto& ranks = journal_.ranks()) keeper_.remember(*ranks);
}

provision::Router Standalone::router() {
  return [this](const Fabric& fabric) { return keeper_.route(fabric); };
}

void Standalone::use(provision::SubnetManager& manager) {
  manager_ = &manager;
  actuator_.emplace(engine_, manager, keeper_, seat_, migrator_, driver_);
  regulator_.emplace(options_, journal_, *actuator_, log_);
}

std::shared_ptr<const Survey> Standalone::complete(std::shared_ptr<const Survey> survey) const {
  auto completed = provision::complete(std::move(survey), regulator_->known_links());
  const Fabric& fabric = *completed->fabric;
  const bool all_active = std::all_of(fabric.links().begin(), fabric.links().end(), [&](const Link& link) {
    return provision::is_active(fabric, link) || !provision::is_up(fabric, link);
  });
  if (all_active && keeper_.closed().empty()) return completed;
  return provision::with_routes_avoiding(*completed, keeper_.closed());
}

void Standalone::configured(const provision::ProvisionReport& report, Lid own) {
  using Mastership = Regulator::Mastership;
  const bool refused = report.failure && report.failure->code == ErrorCode::Refused;
  const Mastership mastership = refused ? Mastership::Lost : Mastership::Held;
  if (refused && mastership_ != mastership) regulator_->on_mastership(mastership, report.ended);
  if (!report.failure && keeper_.full()) {
    KnownFabric known;
    known.reference = keeper_.full();
    known.up = keeper_.up();
    known.ranks = keeper_.ranks();
    known.managers.push_back(own);
    known.disabled = disabled_ports(*report.survey->fabric);
    for (const Node& node : report.survey->fabric->nodes()) {
      if (node.type == NodeType::Switch) known.present.insert(node.guid);
    }
    for (const auto& other : report.other_sms) {
      const PortIndex port = known.reference->find_port(other.where);
      if (port != no_port && known.reference->port(port).lid != no_lid) {
        known.managers.push_back(known.reference->port(port).lid);
      }
    }
    regulator_->on_fabric(known, report.ended);
    if (mastership_ == Mastership::Lost) regulator_->on_mastership(mastership, report.ended);
  }
  mastership_ = mastership;
}

void Standalone::on_timer(Instant now) {
  manager_->on_timer(now);
  actuator_->on_timer(now);
  regulator_->on_timer(now);
}

std::optional<Instant> Standalone::next_deadline() const {
  auto first = actuator_->next_deadline();
  for (const auto& other : {regulator_->next_deadline(), manager_->next_deadline()}) {
    if (other && (!first || *other < *first)) first = other;
  }
  return first;
}

}  // namespace heddle::regulate
