/// The fabric as the page gets it once: nodes, cables, sets and the kind of drawing, column by column,
/// without figures. Its `shape` changes exactly when this text does, so that viewers keep what they have
/// while only figures and port states change.
#pragma once

#include <memory>
#include <string>

#include "control/state.h"
#include "load/sample.h"

namespace heddle::web {

struct Topology {
  std::string shape;                        ///< hexadecimal digits
  std::shared_ptr<const std::string> text;  ///< JSON, docs/api.md
};

/// Of the sample's fabric. Precondition: state.sample.
[[nodiscard]] Topology make_topology(const control::DaemonState& state);

}  // namespace heddle::web
