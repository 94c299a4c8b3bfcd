#include "authority/own/sm_election.h"

#include <fmt/format.h>

#include "base/text.h"

namespace heddle::provision {
namespace {

using State = mad::SmInfo::State;

/// IBA 14.4.1: the higher priority, then the smaller GUID.
bool precedes(const mad::SmInfo& one, std::uint8_t priority, PortGuid guid) {
  return one.priority > priority || (one.priority == priority && one.guid < guid);
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

}  // namespace heddle::provision
