#include "authority/own/sm_election.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "mad/header.h"

namespace heddle::provision {
namespace {

using State = mad::SmInfo::State;

/// IBA 14.4.1: the higher priority, then the smaller GUID.
bool precedes(const mad::SmInfo& one, std::uint8_t priority, PortGuid guid) {
  return one.priority > priority || (one.priority == priority && one.guid < guid);
}

/// Back by the ports that it came in by; entry 0 of a path is unused (IBA 14.2.2).
std::optional<LinkEnd> sender_by_route(const Survey& survey, const mad::DirectedRoute& route) {
  if (route.hop_count == 0 || route.hop_count > mad::DirectedRoute::max_hops) return std::nullopt;
  LinkEnd at = survey.own_port();
  for (std::size_t hop = route.hop_count; hop > 0; --hop) {
    const PortNum back = route.return_path[hop];
    if (back.raw() >= survey.node(at.node).ports.size()) return std::nullopt;
    const auto peer = survey.fabric->peer({at.node, back});
    if (!peer) return std::nullopt;
    at = *peer;
  }
  return at;
}

std::optional<LinkEnd> sender_of(const Survey& survey, const mad::Packet& smp, const mad::Header& header) {
  if (header.mgmt_class == mad::MgmtClass::SubnDirected) {
    return sender_by_route(survey, mad::read_directed_route(smp.mad));
  }
  const PortIndex index = survey.fabric->find_port(smp.address.slid);
  if (index == no_port) return std::nullopt;
  const Port& port = survey.fabric->port(index);
  return LinkEnd{port.node, port.num};
}

}  // namespace

Result<void> may_be_master(const Election& election) {
  const bool candidate = election.standing == Standing::Candidate;
  for (const OtherSm& other : election.others) {
    const mad::SmInfo& info = other.info;
    const bool wins = info.state == State::Master || (candidate && info.state != State::NotActive);
    if (!wins) continue;
    return fail(
        ErrorCode::Refused,
        fmt::format("the subnet manager at {} (GUID {}, priority {}) is {}: stop it, or let Heddle "
                    "run beside it",
                    to_string(other.where), to_string(info.guid), info.priority, to_string(info.state)));
  }
  if (candidate && !election.silent.empty()) {
    return fail(ErrorCode::Refused,
                fmt::format("{} says that a subnet manager is there, which does not answer: this daemon does "
                            "not take its fabric. End it there; if it is gone for good, use "
                            "'heddle sm take --force'",
                            joined(election.silent, ", ")));
  }
  return {};
}

bool is_undecided(const Election& election) {
  return election.standing == Standing::Candidate && election.silent.empty() &&
         std::ranges::all_of(election.others, [](const OtherSm& other) {
           return other.info.state == State::Discovering || other.info.state == State::NotActive;
         });
}

std::optional<OtherSm> heir(const Election& election) {
  if (election.standing != Standing::Master) return std::nullopt;
  std::optional<OtherSm> first;
  for (const OtherSm& other : election.others) {
    if (other.info.state != State::Standby) continue;
    const bool before_all = first ? precedes(other.info, first->info.priority, first->info.guid)
                                  : precedes(other.info, election.priority, election.own);
    if (before_all) first = other;
  }
  return first;
}

std::vector<NodeGuid> successors(const Election& election) {
  std::vector<NodeGuid> nodes;
  if (election.standing != Standing::Master) return nodes;
  for (const OtherSm& other : election.others) {
    const bool comes = other.info.state == State::Discovering || other.info.state == State::Standby;
    if (comes && precedes(other.info, election.priority, election.own)) nodes.push_back(other.where.node);
  }
  return nodes;
}

std::optional<NodeGuid> unknown_manager(const Survey& survey, const mad::Packet& smp) {
  const mad::Header header = mad::read_header(smp.mad);
  const bool asks = mad::is_smp(header) && header.method == mad::Method::Get &&
                    mad::SmAttr{header.attribute} == mad::SmAttr::SmInfo;
  const auto from = asks ? sender_of(survey, smp, header) : std::nullopt;
  if (!from || from->node == survey.local) return std::nullopt;
  const SurveyNode& node = survey.node(from->node);
  const LinkEnd managed{from->node, node.is_switch() ? PortNum{0} : from->port};
  if ((survey.port(managed).info.capability_mask & mad::port_cap::is_sm) != 0) return std::nullopt;
  return node.guid();
}

}  // namespace heddle::provision
