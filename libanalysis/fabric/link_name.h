/// How nodes, ports and links of a fabric are written and found by people: "leaf-0-3", "leaf-0-3/12",
/// "leaf-0-3/12 -- spine-0-1/4", or with a node's GUID in place of its name. What is written is found again:
/// where a name is not unique, digits of the GUID stand behind it (unique_names.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "fabric/node_names.h"

namespace heddle {

class FabricNames {
 public:
  explicit FabricNames(std::shared_ptr<const Fabric> fabric, const NodeNames& names = {});

  [[nodiscard]] const Fabric& fabric() const { return *fabric_; }
  [[nodiscard]] const std::string& node(NodeIndex node) const { return texts_[node.raw()]; }
  [[nodiscard]] std::string port(LinkEnd end) const;
  [[nodiscard]] std::string link(LinkIndex link) const;

  /// Each takes the form that is shown, the operator's name of a node, its own description, either with
  /// digits of its GUID that fit no other node of this name, or its GUID as 0x....
  /// Errors: NotFound; Conflict for what fits several nodes, with their forms; Invalid for what is no
  /// port or link by its form.
  [[nodiscard]] Result<NodeIndex> find_node(std::string_view text) const;
  [[nodiscard]] Result<LinkEnd> find_port(std::string_view text) const;
  /// By both ends in either order, or by one.
  [[nodiscard]] Result<LinkIndex> find_link(std::string_view text) const;

 private:
  void remember(const std::string& name, NodeIndex node);
  [[nodiscard]] std::vector<NodeIndex> called(std::string_view text) const;

  std::shared_ptr<const Fabric> fabric_;
  std::vector<std::string> texts_;  ///< by NodeIndex
  std::unordered_map<std::string, NodeIndex> by_text_;
  std::unordered_map<std::string, std::vector<NodeIndex>> by_name_;
};

}  // namespace heddle
