#include "authority/own/provisioner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/own/provisioner_steps.h"
#include "authority/own/survey_change.h"
#include "transport/requests.h"

namespace heddle::provision {
namespace {

using transport::Completion;
using transport::Outcome;

/// No switch starts and trains its links in less.
constexpr FabricClock::duration least_restart = std::chrono::milliseconds{100};

/// Of its first switch on, by the cables of the survey; no_node where these end.
NodeIndex end_of(const Survey& survey, const mad::DirectedRoute& route) {
  NodeIndex at = survey.local;
  for (std::size_t hop = 1; at != no_node && hop <= route.hop_count; ++hop) {
    const PortNum out = route.initial_path[hop];
    if (out.raw() > survey.fabric->node(at).port_count) return no_node;
    const auto peer = survey.fabric->peer({at, out});
    at = peer ? peer->node : no_node;
  }
  return at;
}

}  // namespace

Provisioner::Provisioner(transport::TransactionEngine& engine, transport::Transport& transport,
                         const ProvisionOptions& options, Router router, Done done)
    : transport_{transport},
      options_{options},
      router_{std::move(router)},
      done_{std::move(done)},
      batch_{engine, [this](std::uint64_t tag) { return way_of(tag); }},
      writer_{engine, options.ports.m_key},
      multicast_{engine, options.ports.m_key} {}

void Provisioner::run(std::shared_ptr<const Survey> survey, Instant now) {
  forget_inactive(*survey);
  if (last_) survey = with_unheard_ports(*last_, std::move(survey));
  begin_run(std::make_shared<Survey>(*survey), now);
}

void Provisioner::run_again(const std::shared_ptr<const Survey>& survey, Instant now) {
  begin_run(without_inactive(*survey), now);
}

void Provisioner::begin_run(std::shared_ptr<Survey> survey, Instant now) {
  busy_ = true;
  report_ = {};
  report_.begun = now;
  survey_ = std::move(survey);
  failed_.assign(survey_->fabric->ports().size(), 0);
  routes_.reset();
  must_look_ = std::exchange(others_may_write_, false) || standing_ == Standing::Candidate;
  looks_ = 0;
  ask_other_sms(now);
}

void Provisioner::rewrite(const std::shared_ptr<const Survey>& survey, Instant now, Done done) {
  busy_ = true;
  rewritten_ = std::move(done);
  report_ = {};
  report_.begun = now;
  survey_ = without_inactive(*survey);
  failed_.assign(survey_->fabric->ports().size(), 0);
  routes_.reset();
  route(now);
}

/// One that is no news.
std::shared_ptr<Survey> Provisioner::without_inactive(const Survey& survey) const {
  auto result = std::make_shared<Survey>(survey);
  for (const PortRef& port : inactive_) {
    // Its node may have said since that it has fewer ports, or more.
    if (result->fabric->find_port(port) == no_port) continue;
    const NodeIndex node = result->fabric->find_node(port.node);
    result->nodes[node.raw()].ports[port.port.raw()].info.state = PortState::Down;
  }
  return result;
}

/// What the survey says counts, and of a port that it has not nothing better is known. A partial sweep has
/// not asked every port that it says something of: one that is Active by the survey has to have said so
/// since.
void Provisioner::forget_inactive(const Survey& survey) {
  std::erase_if(inactive_, [&](const PortRef& port) {
    if (survey.fabric->find_port(port) == no_port) return false;
    const NodeIndex node = survey.fabric->find_node(port.node);
    const SurveyPort& said = survey.nodes[node.raw()].ports[port.port.raw()];
    return said.known && (said.info.state != PortState::Active || active_again_.contains(port));
  });
  // A node that calls itself another one each time leaves ports behind that no survey has.
  constexpr std::size_t most = 16'384;
  if (inactive_.size() > most)
    std::erase_if(inactive_, [&](const PortRef& port) { return survey.fabric->find_port(port) == no_port; });
  std::erase_if(active_again_, [this](const PortRef& port) { return !inactive_.contains(port); });
  writer_.keep_off_only(inactive_);
}

void Provisioner::keep_off(const PortRef& port) {
  inactive_.insert(port);
  active_again_.erase(port);
  writer_.keep_off(port);
}

void Provisioner::found_active(const PortRef& port) {
  if (inactive_.contains(port)) active_again_.insert(port);
}

void Provisioner::use_again(const PortRef& port) {
  if (inactive_.erase(port) == 0) return;
  active_again_.erase(port);
  writer_.use_again(port);
}

void Provisioner::regroup(std::shared_ptr<const Survey> survey, Instant now, Done done) {
  busy_ = true;
  rewritten_ = std::move(done);
  report_ = {};
  report_.begun = now;
  report_.tables_confirmed = true;
  survey_ = std::make_shared<Survey>(*survey);
  failed_.assign(survey_->fabric->ports().size(), 0);
  routes_ = last_routes_;
  if (!routes_) {
    finish(now);
    return;
  }
  multicast_.write(survey_, routes_, now,
                   [this](const WriteReport& written, Instant at) { multicast_written(written, at); });
}

void Provisioner::take_routes(const Survey& from) {
  if (survey_) heddle::take_routes(from, *survey_);
}

std::optional<Batch::Way> Provisioner::way_of(std::uint64_t tag) const {
  const LinkEnd end = end_of(tag);
  auto path = survey_ ? route_to(*survey_, end) : std::nullopt;
  if (!path) return std::nullopt;
  return Batch::Way{transport::agent_of(survey_->node(end.node).guid()), *std::move(path)};
}

bool Provisioner::doubt(const mad::Packet& answer) {
  const mad::Header header = mad::read_header(answer.mad);
  const bool is_block = header.mgmt_class == mad::MgmtClass::SubnDirected &&
                        mad::SmAttr{header.attribute} == mad::SmAttr::LinearForwardingTable;
  const Survey* const survey = survey_ ? survey_.get() : last_.get();
  if (!is_block || survey == nullptr) return false;
  const mad::DirectedRoute route = mad::read_directed_route(answer.mad);
  if (route.hop_count > mad::DirectedRoute::max_hops) return false;
  const NodeIndex node = end_of(*survey, route);
  return node != no_node &&
         writer_.doubt(survey->node(node).guid(), header.modifier, mad::smp_data(answer.mad));
}

FabricClock::duration Provisioner::packet_life() const {
  std::vector<std::uint8_t> values;
  for (const SurveyNode& node : survey_->nodes) {
    if (node.switch_info) values.push_back(node.switch_info->life_time);
  }
  // Up, then down: no packet meets a switch twice.
  return routing::packet_life(values, values.size(), options_.packet_life);
}

void Provisioner::stop_with(Error error, Instant now) {
  report_.failure = std::move(error);
  finish(now);
}

void Provisioner::trouble(LinkEnd end, std::string text) {
  troubles_.add({survey_->fabric->ref(survey_->fabric->port_index(end)), std::move(text)});
}

void Provisioner::trouble(LinkEnd end, const char* what, const Completion& completion) {
  failed_[survey_->fabric->port_index(end).raw()] = 1;
  if (completion.outcome == Outcome::Stopped) {
    report_.failure = Error{ErrorCode::Unreachable, "stopped while the fabric was being configured"};
    return;
  }
  // Said once, when it fell silent.
  if (completion.outcome == Outcome::AgentSilent) return;
  std::string why(to_string(completion.outcome));
  if (completion.outcome == Outcome::Refused) why += fmt::format(" with status {:#06x}", completion.status);
  troubles_.add(survey_->fabric->ref(survey_->fabric->port_index(end)),
                name_of(survey_->node(end.node), end.port), what, std::move(why));
}

std::optional<Step> Provisioner::port_step(mad::Method method, LinkEnd end, const mad::PortInfo& info,
                                           std::uint64_t tag) const {
  const auto path = route_to(*survey_, end);
  if (!path) return std::nullopt;
  Step step{.packet = transport::directed_smp({.method = method,
                                               .attribute = mad::SmAttr::PortInfo,
                                               .modifier = modifier_for(*survey_, end),
                                               .m_key = options_.ports.m_key},
                                              *path),
            .agent = transport::agent_of(survey_->node(end.node).guid()),
            .tag = tag};
  mad::encode(info, mad::smp_data(step.packet.mad));
  return step;
}

void Provisioner::plan(Instant now) {
  const LinkEnd own = survey_->own_port();
  const SurveyNode& local = survey_->node(own.node);
  const PortNum port = own.port;
  if (auto claimed = transport_.claim_sm(transport::SmClaim::Hold); !claimed) {
    stop_with({ErrorCode::Refused, claimed.error().message}, now);
    return;
  }
  auto lids = plan_lids(*survey_, options_.ports.lmc, remembered_);
  if (!lids) {
    stop_with(lids.error(), now);
    return;
  }
  lids_ = *std::move(lids);
  for (const std::string& moved : lids_.moved) troubles_.add({{}, moved});
  remember(lids_, remembered_);
  if (lids_given_) lids_given_(remembered_);
  const auto found = lids_.lids.find({local.guid(), port});
  if (found == lids_.lids.end()) {
    stop_with({ErrorCode::Unreachable, fmt::format("{} has no cable", name_of(local, port))}, now);
    return;
  }
  sm_lid_ = found->second;
  now - survey_->begun < least_restart ? set_ports(now) : look_for_restarts(now);
}

bool Provisioner::has_lids_and_states(const Fabric& fabric) const {
  std::size_t with_lid = 0;
  for (const auto& [ref, lid] : lids_.lids) {
    const PortIndex index = fabric.find_port(ref);
    if (index == no_port) continue;
    const Port& port = fabric.port(index);
    if (port.lid != lid || port.lmc != (port.num == PortNum{0} ? 0 : options_.ports.lmc)) return false;
    ++with_lid;
  }
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const std::vector<SurveyPort>& known = survey_->nodes[i].ports;
    const std::uint32_t first = fabric.nodes()[i].first_port.raw();
    for (std::uint32_t p = 0; p < known.size(); ++p) {
      const Port& port = fabric.port(PortIndex{first + p});
      if (known[p].known && (port.state != known[p].info.state || port.physical != known[p].info.physical)) {
        return false;
      }
    }
  }
  return with_lid == lids_.lids.size();
}

