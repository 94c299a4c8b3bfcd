/// Every single failure of a kind, and what becomes of a twin by each: which one hurts most?
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "fabric/link_name.h"
#include "twin/run.h"

namespace heddle::twin {

/// Links between switches, that is.
enum class FailureKind : unsigned char { Switches, Links };

struct Failed {
  std::size_t number = 0;  ///< in the order of the fabric
  std::string name;
  State state;               ///< without its tables, and loads of single links: there may be many
  boost::json::object view;  ///< of the state, where it is wanted
};
enum class Views : unsigned char { No, Wanted };

/// Every `count`th of all, from `index` on: for several threads, each with a Run of its own.
struct FailurePart {
  std::size_t index = 0;
  std::size_t count = 1;
};

/// The worst first. Errors: of Run::over(), with what failed.
[[nodiscard]] Result<std::vector<Failed>> fail_each(const Run& run, const FabricNames& known,
                                                    FailureKind kind, Views views,
                                                    const FailurePart& part = {});
/// As fail_each() has them.
void sort_by_harm(std::vector<Failed>& all);

}  // namespace heddle::twin
