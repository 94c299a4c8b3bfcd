/// Makes notices of the list of problems that `heddle status` shows: when a kind of problem begins, is about
/// other things, and ends. All of one kind are one problem here, so that a fabric that loses a hundred nodes
/// makes a few notices and not hundreds. Pure; time is an argument.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/problem.h"
#include "base/units.h"
#include "notice/notice.h"

namespace heddle::notice {

struct WatchOptions {
  /// A problem that is away for less has not ended: what comes and goes is one problem.
  FabricClock::duration settle = std::chrono::seconds{10};
  /// After the start the daemon has not seen yet what it knew before.
  FabricClock::duration settle_at_start = std::chrono::seconds{60};
  /// Not more often is a problem told to have changed.
  FabricClock::duration between_changes = std::chrono::seconds{60};
};

class ProblemWatch {
 public:
  /// `open`: those that an earlier run has told of, and not their end.
  ProblemWatch(const std::vector<OpenProblem>& open, Instant now, const WatchOptions& options = {});

  /// What is to be told of these problems, after what was told before. `wall` is `now` in calendar time.
  [[nodiscard]] std::vector<Notice> look(const Problems& problems, Instant now, WallTime wall);

  /// Told, and not ended. In the order of their kinds.
  [[nodiscard]] std::vector<OpenProblem> open() const;

 private:
  struct Told {
    std::string text;
    WallTime since;
    Instant changed;    ///< told last
    Instant last_seen;  ///< or may have been
  };

  WatchOptions options_;
  std::map<std::string, Told> told_;  ///< by kind
};

/// The same text whatever spans of time it names ("for 12 s"): they alone are no change.
[[nodiscard]] std::string without_spans(std::string_view text);

}  // namespace heddle::notice