std::shared_ptr<const Fabric> Provisioner::fabric_with_lids() const {
  const Fabric& old = *survey_->fabric;
  if (has_lids_and_states(old)) return survey_->fabric;
  return rebuild(old, old.epoch() + 1, [&](LinkEnd end, Port& port) {
    const SurveyPort& known = survey_->port(end);
    if (known.known) {
      port.state = known.info.state;
      port.physical = known.info.physical;
    }
    if (const auto lid = lids_.lids.find({survey_->node(end.node).guid(), end.port});
        lid != lids_.lids.end()) {
      port.lid = lid->second;
      port.lmc = end.port == PortNum{0} ? std::uint8_t{0} : options_.ports.lmc;
    }
  });
}

void Provisioner::route(Instant now) {
  auto routes = router_(*fabric_with_lids());
  if (!routes) {
    stop_with(routes.error(), now);
    return;
  }
  routes_ = std::make_shared<const Routes>(*std::move(routes));
  last_routes_ = routes_;
  writer_.set_packet_life(packet_life());
  if (!rewritten_ && allow_turns_)
    writer_.ask([this](const std::vector<routing::KeptTurn>& turns) { return routes_with(turns); });
  writer_.write(survey_, routes_, rewritten_ ? Waits::Out : Waits::Leave, now,
                [this](const WriteReport& report, Instant at) { unicast_written(report, at); });
}

