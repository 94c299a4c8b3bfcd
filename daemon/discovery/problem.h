/// What a sweep found wrong with the fabric, or could not find out. The rest of the fabric goes on without
/// it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace heddle::discovery {

enum class ProblemKind {
  OwnPort,        ///< the port that this daemon sees the fabric by is down
  SilentPort,     ///< the link is up, but nothing answers behind it
  LostNode,       ///< answered once and then no more: left out
  SplitOff,       ///< no way leads there any more: left out
  DuplicateGuid,  ///< two nodes, or a cable that was moved during the sweep
  OneSidedLink,   ///< one end says that the link is up, the other that it is not
  PortBeyond,     ///< a port number that the node does not have
  LidConflict,    ///< two ports with one LID
  BadAnswer,      ///< wrong attribute or TID, or values that mean nothing
  Refused,        ///< answered with an error status
  TooFar,         ///< beyond 63 hops, or beyond the number of nodes that is allowed
};
[[nodiscard]] std::string_view to_string(ProblemKind kind);

struct Problem {
  ProblemKind kind = ProblemKind::SilentPort;
  PortRef where;
  std::string text;  ///< one sentence that names the nodes by GUID and description
};

/// At most this many are kept of one sweep.
inline constexpr std::size_t most_problems = 10'000;

class Problems {
 public:
  void add(ProblemKind kind, PortRef where, std::string text);
  [[nodiscard]] std::vector<Problem> take() { return std::exchange(list_, {}); }

 private:
  std::vector<Problem> list_;
};

}  // namespace heddle::discovery
