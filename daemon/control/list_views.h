/// The long answers as JSON text, written row by row: as a whole they take more memory than the fabric
/// itself. Pure; what they read is immutable, so any thread may run them (DaemonState::history is not read).
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "control/state.h"
#include "control/views.h"

namespace heddle::control {

/// Takes the text in the order in which it is written.
using TextSink = std::function<void(std::string_view)>;

/// Query: match (glob over the link's name), sort (name, utilization, congestion, rate, errors), top
/// (number), min_utilization (ratio), kind (switch, host); limit (rows of a page) and after (what `next` of
/// the page before said). Errors: Invalid names the parameter and its values; Unreachable before the first
/// sweep; NotFound when `after` names a link that is gone. Nothing is written then.
Result<void> write_links(const DaemonState& state, const Query& query, const TextSink& out);

/// Query: match (glob), type (switch, ca, aggregation, router); limit and after.
Result<void> write_nodes(const DaemonState& state, const Query& query, const TextSink& out);

/// The graph itself: nodes and links without figures.
Result<void> write_fabric(const DaemonState& state, const TextSink& out);

}  // namespace heddle::control
