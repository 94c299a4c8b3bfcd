#include "authority/own/provisioner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/own/survey_change.h"
#include "transport/requests.h"

namespace heddle::provision {
namespace {

using transport::Completion;
using transport::Outcome;

std::uint64_t tag_of(LinkEnd end) { return (std::uint64_t{end.node.raw()} << 8U) | end.port.raw(); }
LinkEnd end_of(std::uint64_t tag) {
  return {NodeIndex{static_cast<std::uint32_t>(tag >> 8U)}, PortNum{static_cast<std::uint8_t>(tag)}};
}

/// PortInfo.CapabilityMask: the port tells its clients to register anew (IBA 14.2.5.6).
constexpr std::uint32_t client_reregistration = 1U << 25U;

/// AttributeModifier of Set(SMInfo): a master gives the fabric to one that stands by (IBA 14.4.1.2).
constexpr std::uint32_t handover = 1;

/// A source of steps from a list, one after the other; those that have no step are left out.
template <class Item, class Make>
Batch::Source from_list(std::vector<Item> items, Make make) {
  return [items = std::move(items), make = std::move(make), next = std::size_t{0}]() mutable {
    std::optional<Step> step;
    while (!step && next < items.size()) step = make(items[next++]);
    return step;
  };
}

/// One port of each node after the other, so that many agents work at the same time.
void spread(std::vector<LinkEnd>& ends) {
  std::stable_sort(ends.begin(), ends.end(), [](LinkEnd a, LinkEnd b) { return a.port < b.port; });
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
  busy_ = true;
  inactive_.clear();
  writer_.keep_off_nothing();
  report_ = {};
  report_.begun = now;
  if (last_) survey = with_unheard_ports(*last_, std::move(survey));
  survey_ = std::make_shared<Survey>(*survey);
  failed_.assign(survey_->fabric->ports().size(), 0);
  routes_.reset();
  ask_other_sms(now);
}

void Provisioner::rewrite(std::shared_ptr<const Survey> survey, Instant now, Done done) {
  busy_ = true;
  rewritten_ = std::move(done);
  report_ = {};
  report_.begun = now;
  survey_ = std::make_shared<Survey>(*survey);
  for (const PortRef& port : inactive_) {
    const NodeIndex node = survey_->fabric->find_node(port.node);
    if (node == no_node) continue;
    survey_->nodes[node.raw()].ports[port.port.raw()].info.state = PortState::Down;
  }
  failed_.assign(survey_->fabric->ports().size(), 0);
  routes_.reset();
  route(now);
}

void Provisioner::keep_off(const PortRef& port) {
  inactive_.insert(port);
  writer_.keep_off(port);
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
  if (survey_) provision::take_routes(from, *survey_);
}

std::optional<Batch::Way> Provisioner::way_of(std::uint64_t tag) const {
  const LinkEnd end = end_of(tag);
  auto path = survey_ ? route_to(*survey_, end) : std::nullopt;
  if (!path) return std::nullopt;
  return Batch::Way{transport::agent_of(survey_->node(end.node).guid()), *std::move(path)};
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

void Provisioner::ask_other_sms(Instant now) {
  std::vector<LinkEnd> claimants;
  const LinkEnd own{survey_->local, survey_->node(survey_->local).info.local_port};
  silent_sms_.clear();
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    for (std::size_t p = node.is_switch() ? 0 : 1; p < (node.is_switch() ? 1 : node.ports.size()); ++p) {
      const LinkEnd end{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
      const bool ours = end.node == own.node && is_sm_;
      if ((node.ports[p].info.capability_mask & mad::port_cap::is_sm) != 0 && !ours) claimants.push_back(end);
    }
  }
  batch_.start(
      from_list(std::move(claimants),
                [this](LinkEnd end) -> std::optional<Step> {
                  const auto path = route_to(*survey_, end);
                  if (!path) return std::nullopt;
                  return Step{.packet = transport::directed_smp({.attribute = mad::SmAttr::SmInfo}, *path),
                              .agent = transport::agent_of(survey_->node(end.node).guid()),
                              .tag = tag_of(end)};
                }),
      [this](std::uint64_t tag, const Completion& completion) {
        const LinkEnd end = end_of(tag);
        if (completion.outcome != Outcome::Answered) {
          silent_sms_.push_back(name_of(survey_->node(end.node), end.port));
          trouble(end, fmt::format("{} says that a subnet manager is there, which does not answer",
                                   silent_sms_.back()));
          return;
        }
        report_.other_sms.push_back({{survey_->node(end.node).guid(), end.port},
                                     mad::decode<mad::SmInfo>(mad::smp_data(completion.answer->mad))});
      },
      [this](Instant at) { elect(at); }, now);
}

LinkEnd Provisioner::own_port() const {
  const SurveyNode& local = survey_->node(survey_->local);
  return {survey_->local, local.is_switch() ? PortNum{0} : local.info.local_port};
}

void Provisioner::elect(Instant now) {
  Election election{.standing = is_sm_ ? Standing::Master : Standing::Candidate,
                    .own = survey_->port(own_port()).guid,
                    .priority = options_.priority,
                    .others = report_.other_sms,
                    .silent = std::exchange(pass_over_silent_, false) ? std::vector<std::string>{}
                                                                      : std::exchange(silent_sms_, {})};
  report_.successors = successors(election);
  if (auto allowed = may_be_master(election); !allowed) {
    yield(allowed.error(), now);
  } else if (const auto other = heir(election)) {
    hand_over(*other, now);
  } else {
    plan(now);
  }
}

void Provisioner::yield(Error why, Instant now) {
  if (is_sm_) (void)transport_.claim_sm(transport::SmClaim::Release);
  is_sm_ = registered_anew_ = false;
  stop_with(std::move(why), now);
}

/// This one is master until the other has confirmed: the fabric has one at every time.
void Provisioner::hand_over(const OtherSm& other, Instant now) {
  const Port& port = survey_->fabric->port(survey_->fabric->find_port(other.where));
  const LinkEnd end{port.node, port.num};
  mad::SmInfo own;
  own.guid = survey_->port(own_port()).guid;
  own.sm_key = options_.sm_key;
  own.priority = options_.priority;
  own.state = mad::SmInfo::State::Master;
  const auto ask = [this, own](LinkEnd at) -> std::optional<Step> {
    const auto path = route_to(*survey_, at);
    if (!path) return std::nullopt;
    Step step{.packet = transport::directed_smp({.method = mad::Method::Set,
                                                 .attribute = mad::SmAttr::SmInfo,
                                                 .modifier = handover,
                                                 .m_key = options_.ports.m_key},
                                                *path),
              .agent = transport::agent_of(survey_->node(at.node).guid()),
              .tag = tag_of(at)};
    mad::encode(own, mad::smp_data(step.packet.mad));
    return step;
  };
  handed_over_ = false;
  batch_.start(
      from_list(std::vector<LinkEnd>{end}, ask),
      [this](std::uint64_t tag, const Completion& completion) {
        handed_over_ = completion.outcome == Outcome::Answered;
        if (!handed_over_)
          trouble(end_of(tag), "it stands by with a higher priority and does not take the fabric",
                  completion);
      },
      [this, other](Instant at) {
        if (report_.failure) return finish(at);
        if (!handed_over_) return plan(at);
        yield({ErrorCode::Refused,
               fmt::format("handed over to the subnet manager at {} (GUID {}, priority {}): stop it, or let "
                           "Heddle run beside it",
                           to_string(other.where), to_string(other.info.guid), other.info.priority)},
              at);
      },
      now);
}

void Provisioner::plan(Instant now) {
  const LinkEnd own = own_port();
  const SurveyNode& local = survey_->node(own.node);
  const PortNum port = own.port;
  if (auto claimed = transport_.claim_sm(transport::SmClaim::Hold); !claimed) {
    stop_with({ErrorCode::Refused, claimed.error().message}, now);
    return;
  }
  is_sm_ = true;
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
  set_ports(now);
}

std::vector<LinkEnd> Provisioner::cabled_and_management_ports() const {
  std::vector<LinkEnd> ends;
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      const LinkEnd end{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
      const bool management = p == 0 && node.is_switch();
      const bool cabled = survey_->fabric->port(end).link != no_link;
      if (node.ports[p].known && (management || cabled)) ends.push_back(end);
    }
  }
  return ends;
}

void Provisioner::set_each(
    std::vector<LinkEnd> ends, std::function<mad::PortInfo(LinkEnd)> what,
    std::function<bool(LinkEnd, const mad::PortInfo& asked, const mad::PortInfo& got)> confirm,
    Batch::Done next, Instant now) {
  spread(ends);
  batch_.start(
      from_list(
          std::move(ends),
          [this, what](LinkEnd end) { return port_step(mad::Method::Set, end, what(end), tag_of(end)); }),
      [this, confirm = std::move(confirm)](std::uint64_t tag, const Completion& completion) {
        const LinkEnd end = end_of(tag);
        if (completion.outcome != Outcome::Answered) {
          trouble(end, "its settings were not taken", completion);
          return;
        }
        const auto asked = mad::decode<mad::PortInfo>(mad::smp_data(completion.request->mad));
        const auto got = mad::decode<mad::PortInfo>(mad::smp_data(completion.answer->mad));
        survey_->nodes[end.node.raw()].ports[end.port.raw()].info = got;
        if (!confirm(end, asked, got)) failed_[survey_->fabric->port_index(end).raw()] = 1;
      },
      std::move(next), now);
}

/// What joined or subscribed at an earlier subnet administrator is known to nobody here.
bool Provisioner::must_register_anew(LinkEnd end) const {
  const SurveyPort& port = survey_->port(end);
  return options_.administrator && !registered_anew_ && !survey_->node(end.node).is_switch() &&
         (port.info.capability_mask & client_reregistration) != 0;
}

void Provisioner::set_ports(Instant now) {
  const auto wanted = [this](LinkEnd end) {
    mad::PortInfo info = settings(*survey_, end, lids_.lids, sm_lid_, options_.ports);
    info.client_reregister = must_register_anew(end) ? 1 : 0;
    return info;
  };
  std::vector<LinkEnd> ends = cabled_and_management_ports();
  std::erase_if(ends, [&](LinkEnd end) {
    return !must_register_anew(end) && fulfilled(survey_->port(end).info, wanted(end), end, *survey_);
  });
  // A switch that lost its LID was restarted: its table is gone too.
  for (const LinkEnd& end : ends) {
    const SurveyPort& port = survey_->port(end);
    if (end.port != PortNum{0} || port.info.lid != no_lid) continue;
    writer_.forget(survey_->node(end.node).guid());
    multicast_.forget(survey_->node(end.node).guid());
  }
  set_each(
      std::move(ends), wanted,
      [this](LinkEnd end, const mad::PortInfo& asked, const mad::PortInfo& got) {
        if (!accepted(got, asked, end, *survey_)) {
          trouble(end, fmt::format("{} answers LID {} and SM LID {} after being set to {} and {}",
                                   name_of(survey_->node(end.node), end.port), got.lid.raw(),
                                   got.master_sm_lid.raw(), asked.lid.raw(), asked.master_sm_lid.raw()));
          return false;
        }
        ++report_.ports_set;
        return true;
      },
      [this](Instant at) {
        registered_anew_ = true;
        look_at_far_ends(at);
      },
      now);
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

/// Last, so that no entry counts before it is written.
void Provisioner::set_tops(Instant now) {
  const Lid top = routes_->tables.top();
  std::vector<NodeIndex> nodes;
  for (const NodeGuid guid : routes_->tables.switches()) {
    const NodeIndex index = survey_->fabric->find_node(guid);
    if (index == no_node || !survey_->node(index).switch_info) continue;
    const SurveyNode& node = survey_->node(index);
    if (top.raw() >= node.switch_info->linear_fdb_cap) {
      trouble({index, PortNum{0}}, fmt::format("{} has room for {} LIDs, and {} are needed", name_of(node),
                                               node.switch_info->linear_fdb_cap, top.raw() + 1));
    } else if (node.switch_info->linear_fdb_top != top.raw() ||
               node.switch_info->multicast_fdb_top != multicast_top(*node.switch_info)) {
      nodes.push_back(index);
    }
  }
  batch_.start(
      from_list(std::move(nodes),
                [this, top](NodeIndex index) -> std::optional<Step> {
                  const SurveyNode& node = survey_->node(index);
                  Step step{.packet = transport::directed_smp({.method = mad::Method::Set,
                                                               .attribute = mad::SmAttr::SwitchInfo,
                                                               .m_key = options_.ports.m_key},
                                                              node.path),
                            .agent = transport::agent_of(node.guid()),
                            .tag = tag_of({index, PortNum{0}})};
                  mad::SwitchInfo info = *node.switch_info;
                  info.linear_fdb_top = top.raw();
                  info.multicast_fdb_top = multicast_top(info);
                  info.port_state_change = false;  // 0 leaves the bit as it is
                  mad::encode(info, mad::smp_data(step.packet.mad));
                  return step;
                }),
      [this, top](std::uint64_t tag, const Completion& completion) {
        const LinkEnd end = end_of(tag);
        if (completion.outcome != Outcome::Answered) {
          trouble(end, "the top of its forwarding table was not taken", completion);
          return;
        }
        const auto got = mad::decode<mad::SwitchInfo>(mad::smp_data(completion.answer->mad));
        survey_->nodes[end.node.raw()].switch_info->linear_fdb_top = got.linear_fdb_top;
        survey_->nodes[end.node.raw()].switch_info->multicast_fdb_top = got.multicast_fdb_top;
        if (got.linear_fdb_top != top.raw()) {
          trouble(end, fmt::format("{} answers {} as the top of its forwarding table after being set to {}",
                                   name_of(survey_->node(end.node)), got.linear_fdb_top, top.raw()));
        }
      },
      [this](Instant at) { finish(at); }, now);
}

/// A link trains at both ends. One that was Active when it was read has not been read since the other was: it
/// bounced in between, and takes no packets until it is raised as well.
/// And where nobody is known behind an Active port of a switch, that may have gone down since it was read:
/// who was there is mute only if it has not.
void Provisioner::look_at_far_ends(Instant now) {
  std::vector<LinkEnd> ends;
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const std::vector<SurveyPort>& ports = survey_->nodes[i].ports;
    for (std::size_t p = 1; p < ports.size(); ++p) {
      if (!ports[p].known) continue;
      const LinkEnd end{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
      const auto peer = survey_->fabric->peer(end);
      if (!peer && ports[p].info.state == PortState::Active && survey_->nodes[i].is_switch())
        ends.push_back(end);
      if (ports[p].info.state != PortState::Init) continue;
      if (peer && survey_->port(*peer).known && survey_->port(*peer).info.state == PortState::Active)
        ends.push_back(*peer);
    }
  }
  batch_.start(
      from_list(std::move(ends),
                [this](LinkEnd end) { return port_step(mad::Method::Get, end, {}, tag_of(end)); }),
      [this](std::uint64_t tag, const Completion& completion) {
        const LinkEnd end = end_of(tag);
        if (completion.outcome == Outcome::Answered) {
          survey_->nodes[end.node.raw()].ports[end.port.raw()].info =
              mad::decode<mad::PortInfo>(mad::smp_data(completion.answer->mad));
        } else {
          trouble(end, "its state could not be read", completion);
        }
      },
      [this](Instant at) { raise(PortState::Init, PortState::Armed, at); }, now);
}

void Provisioner::raise(PortState from, PortState to, Instant now) {
  std::vector<LinkEnd> ends;
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const std::vector<SurveyPort>& ports = survey_->nodes[i].ports;
    for (std::size_t p = 1; p < ports.size(); ++p) {
      if (!ports[p].known || ports[p].info.state != from) continue;
      const LinkEnd end{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
      const auto peer = survey_->fabric->peer(end);
      if (peer && !failed(end) && !failed(*peer)) ends.push_back(end);
    }
  }
  const bool last = to == PortState::Active;
  set_each(
      std::move(ends),
      [this, to](LinkEnd end) {
        mad::PortInfo info = unchanged(survey_->port(end).info);
        info.state = to;
        return info;
      },
      [this, last](LinkEnd end, const mad::PortInfo& asked, const mad::PortInfo& got) {
        // Armed becomes Active by itself when data comes in.
        if (got.state < asked.state) {
          trouble(end,
                  fmt::format("{} stays {} after being set to {}", name_of(survey_->node(end.node), end.port),
                              to_string(got.state), to_string(asked.state)));
          return false;
        }
        if (last) ++report_.links_raised;
        return true;
      },
      [this, last](Instant at) {
        if (last) {
          route(at);
        } else {
          raise(PortState::Armed, PortState::Active, at);
        }
      },
      now);
}

void Provisioner::finish(Instant now) {
  busy_ = false;
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
