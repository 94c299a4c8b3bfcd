/// Names that an operator gave to nodes, in a file of the form that OpenSM and the diagnostics share
/// (--node-name-map): a GUID and a name per line, the name in quotation marks or up to a '#'.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "fabric/fabric.h"

namespace heddle {

class NodeNames {
 public:
  /// The first name of a GUID counts. Errors: Invalid with file and line for a line that does not begin with
  /// a GUID.
  [[nodiscard]] static Result<NodeNames> parse(std::string_view text, const std::string& file);
  [[nodiscard]] static Result<NodeNames> load(const std::string& path);

  /// Fit to print: the name given, else the node's own description, else its GUID.
  [[nodiscard]] std::string of(const Node& node) const;
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::unordered_map<NodeGuid, std::string> names_;
};

}  // namespace heddle
