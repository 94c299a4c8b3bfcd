/// The label texts of one Fabric snapshot, made once: half of the work of a scrape. GUIDs are those that the
/// common infiniband_exporter shows: of the node for a switch, of the port for a channel adapter.
/// Immutable; any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace heddle::metrics {

/// Appends a label value: what a stranger wrote becomes printable, quotes and backslashes are escaped.
void append_label_value(std::string& out, std::string_view value);

class Labels {
 public:
  using NameOf = std::function<std::string(const Node&)>;

  Labels(std::shared_ptr<const Fabric> fabric, const NameOf& name_of);

  [[nodiscard]] const Fabric& fabric() const { return *fabric_; }
  /// "0x0002c90300080e84"
  [[nodiscard]] const std::string& guid(PortIndex port) const { return guids_[place(port)]; }
  /// Escaped, without quotation marks.
  [[nodiscard]] const std::string& name(NodeIndex node) const { return names_[node.raw()]; }

 private:
  [[nodiscard]] std::size_t place(PortIndex port) const {
    const Port& p = fabric_->port(port);
    const std::size_t first = first_guid_[p.node.raw()];
    return fabric_->node(p.node).type == NodeType::Switch || p.num.raw() == 0 ? first
                                                                              : first + p.num.raw() - 1;
  }

  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::string> names_;         ///< by NodeIndex
  std::vector<std::string> guids_;         ///< one of a switch, one per port of the others
  std::vector<std::uint32_t> first_guid_;  ///< by NodeIndex
};

}  // namespace heddle::metrics
