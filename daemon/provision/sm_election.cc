#include "provision/sm_election.h"

#include <fmt/format.h>

namespace heddle::provision {

std::string_view to_string(mad::SmInfo::State state) {
  switch (state) {
    case mad::SmInfo::State::NotActive:
      return "not active";
    case mad::SmInfo::State::Discovering:
      return "discovering";
    case mad::SmInfo::State::Standby:
      return "standby";
    case mad::SmInfo::State::Master:
      return "master";
  }
  return "unknown";
}

Result<void> may_be_master(PortGuid own, std::uint8_t priority, const std::vector<OtherSm>& others) {
  for (const OtherSm& other : others) {
    using State = mad::SmInfo::State;
    const mad::SmInfo& info = other.info;
    const bool precedes = info.priority > priority || (info.priority == priority && info.guid < own);
    const bool wins = info.state == State::Master || (info.state != State::NotActive && precedes);
    if (!wins) continue;
    return fail(
        ErrorCode::Refused,
        fmt::format("the subnet manager at {} (GUID {}, priority {}) is {}: stop it, or let Heddle "
                    "run beside it",
                    to_string(other.where), to_string(info.guid), info.priority, to_string(info.state)));
  }
  return {};
}

}  // namespace heddle::provision
