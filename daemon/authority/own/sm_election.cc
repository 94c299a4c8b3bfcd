#include "authority/own/sm_election.h"

#include <fmt/format.h>

namespace heddle::provision {

Result<void> may_be_master(const Election& election) {
  const bool candidate = election.standing == Standing::Candidate;
  for (const OtherSm& other : election.others) {
    using State = mad::SmInfo::State;
    const mad::SmInfo& info = other.info;
    const bool precedes =
        info.priority > election.priority || (info.priority == election.priority && info.guid < election.own);
    const bool wins =
        info.state == State::Master || (info.state != State::NotActive && (candidate || precedes));
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
                            fmt::join(election.silent, ", ")));
  }
  return {};
}

}  // namespace heddle::provision
