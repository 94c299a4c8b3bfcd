/// What a twin says, in text and in JSON.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "fabric/link_name.h"
#include "heddle/twin_run.h"

namespace heddle::cli {

/// Whose tables and whose traffic, how old, and how wrong that may be.
[[nodiscard]] boost::json::object twin_json(const TwinRun& run);
void print_twin(const TwinRun& run, Context& context);

[[nodiscard]] boost::json::object state_json(const TwinState& state, const FabricNames& known);
/// Hosts that lose, the most first: at most `most`.
[[nodiscard]] boost::json::array losers_json(const TwinState& now, const TwinState& then,
                                             const FabricNames& known, std::size_t most);
void print_states(const TwinState& now, const TwinState& then, const FabricNames& known, Context& context);

/// One of several failures.
struct NamedState {
  std::string name;
  routing::Failure failure;
  TwinState state;
  boost::json::object view;  ///< of the state, where JSON is wanted
};
/// The worst of all, as they stand in the list.
void print_each(const std::vector<NamedState>& all, const TwinState& now, std::size_t top, Context& context);

}  // namespace heddle::cli