/// Those that the writer has, if nothing else comes of it.
std::shared_ptr<const Routes> Provisioner::routes_with(const std::vector<routing::KeptTurn>& turns) {
  if (!allow_turns_(turns)) return routes_;
  if (auto routes = router_(*fabric_with_lids())) {
    routes_ = std::make_shared<const Routes>(*std::move(routes));
    last_routes_ = routes_;
  }
  return routes_;
}

void Provisioner::unicast_written(const WriteReport& report, Instant now) {
  report_.tables_confirmed = true;
  report_.postponed = report.postponed;
  take(report);
  if (report.stopped) {
    stop_with({ErrorCode::Unreachable, "stopped while forwarding tables were being written"}, now);
    return;
  }
  multicast_.write(survey_, routes_, now,
                   [this](const WriteReport& written, Instant at) { multicast_written(written, at); });
}

void Provisioner::multicast_written(const WriteReport& report, Instant now) {
  take(report);
  report_.multicast_groups = multicast_.groups();
  if (report.stopped) {
    stop_with({ErrorCode::Unreachable, "stopped while multicast tables were being written"}, now);
  } else if (rewritten_ && !has_low_multicast_top()) {
    finish(now);
  } else {
    set_tops(now);
  }
}

void Provisioner::take(const WriteReport& report) {
  report_.blocks_read += report.blocks_read;
  report_.blocks_written += report.blocks_written;
  report_.tables_confirmed = report_.tables_confirmed && report.confirmed();
  for (const WriteReport::Failure& failure : report.failures) {
    Completion completion;
    completion.outcome = failure.outcome;
    completion.status = failure.status;
    const LinkEnd end{failure.node, PortNum{0}};
    if (failure.outcome == Outcome::Answered) {
      trouble(end, fmt::format("{} {}", name_of(survey_->node(failure.node)), failure.what));
    } else {
      trouble(end, failure.what, completion);
    }
  }
}

/// MulticastFDBTop as it is to be: 0, of which nothing is said, forwards all there is (IBA 14.2.5.4).
std::uint16_t Provisioner::multicast_top(const mad::SwitchInfo& info) const {
  const std::uint16_t has = info.multicast_fdb_top;
  return has == 0 ? has : std::max(has, multicast_.top().raw());
}

bool Provisioner::has_low_multicast_top() const {
  return std::any_of(survey_->nodes.begin(), survey_->nodes.end(), [this](const SurveyNode& node) {
    return node.switch_info && multicast_top(*node.switch_info) != node.switch_info->multicast_fdb_top;
  });
}

void Provisioner::finish(Instant now) {
  busy_ = false;
  if (!rewritten_ && standing_ == Standing::Master) name_unasked_sms();
  if (!lids_.lids.empty() && !report_.failure) survey_->fabric = fabric_with_lids();
  report_.survey = std::exchange(survey_, nullptr);
  if (!report_.failure) last_ = report_.survey;
  if (routes_) report_.tables = {routes_, &routes_->tables};
  report_.routes = routes_;
  report_.ended = now;
  report_.troubles = troubles_.take();
  const ProvisionReport report = std::exchange(report_, {});
  if (const Done rewritten = std::exchange(rewritten_, nullptr)) {
    rewritten(report);
  } else {
    done_(report);
  }
}

}  // namespace heddle::provision
