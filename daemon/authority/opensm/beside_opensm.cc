#include "authority/opensm/beside_opensm.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/opensm/plan_evidence.h"
#include "authority/own/survey_change.h"
#include "planned/lost_cables.h"

namespace heddle::opensm {

using authority::Mastership;

BesideOpenSm::BesideOpenSm(transport::TransactionEngine& engine, transport::Transport& transport,
                           authority::Seat& seat, PluginPort& plugin, PlanStore& store,
                           regulate::PathMigrator* migrator, const OpenSmActuatorOptions& actuator)
    : transport_{transport},
      seat_{seat},
      plugin_{plugin},
      store_{store},
      keeper_{actuator.planes, provision::UpDownKeeper::Counts::Trained},
      actuator_{engine, seat, plugin, store, migrator, actuator} {}

void BesideOpenSm::regulate_with(authority::FabricListener& listener, const authority::Remembered& before) {
  listener_ = &listener;
  actuator_.ask_for_forced([this] { return listener_->links_forced(); });
  actuator_.ask_for_drained([this] { return listener_->switches_drained(); });
  keeper_.remember(store_.plan().ranks.empty() ? before.ranks : store_.plan().ranks);
  off_by_plan_ = store_.plan().off;
}

void BesideOpenSm::on_found(std::shared_ptr<const Survey> survey, Instant now) {
  if (!begun_ && !off_by_plan_.empty()) {
    if (const auto off = off_by_plan(off_by_plan_, *survey, now); !off.empty()) {
      off_by_plan_.clear();
      listener_->on_evidence(off, now);
    }
  }
  const auto completed = provision::complete(std::move(survey), listener_->known_links());
  seat_.use(completed);
  actuator_.take_routes(*completed);
  if (completed->local == no_node) return;
  // As the sweep found it: the transport's own view may be from before OpenSM was there.
  const mad::PortInfo& port = completed->port({completed->local, transport_.local().port}).info;
  surveyed(*completed, {port.lid, port.master_sm_lid}, now);
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
  authority::KnownFabric known;
  known.reference = keeper_.full();
  known.up = keeper_.up();
  known.left = keeper_.left();
  known.ranks = keeper_.ranks();
  known.managers = std::move(managers);
  known.disabled = authority::disabled_ports(*survey.fabric);
  for (const Node& node : survey.fabric->nodes()) {
    if (node.type == NodeType::Switch) known.present.insert(node.guid);
  }
  known_ = std::move(known);
  if (begun_) listener_->on_fabric(*known_, now);
  leave_lost(now);
  look_at_mastership(now);
}

/// As the plugin does (planned/lost_cables.h): it says that nobody is apart.
void BesideOpenSm::leave_lost(Instant now) {
  if (!known_ || unconnected_ != 0 || planned::keeps_off(store_.plan())) return;
  if (keeper_.leave_lost([](const PortRef&) { return false; }) != provision::OtherRoutes::Now) return;
  known_->reference = keeper_.full();
  known_->up = keeper_.up();
  known_->left = keeper_.left();
  if (begun_) listener_->on_fabric(*known_, now);
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
  listener_->on_fabric(*known_, now);
  tell_of_apart(now);
  // Not what the plan has as off: of a change that was interrupted, links may be up.
  actuator_.remember_off(listener_->links_off());
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
  } else if (away_ || is_standby()) {
    tell(Mastership::Lost, now);
  }
}

/// Of a master that handed over while others are here, or that died, a standby here may take the place.
bool BesideOpenSm::is_standby() const {
  return actuator_.yields() && !plugin_.has_others() && (!master_went_ || away_);
}

Problems BesideOpenSm::problems() const {
  Problems problems;
  if (!store_.trouble().empty()) problems.push_back({ProblemKind::PlanFile, store_.trouble()});
  if (is_standby()) {
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
  if (mastership != before) listener_->on_mastership(mastership, now);
}

/// Nobody is where the plugin has not said so.
void BesideOpenSm::tell_of_apart(Instant now) {
  const std::size_t apart = unconnected_.value_or(0);
  if (begun_ && std::exchange(told_apart_, apart) != apart) listener_->on_apart(apart, now);
}

void BesideOpenSm::on_plugin(const PluginEvent& event, Instant now) {
  if (event.kind == PluginEvent::Kind::RoutingDone || event.kind == PluginEvent::Kind::Hello)
    staying_ = event.staying;
  if (event.kind == PluginEvent::Kind::RoutingDone) {
    unconnected_ = event.unconnected;
    tell_of_apart(now);
    leave_lost(now);
  }
  actuator_.on_plugin(event, now);
  look_at_mastership(now);
}

void BesideOpenSm::on_plugin_gone(Instant now) {
  master_went_ = master_went_ || mastership_ == Mastership::Held;
  staying_.clear();  // nobody says any more
  unconnected_.reset();
  tell_of_apart(now);
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
}

std::optional<Instant> BesideOpenSm::next_deadline() const {
  auto first = actuator_.next_deadline();
  if (lost_at_ && !away_ && (!first || *lost_at_ < *first)) first = lost_at_;
  if (first_ && (!first || first_->until < *first)) first = first_->until;
  return first;
}

}  // namespace heddle::opensm
