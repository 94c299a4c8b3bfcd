#include "authority/own/subnet_manager.h"

#include <algorithm>
#include <utility>

#include "authority/own/survey_change.h"
#include "mad/header.h"
#include "routing/kept_turns.h"

namespace heddle::provision {
namespace {

using std::chrono::seconds;

/// After tables that were not confirmed; twice as much each time.
constexpr FabricClock::duration first_retry = seconds{1};
constexpr FabricClock::duration longest_retry = seconds{30};
constexpr std::size_t blocks_at_a_time = 64;
/// The first who joins a group after a while hears it at once. Of hosts that join and leave without end all
/// is done together, so that they take a small part of a processor (multicast_bench).
constexpr FabricClock::duration between_regroups = std::chrono::milliseconds{200};

}  // namespace

void Retry::failed(Instant now) {
  after_ = std::clamp(after_, first_retry, longest_retry);
  at_ = now + after_;
  after_ *= 2;
}

void Retry::succeeded() {
  at_.reset();
  begin_anew();
}

bool Retry::is_due(Instant now) {
  if (!at_ || *at_ > now) return false;
  at_.reset();
  return true;
}

bool Doubts::are_too_many(Instant now) {
  if (now - began_ >= seconds{1}) {
    began_ = now;
    count_ = 0;
  }
  return ++count_ > most_a_second;
}

SubnetManager::SubnetManager(transport::TransactionEngine& engine, transport::Transport& transport,
                             const ProvisionOptions& options, Router router, Provisioner::Done done)
    : engine_{engine},
      transport_{transport},
      options_{options},
      done_{std::move(done)},
      provisioner_{engine, transport, options, std::move(router),
                   [this](const ProvisionReport& report) { finished(report); }} {
  if (options_.administrator) administration_.emplace(engine, transport, *options_.administrator);
}

void SubnetManager::configure(std::shared_ptr<const Survey> survey, Instant now) {
  // What a run writes ends a comparison of tables that is under way: it has its turn later.
  owes_verifying_ = owes_verifying_ || verifying_;
  verifying_ = false;
  if (!is_at_rest()) {
    waiting_ = std::move(survey);
    if (rewriting_) provisioner_.overtake(now);
    return;
  }
  if (state_ == mad::SmInfo::State::NotActive) state_ = mad::SmInfo::State::Discovering;
  say_who_joined(*survey);
  provisioner_.run(std::move(survey), now);
}

void SubnetManager::say_who_joined(const Survey& survey) {
  if (administration_) provisioner_.set_joined(administration_->joined(*survey.fabric));
}

/// The subnet administrator goes by what was just written.
void SubnetManager::serve(const ProvisionReport& report) {
  if (administration_ && report.routes) administration_->use(report.survey, report.routes, report.ended);
}

void SubnetManager::finished(const ProvisionReport& report) {
  const bool refused = report.failure && report.failure->code == ErrorCode::Refused;
  state_ = refused ? mad::SmInfo::State::NotActive : mad::SmInfo::State::Master;
  if (refused && administration_) administration_->rest();
  if (!report.failure) {
    configured_ = report.survey;
    serve(report);
    if (report.postponed && rewrites_.empty()) rewrites_.emplace_back();
    if (report.tables_confirmed || report.postponed) {
      tables_again_.succeeded();
    } else {
      tables_again_.failed(report.ended);
    }
    if (!verify_at_) verify_at_ = report.ended + options_.verify_within;
    report.ports_unanswered ? ports_again_.failed(report.ended) : ports_again_.succeeded();
  }
  ++activity_;
  ask_at_ = report.ended + routing::between_orders;
  done_(report);
  next(report.ended);
}

/// A switch that is silent for a moment while its ports are raised leaves them as they were, and says nothing
/// by which a light sweep would look there.
void SubnetManager::set_ports_again(Instant now) {
  if (!rewrites_.empty() || waiting_) {
    ports_again_.failed(now);
  } else if (is_master() && configured_) {
    run_again(now);
  }
}

void SubnetManager::run_again(Instant now) {
  say_who_joined(*configured_);
  provisioner_.run_again(configured_, now);
}

void SubnetManager::take_routes(const Survey& from) {
  for (std::shared_ptr<const Survey>* const survey : {&configured_, &waiting_}) {
    if (!*survey) continue;
    auto changed = std::make_shared<Survey>(**survey);
    heddle::take_routes(from, *changed);
    *survey = std::move(changed);
  }
  provisioner_.take_routes(from);
}

void SubnetManager::on_timer(Instant now) {
  provisioner_.on_timer(now);
  if (administration_) administration_->on_timer(now);
  if (tables_again_.is_due(now)) {
    if (rewrites_.empty() && !waiting_) rewrites_.emplace_back();
    next(now);
  }
  if (verify_at_ && *verify_at_ <= now) verify(now);
  if (regroup_at_ && *regroup_at_ <= now) {
    regroup_at_.reset();
    next(now);
  }
  if (is_at_rest() && ports_again_.is_due(now)) set_ports_again(now);
  if (ask_at_ && *ask_at_ <= now && is_at_rest()) ask(now);
}

std::optional<Instant> SubnetManager::next_deadline() const {
  std::optional<Instant> first = provisioner_.next_deadline();
  const auto segments = administration_ ? administration_->next_deadline() : std::nullopt;
  const auto ask_at = is_at_rest() ? ask_at_ : std::nullopt;
  const auto ports_at = is_at_rest() ? ports_again_.at() : std::nullopt;
  for (const auto& at : {tables_again_.at(), verify_at_, ask_at, ports_at, segments, regroup_at_}) {
    if (at && (!first || *at < *first)) first = at;
  }
  return first;
}

/// Some blocks at a time, so that all have had their turn in verify_within: between two runs, where one
/// follows the other.
void SubnetManager::verify(Instant now) {
  const std::size_t turns = provisioner_.known_blocks() / blocks_at_a_time + 1;
  verify_at_ = now + options_.verify_within / static_cast<std::int64_t>(turns);
  if (!is_master() || !configured_) return;
  owes_verifying_ = !is_at_rest();
  if (!owes_verifying_) verify_some(now);
}

void SubnetManager::verify_some(Instant now) {
  owes_verifying_ = false;
  verifying_ = true;
  provisioner_.verify(configured_, blocks_at_a_time, now, [this](std::size_t wrong, Instant at) {
    verifying_ = false;
    if (wrong != 0) {
      // Late writes of this program, or another master's, of which neither has heard.
      provisioner_.others_may_write();
      if (is_at_rest() && !waiting_ && rewrites_.empty()) return run_again(at);
      if (rewrites_.empty()) rewrites_.emplace_back();
    }
    next(at);
  });
}

void SubnetManager::rewrite_tables(Instant now, Written done) {
  rewrites_.push_back(std::move(done));
  // The tables are made anew, with what this one is about.
  if (rewriting_) provisioner_.overtake(now);
  next(now);
}

/// A fabric that has changed comes first: its tables keep off the same links.
void SubnetManager::next(Instant now) {
  if (!is_at_rest()) return;
  if (waiting_) {
    configure(std::exchange(waiting_, nullptr), now);
    return;
  }
  if (owes_verifying_ && is_master() && configured_) return verify_some(now);
  if (rewrites_.empty()) {
    if (!administration_ || !administration_->groups_changed() || !is_master() || !configured_) return;
    if (regroup_at_) return;
    regrouping_ = true;
    say_who_joined(*configured_);
    provisioner_.regroup(configured_, now, [this](const ProvisionReport& report) { regrouped(report); });
    return;
  }
  rewriting_ = true;
  if (is_master() && configured_) {
    say_who_joined(*configured_);
    provisioner_.rewrite(configured_, now, [this](const ProvisionReport& report) { rewritten(report); });
    return;
  }
  const Written done = std::move(rewrites_.front());
  rewrites_.pop_front();
  if (done) done(fail(ErrorCode::Refused, "this daemon is not the subnet manager of the fabric"), now);
  rewriting_ = false;
  next(now);
}

/// LIDs that stand by an earlier order come first.
void SubnetManager::ask(Instant now) {
  ask_at_.reset();
  if (tables_again_.at() || !rewrites_.empty() || waiting_ || !provisioner_.staying().empty()) {
    ask_at_ = now + routing::between_orders;
    return;
  }
  const auto others = is_master() && configured_ && others_ ? others_() : OtherRoutes::None;
  if (others == OtherRoutes::Later) ask_at_ = now + routing::between_orders;
  if (others != OtherRoutes::Now) return;
  run_again(now);
}

void SubnetManager::regrouped(const ProvisionReport& report) {
  regrouping_ = false;
  regroup_at_ = report.ended + between_regroups;
  if (!report.failure) {
    configured_ = report.survey;
    if (!report.tables_confirmed) tables_again_.failed(report.ended);
  }
  next(report.ended);
}

void SubnetManager::rewritten(const ProvisionReport& report) {
  rewriting_ = false;
  ask_at_ = report.ended + routing::between_orders;
  if (!report.failure) serve(report);
  if (report.postponed && !report.failure) {
    next(report.ended);  // it was overtaken, and has its turn again
    return;
  }
  const Written done = std::move(rewrites_.front());
  rewrites_.pop_front();
  if (!done) {
    if (!report.failure && !report.tables_confirmed) tables_again_.failed(report.ended);
    if (report.tables_confirmed) tables_again_.begin_anew();
  } else if (report.failure) {
    done(fail(*report.failure), report.ended);
  } else if (!report.tables_confirmed) {
    done(fail(ErrorCode::Unreachable,
              report.troubles.empty()
                  ? "a switch that has been silent did not confirm its table, or a link fell meanwhile"
                  : report.troubles.front().text),
         report.ended);
  } else {
    done({}, report.ended);
  }
  next(report.ended);
}

std::optional<mad::Notice> SubnetManager::on_unsolicited(const mad::Packet& packet, Instant now) {
  const mad::Header header = mad::read_header(packet.mad);
  if (administration_ && administration_->take(packet, now)) {
    next(now);
    return std::nullopt;
  }
  if (!mad::is_smp(header)) return std::nullopt;
  const auto attribute = static_cast<mad::SmAttr>(header.attribute);
  if (header.method == mad::Method::Trap && attribute == mad::SmAttr::Notice) {
    if (is_master()) repress(packet, header);
    const auto notice = mad::decode<mad::Notice>(mad::smp_data(packet.mad));
    if (administration_) administration_->tell(notice, now);
    return notice;
  }
  const bool asks = header.method == mad::Method::Get || header.method == mad::Method::Set;
  if (asks && attribute == mad::SmAttr::SmInfo) answer_sm_info(packet, header);
  return std::nullopt;
}

void SubnetManager::on_unmatched(const mad::Packet& packet, Instant now) {
  if (!is_master() || !provisioner_.doubt(packet)) return;
  if (doubts_.are_too_many(now)) {
    if (!tables_again_.at()) tables_again_.failed(now);
    return;
  }
  if (rewrites_.empty()) rewrites_.emplace_back();
  if (rewriting_) provisioner_.overtake(now);
  next(now);
}

void SubnetManager::answer_sm_info(const mad::Packet& packet, const mad::Header& header) {
  if (state_ == mad::SmInfo::State::NotActive) return;
  const bool elected = provisioner_.standing() == Standing::Master;
  if (!elected) provisioner_.told_of_candidate();
  mad::Packet answer = packet;
  answer.address.dlid = packet.address.slid;
  answer.address.slid = packet.address.dlid;
  mad::Header reply = header;
  reply.method = mad::Method::GetResp;
  // Handing over and standing by are asked by Set; there is nobody here who could take turns.
  if (header.method == mad::Method::Set) reply.status = mad::status::bad_method_attribute;
  if (header.mgmt_class == mad::MgmtClass::SubnDirected) {
    mad::DirectedRoute route = mad::read_directed_route(packet.mad);
    route.returning = true;
    mad::write_directed_route(route, answer.mad);
  }
  mad::write_header(reply, answer.mad);
  mad::SmInfo info;
  info.guid = transport_.local().guid;
  info.sm_key = options_.sm_key;
  info.activity = activity_;
  info.priority = options_.priority;
  info.state = elected ? mad::SmInfo::State::Master : mad::SmInfo::State::Discovering;
  mad::encode(info, mad::smp_data(answer.mad));
  // Lost or refused: whoever asked will ask again.
  (void)engine_.send_only(answer);
}

void SubnetManager::repress(const mad::Packet& packet, const mad::Header& header) {
  mad::Packet answer = packet;
  answer.address.dlid = packet.address.slid;
  answer.address.slid = packet.address.dlid;
  mad::Header reply = header;
  reply.method = mad::Method::TrapRepress;
  mad::write_header(reply, answer.mad);
  // The trap is repeated until this arrives.
  (void)engine_.send_only(answer);
}

}  // namespace heddle::provision
