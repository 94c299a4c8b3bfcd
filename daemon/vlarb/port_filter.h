/// Which ports a push is for: a list, separated by commas, of kinds (`ca`, `router`, `switch`: OpenSM's
/// qos_ca, qos_rtr, qos_swe) and shell patterns over a node's name or over NODE/PORT. Empty: all ports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"

namespace heddle::vlarb {

class PortFilter {
 public:
  /// Errors: Invalid for an empty item and for more than 64 of them.
  [[nodiscard]] static Result<PortFilter> parse(std::string_view text);

  /// `name` is the node's.
  [[nodiscard]] bool matches(const Node& node, std::string_view name, PortNum port) const;
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool all() const { return items_.empty(); }

 private:
  std::string text_;
  std::vector<std::string> items_;
};

}  // namespace heddle::vlarb
