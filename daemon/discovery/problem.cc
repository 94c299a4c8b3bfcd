#include "discovery/problem.h"

namespace heddle::discovery {

std::string_view to_string(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::OwnPort:
      return "own port";
    case ProblemKind::SilentPort:
      return "silent port";
    case ProblemKind::LostNode:
      return "lost node";
    case ProblemKind::SplitOff:
      return "split off";
    case ProblemKind::DuplicateGuid:
      return "duplicate GUID";
    case ProblemKind::OneSidedLink:
      return "one-sided link";
    case ProblemKind::PortBeyond:
      return "port beyond";
    case ProblemKind::LidConflict:
      return "LID conflict";
    case ProblemKind::BadAnswer:
      return "bad answer";
    case ProblemKind::Refused:
      return "refused";
    case ProblemKind::TooFar:
      return "too far";
  }
  return "unknown";
}

void Problems::add(ProblemKind kind, PortRef where, std::string text) {
  if (list_.size() < most_problems) list_.push_back({kind, where, std::move(text)});
}

}  // namespace heddle::discovery
