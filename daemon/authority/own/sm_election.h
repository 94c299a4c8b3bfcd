/// Whether this program may be the subnet manager, given the others that were found (IBA 14.4.1). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "mad/attributes.h"
#include "mad/packet.h"
#include "mad/sm_state.h"
#include "mad/survey.h"

namespace heddle::provision {

struct OtherSm {
  PortRef where;
  mad::SmInfo info;
};

/// Where this program stands itself.
enum class Standing : std::uint8_t {
  Candidate,  ///< it has written nothing
  Master,     ///< the fabric is its own already
};

struct Election {
  Standing standing = Standing::Candidate;
  PortGuid own;
  std::uint8_t priority = 0;
  std::vector<OtherSm> others;  ///< who answered
  /// Ports that say IsSM (IBA 14.2.5.6) and do not answer: an SM that is stopped, or busy, or cut off for a
  /// moment, and goes on later with what it knows.
  std::vector<std::string> silent;
};

/// Errors: Refused, for a candidate, where a port says that a subnet manager is there, be it silent, unless
/// it answers that it is not active; for a master, where another one is master.
[[nodiscard]] Result<void> may_be_master(const Election& election);

/// Whether a candidate yields to none that is master or stands by for one, and to none that is silent: all
/// are looking who else is there, and may yield to this one likewise.
[[nodiscard]] bool is_undecided(const Election& election);

/// Whom a master hands the fabric over to (IBA 14.4.1.5): of those that stand by with a higher priority, or
/// the same and a smaller GUID, the first. One that is still discovering is left to find this master, and to
/// stand by: a fabric whose master goes before that has none until a time-out of the other has passed.
[[nodiscard]] std::optional<OtherSm> heir(const Election& election);

/// Nodes at which to look again soon: of those that come before a master, and are discovering or stand by.
/// They tell a master of themselves by a trap, to the LID that they have seen; before it had one, nobody
/// hears that.
[[nodiscard]] std::vector<NodeGuid> successors(const Election& election);

/// The node of a subnet manager that this SMP tells of and `survey` does not: it asks who is there, from a
/// port that does not say IsSM there. Its trap told nobody, where its port had no LID to tell yet.
[[nodiscard]] std::optional<NodeGuid> unknown_manager(const Survey& survey, const mad::Packet& smp);

}  // namespace heddle::provision
