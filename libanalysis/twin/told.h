/// What a twin says, as JSON, and what fails in the words of people: for `heddle what-if`, drains, and the
/// page.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "fabric/link_name.h"
#include "twin/run.h"

namespace heddle::twin {

/// What fails, by names of nodes and links, or patterns of switches' names (load/switches_like.h). Errors: of
/// FabricNames, for what is neither.
[[nodiscard]] Result<routing::Failure> failure_of(const std::vector<std::string>& names,
                                                  const FabricNames& known);

/// Whose tables and whose traffic, how old, and how wrong that may be.
[[nodiscard]] boost::json::object view(const Run& run);
[[nodiscard]] boost::json::object view(const State& state, const FabricNames& known);
/// Hosts that lose, the most first: at most `most`.
[[nodiscard]] boost::json::array losers_view(const State& now, const State& then, const FabricNames& known,
                                             std::size_t most);

}  // namespace heddle::twin
