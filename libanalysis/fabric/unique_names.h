/// Names that tell nodes apart. Many switches share one description, that of their chip; what is shown to
/// people and taken from them is then "SwitchIB Mellanox Technologies#a2e0": the description and the last
/// digits of the GUID, at least four, and as many for all nodes of a description as these need.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/node_names.h"

namespace heddle {

/// The description, fit to print and without blanks around it; the GUID where there is none.
[[nodiscard]] std::string plain_name(const Node& node);

/// The form that tells each node apart, by NodeIndex; `names` is what each would be called alone. A name that
/// could be taken for a GUID or a link gives way to the GUID.
[[nodiscard]] std::vector<std::string> unique_names(const Fabric& fabric, std::vector<std::string> names);

/// Of nodes as they call themselves.
[[nodiscard]] std::vector<std::string> unique_names(const Fabric& fabric);
/// Of one node: for messages, where the names of all are not at hand. Looks at every node of the fabric.
[[nodiscard]] std::string unique_name(const Fabric& fabric, NodeIndex node);

/// What nodes of a fabric, and of snapshots soon before and after, are called where they are shown.
class ShownNames {
 public:
  ShownNames() = default;
  explicit ShownNames(NodeNames given) : given_{std::move(given)} {}
  ShownNames(NodeNames given, const Fabric& fabric);

  [[nodiscard]] std::string of(const Node& node) const;

 private:
  NodeNames given_;
  std::unordered_map<NodeGuid, std::string> forms_;  ///< of nodes whose name is not enough
};

/// "NAME#a2e0" taken apart: what people write of a form that may have had fewer digits, or more, when they
/// read it. Digits are hexadecimal, 4 to 16 of them.
struct NameAndDigits {
  std::string_view name;
  std::string_view digits;

  [[nodiscard]] bool fit(NodeGuid guid) const;
};
[[nodiscard]] std::optional<NameAndDigits> name_and_digits(std::string_view text);

/// For errors: "2 nodes are called "twin"; say which: twin#000b, twin#000c". `forms` are those of
/// unique_names.
[[nodiscard]] std::string say_which(std::string_view text, const std::vector<std::string>& forms);

}  // namespace heddle
