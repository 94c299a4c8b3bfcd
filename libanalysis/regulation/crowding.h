/// Whether part of a choice would have links above their limits that all of it has not: tables deal LIDs anew
/// over whatever stays. What links carry with everything that is on is allowed to them, and what the whole
/// choice, which the selector has accepted, has on them.
///
/// One thread; what it is given must outlive it.
#pragma once

#include "regulation/evaluation.h"

namespace heddle::regulation {

class Crowding {
 public:
  Crowding(const SelectionProblem& problem, const SelectOptions& options, const routing::LinkSet& on);

  void allow(const Selection& whole);
  /// With these links alone.
  [[nodiscard]] bool at(const routing::LinkSet& active);
  /// Sets that can be looked at in the time that a choice may take.
  [[nodiscard]] unsigned trials() const;

 private:
  const Network& network_;
  Evaluation evaluation_;
};

}  // namespace heddle::regulation
