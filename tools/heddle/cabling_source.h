/// Cables as they are, and as they are to be, from the words of the command line.
#pragma once

#include <memory>
#include <string>

#include "cabling/check.h"
#include "heddle/command.h"

namespace heddle::cli {

/// A file's or generator's, or the baseline that the daemon keeps if `source` is empty. Errors: of reading
/// it.
[[nodiscard]] Result<cabling::CablePlan> obtain_plan(const std::string& source, const Context& context);

/// As its cables lie: what is off on purpose is there. The running fabric if `source` is empty.
[[nodiscard]] Result<std::shared_ptr<const Fabric>> obtain_cables(const std::string& source,
                                                                  const Context& context);

struct ComparedCables {
  cabling::CableCheck check;
  std::string plan;  ///< what it is called
};
/// What the plan loses is said on standard error. Errors: of obtain_plan() and check_cables().
[[nodiscard]] Result<ComparedCables> compare_cables(const std::string& plan, const Fabric& fabric,
                                                    const Context& context);

}  // namespace heddle::cli
