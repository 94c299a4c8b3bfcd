/// Is a fabric cabled as planned? Each cable of the plan is where it should be, is missing, or is crossed
/// with others: if the planned and the real cables of some ports lead round in a circle, all these ports have
/// a cable, each of them a wrong one, and exchanging plugs mends it. What is left over on the fabric's side
/// is unexpected.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cabling/cable_plan.h"
#include "fabric/fabric.h"

namespace heddle::cabling {

/// An end of a cable, in the fabric's words where the fabric has it, else in the plan's.
struct CableEnd {
  std::string node;
  std::optional<NodeGuid> guid;
  std::optional<PortNum> number;
  std::string port;      ///< as in the plan where there is no number
  std::string location;  ///< where the plan has one

  [[nodiscard]] std::string text() const;  ///< "leaf-0/3"
};

struct Difference {
  CableEnd start;
  CableEnd end;
  std::string expected;  ///< where start should lead, or the rate; empty for what is unexpected
  std::string
      actual;  ///< where start leads (end, if the fabric has no start), or the rate; empty for no cable
  std::size_t line = 0;  ///< of the plan; 0 if there is none
};

struct CableCheck {
  std::size_t planned = 0;  ///< cables; what the plan says twice counts once
  std::size_t as_planned = 0;
  std::vector<CableEnd> right;  ///< the starts of those, for reports that list everything
  std::vector<Difference> missing;
  std::vector<Difference> unexpected;
  std::vector<Difference> swapped;     ///< one for each planned cable
  std::vector<Difference> wrong_rate;  ///< where they should be, faster or slower than planned

  [[nodiscard]] bool same() const;
};

/// Errors, with file and line: a port that the plan cables twice, or to itself (Conflict), and those of
/// Devices::find.
[[nodiscard]] Result<CableCheck> check_cables(const CablePlan& plan, const Fabric& fabric);

}  // namespace heddle::cabling
