// What ports and switches are told: LIDs, states, tops of their tables.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/own/provisioner.h"
#include "authority/own/provisioner_steps.h"
#include "authority/own/survey_change.h"
#include "transport/requests.h"

namespace heddle::provision {
namespace {

using transport::Completion;
using transport::Outcome;

/// PortInfo.CapabilityMask: the port tells its clients to register anew (IBA 14.2.5.6).
constexpr std::uint32_t client_reregistration = 1U << 25U;

/// One port of each node after the other, so that many agents work at the same time.
void spread(std::vector<LinkEnd>& ends) {
  std::stable_sort(ends.begin(), ends.end(), [](LinkEnd a, LinkEnd b) { return a.port < b.port; });
}

}  // namespace

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
    Batch::Done next, Instant now, std::vector<LinkEnd>* refused) {
  spread(ends);
  batch_.start(
      from_list(
          std::move(ends),
          [this, what](LinkEnd end) { return port_step(mad::Method::Set, end, what(end), tag_of(end)); }),
      [this, confirm = std::move(confirm), refused](std::uint64_t tag, const Completion& completion) {
        const LinkEnd end = end_of(tag);
        if (completion.outcome == Outcome::Refused && refused != nullptr) {
          refused->push_back(end);
          return;
        }
        if (completion.outcome != Outcome::Answered) {
          report_.ports_unanswered = report_.ports_unanswered || completion.outcome != Outcome::Refused;
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

/// A sweep that waited for somebody silent has read some of the switches long before it ends: one may have
/// been restarted since, has no LID, no table, and ports that are Active in the survey only.
void Provisioner::look_for_restarts(Instant now) {
  std::vector<NodeIndex> nodes;
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const auto& info = survey_->nodes[i].switch_info;
    if (info && info->linear_fdb_top != 0) nodes.emplace_back(i);
  }
  auto restarted = std::make_shared<std::vector<NodeIndex>>();
  batch_.start(
      from_list(std::move(nodes),
                [this](NodeIndex index) -> std::optional<Step> {
                  const SurveyNode& node = survey_->node(index);
                  return Step{
                      .packet = transport::directed_smp(
                          {.attribute = mad::SmAttr::SwitchInfo, .m_key = options_.ports.m_key}, node.path),
                      .agent = transport::agent_of(node.guid()),
                      .tag = tag_of({index, PortNum{0}})};
                }),
      [this, restarted](std::uint64_t tag, const Completion& completion) {
        if (completion.outcome != Outcome::Answered) return;
        const auto got = mad::decode<mad::SwitchInfo>(mad::smp_data(completion.answer->mad));
        if (got.linear_fdb_top != 0) return;
        const NodeIndex node = end_of(tag).node;
        survey_->nodes[node.raw()].switch_info->linear_fdb_top = 0;
        restarted->push_back(node);
      },
      [this, restarted](Instant at) {
        read_ports(
            around(*restarted), [this](Instant later) { set_ports(later); }, at);
      },
      now);
}

/// Their ports, and those that are cabled to them.
std::vector<LinkEnd> Provisioner::around(const std::vector<NodeIndex>& nodes) const {
  std::vector<LinkEnd> ends;
  for (const NodeIndex node : nodes) {
    const std::vector<SurveyPort>& ports = survey_->node(node).ports;
    for (std::size_t p = 0; p < ports.size(); ++p) {
      if (!ports[p].known) continue;
      ends.push_back({node, PortNum{static_cast<std::uint8_t>(p)}});
      const auto peer = survey_->fabric->peer(ends.back());
      if (peer && survey_->port(*peer).known) ends.push_back(*peer);
    }
  }
  return ends;
}

/// Brings the survey up to date there.
void Provisioner::read_ports(std::vector<LinkEnd> ends, Batch::Done next, Instant now) {
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
  const bool was_managed = std::ranges::any_of(survey_->nodes, [](const SurveyNode& node) {
    return node.switch_info && node.switch_info->linear_fdb_top != 0;
  });
  // A switch that lost its LID was restarted: its table is gone too.
  for (const LinkEnd& end : ends) {
    const SurveyPort& port = survey_->port(end);
    if (end.port != PortNum{0} || port.info.lid != no_lid) continue;
    writer_.forget(survey_->node(end.node).guid(),
                   was_managed ? TableWriter::Others::MayHaveWritten : TableWriter::Others::WroteNothing);
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
  read_ports(
      std::move(ends), [this](Instant at) { raise(PortState::Init, PortState::Armed, at); }, now);
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
        mad::PortInfo info = unchanged(survey_->port(end).info, options_.ports.m_key);
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
        if (last) {
          ++report_.links_raised;
          // A sweep that goes on may have found it otherwise, just before.
          use_again(survey_->fabric->ref(survey_->fabric->port_index(end)));
        }
        return true;
      },
      [this, to](Instant at) {
        read_ports(
            refused_, [this, to](Instant later) { raised(to, later); }, at);
      },
      now, &refused_);
}

/// An Active port is set to no lesser state (IBA 14.2.5.6): one that refuses may have been raised since the
/// survey read it, as by the run before. What it says now counts.
void Provisioner::raised(PortState to, Instant now) {
  for (const LinkEnd end : std::exchange(refused_, {})) {
    const PortState state = survey_->port(end).info.state;
    if (state == PortState::Active) use_again(survey_->fabric->ref(survey_->fabric->port_index(end)));
    if (state >= to || failed(end)) continue;
    failed_[survey_->fabric->port_index(end).raw()] = 1;
    trouble(end, fmt::format("{} stays {} and refuses to be set to {}",
                             name_of(survey_->node(end.node), end.port), to_string(state), to_string(to)));
  }
  if (to == PortState::Active) {
    route(now);
  } else {
    raise(PortState::Armed, PortState::Active, now);
  }
}

}  // namespace heddle::provision
