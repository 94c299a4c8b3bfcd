#include "authority/own/own_fabric.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "authority/own/survey_change.h"
#include "base/random.h"
#include "fabric/links.h"

namespace heddle::provision {

using authority::Mastership;

namespace {

constexpr FabricClock::duration successors_every = std::chrono::seconds{1};
/// Links that were ordered on, thousands perhaps, train for their own time each: they wait so long after a
/// run for one another, and the next run takes them all.
constexpr FabricClock::duration between_gains = std::chrono::milliseconds{250};
/// After yielding to others that were no master yet: within so long, twice as much each time.
constexpr FabricClock::duration first_stand_again = std::chrono::seconds{2};
constexpr FabricClock::duration longest_stand_again = std::chrono::seconds{32};

authority::Remembered with_rates(authority::Remembered before, const std::vector<KnownLink>& known) {
  std::map<LinkRef, const KnownLink*> by_link;
  for (const KnownLink& each : known) by_link.emplace(each.link, &each);
  for (authority::SeenCable& cable : before.cables) {
    const auto it = by_link.find(cable.known.link);
    if (it != by_link.end()) cable.known = *it->second;
  }
  return before;
}

}  // namespace

OwnFabric::OwnFabric(const OwnFabricOptions& options, transport::TransactionEngine& engine,
                     transport::Transport& transport, authority::Seat& seat, regulate::PathMigrator* migrator,
                     Configured configured)
    : transport_{transport},
      seat_{seat},
      priority_{options.provision.priority},
      configured_{std::move(configured)},
      keeper_{options.planes},
      manager_{engine, transport, options.provision,
               options.other_engine ? options.other_engine
                                    : Router{[this](const Fabric& fabric) { return route(fabric); }},
               [this](const ProvisionReport& report) { on_configured(report); }} {
  if (!options.other_engine) {
    manager_.allow_turns_by(
        [this](const std::vector<routing::KeptTurn>& turns) { return keeper_.allow(turns); });
    keeper_.look_at([this](const routing::SwitchGraph& graph, Lid top) { return manager_.held(graph, top); });
    manager_.ask_for_others([this] {
      return keeper_.leave_lost([this](const PortRef& port) { return manager_.may_use(port); });
    });
    actuator_.emplace(engine, manager_, keeper_, seat, migrator, options.driver);
  }
}

std::string OwnFabric::why_not() const {
  if (manager_.is_master()) return {};
  return yields_ ? "another subnet manager is master" : "this daemon is not the subnet manager yet";
}

void OwnFabric::regulate_with(authority::FabricListener& listener, const authority::Remembered& before) {
  listener_ = &listener;
  // Tables that an earlier run left follow its order, and lead to its LIDs.
  keeper_.remember(with_rates(before, listener.known_links()));
  manager_.remember_lids({before.lids.begin(), before.lids.end()});
  manager_.tell_of_lids([this](const LidsByPort& lids) {
    std::vector<authority::PortLid> all(lids.begin(), lids.end());
    std::sort(all.begin(), all.end());
    listener_->on_lids(std::move(all));
  });
}

Result<void> OwnFabric::take_subnet() {
  manager_.pass_over_silent_sms();
  yields_ = false;
  stand_again_at_.reset();
  return {};
}

void OwnFabric::on_found(std::shared_ptr<const Survey> survey, Instant now) {
  if (yields_) return seat_.use(std::move(survey));
  found_ = std::move(survey);
  if (now >= rest_until_ || !can_wait()) configure(now);
}

/// Nothing but links that were ordered on.
bool OwnFabric::can_wait() const {
  const auto before = seat_.survey();
  return actuator_ && before &&
         only_gains(*before, *found_, [this](const LinkRef& link) { return actuator_->turns_on(link); });
}

void OwnFabric::configure(Instant now) {
  seat_.hold();
  auto completed = complete(std::exchange(found_, nullptr));
  if (actuator_) {
    actuator_->begin(now);
    actuator_->take_routes(*completed);
  }
  manager_.configure(std::move(completed), now);
}

/// With the cables of links that are off, and with directed routes that keep off those that go off.
std::shared_ptr<const Survey> OwnFabric::complete(std::shared_ptr<const Survey> survey) const {
  if (listener_ == nullptr) return survey;
  return complete_avoiding(std::move(survey), listener_->known_links(), keeper_.closed());
}

Result<Routes> OwnFabric::route(const Fabric& fabric) {
  if (listener_ != nullptr) {
    keeper_.withhold(listener_->links_withheld());
    keeper_.force(listener_->links_forced());
    keeper_.drain(listener_->switches_drained());
  }
  keeper_.manage_from(transport_.local().lid);
  return keeper_.route(fabric);
}

void OwnFabric::on_configured(const ProvisionReport& report) {
  yields_ = report.failure && report.failure->code == ErrorCode::Refused;
  could_not_do_.clear();
  successors_ = report.successors;
  look_at_successors_.reset();
  stand_again_at_.reset();
  if (report.undecided) {
    stand_again_later(report.ended);
  } else {
    stand_again_within_ = {};
  }
  if (!yields_ && !successors_.empty()) look_at_successors_ = report.ended + successors_every;
  if (!yields_) {
    if (report.failure) could_not_do_.push_back({ProblemKind::Configuring, report.failure->message});
    for (const Trouble& trouble : report.troubles) {
      could_not_do_.push_back({ProblemKind::Configuring, trouble.text});
    }
  }
  rest_until_ = report.ended + between_gains;
  configured_(report);
  if (manager_.is_master()) seat_.set_change_bits(authority::ChangeBits::Clear);
  if (yields_) seat_.set_change_bits(authority::ChangeBits::Leave);
  if (!report.failure || (yields_ && report.survey)) {
    seat_.adopt(report.survey);
  } else if (report.survey) {
    seat_.show(report.survey);
  }
  if (yields_ && found_) seat_.use(std::exchange(found_, nullptr));
  if (listener_ != nullptr) tell(report);
  seat_.release(report.ended);
}

/// Of those that stood at the same time each does that at another.
void OwnFabric::stand_again_later(Instant now) {
  stand_again_within_ = std::clamp(2 * stand_again_within_, first_stand_again, longest_stand_again);
  const auto ticks = static_cast<std::uint64_t>(now.time_since_epoch().count());
  Random random{transport_.local().guid.raw() ^ ticks};
  const auto half = static_cast<std::uint64_t>((stand_again_within_ / 2).count());
  stand_again_at_ = now + stand_again_within_ / 2 + FabricClock::duration{random.below(half)};
}

void OwnFabric::tell(const ProvisionReport& report) {
  const Mastership mastership = yields_ ? Mastership::Lost : Mastership::Held;
  if (yields_ && mastership_ != mastership) listener_->on_mastership(mastership, report.ended);
  if (!report.failure && keeper_.full()) {
    authority::KnownFabric known;
    known.reference = keeper_.full();
    known.up = keeper_.up();
    known.left = keeper_.left();
    known.ranks = keeper_.ranks();
    known.turns = keeper_.turns();
    known.managers.push_back(transport_.local().lid);
    known.disabled = authority::disabled_ports(*report.survey->fabric);
    for (const Node& node : report.survey->fabric->nodes()) {
      if (node.type == NodeType::Switch) known.present.insert(node.guid);
    }
    known.present.insert(keeper_.mute().begin(), keeper_.mute().end());
    for (const auto& other : report.other_sms) {
      const PortIndex port = known.reference->find_port(other.where);
      if (port != no_port && known.reference->port(port).lid != no_lid) {
        known.managers.push_back(known.reference->port(port).lid);
      }
    }
    listener_->on_fabric(known, report.ended);
    if (mastership_ == Mastership::Lost) listener_->on_mastership(mastership, report.ended);
  }
  mastership_ = mastership;
}

std::optional<mad::Notice> OwnFabric::on_unsolicited(const mad::Packet& packet, Instant now) {
  const auto survey = yields_ ? nullptr : seat_.survey();
  if (const auto other = survey ? unknown_manager(*survey, packet) : std::nullopt) {
    if (std::ranges::find(successors_, *other) == successors_.end()) successors_.push_back(*other);
    if (!look_at_successors_) look_at_successors_ = now + successors_every;
  }
  return manager_.on_unsolicited(packet, now);
}

void OwnFabric::on_inactive(const PortRef& port) { manager_.keep_off(port); }
void OwnFabric::on_active(const PortRef& port) { manager_.found_active(port); }

void OwnFabric::on_timer(Instant now) {
  manager_.on_timer(now);
  if (found_ && rest_until_ <= now) configure(now);
  if (actuator_) actuator_->on_timer(now);
  if (look_at_successors_ && *look_at_successors_ <= now) {
    look_at_successors_.reset();
    seat_.look_at(successors_, now);
  }
  if (stand_again_at_ && *stand_again_at_ <= now) {
    stand_again_at_.reset();
    yields_ = false;
    seat_.begin_anew(now);
  }
}

std::optional<Instant> OwnFabric::next_deadline() const {
  auto first = manager_.next_deadline();
  const auto other = actuator_ ? actuator_->next_deadline() : std::nullopt;
  const auto found = found_ ? std::optional{rest_until_} : std::nullopt;
  for (const auto& at : {other, look_at_successors_, stand_again_at_, found}) {
    if (at && (!first || *at < *first)) first = at;
  }
  return first;
}

}  // namespace heddle::provision
