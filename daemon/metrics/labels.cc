#include "metrics/labels.h"

#include "base/printable.h"

namespace heddle::metrics {

void append_label_value(std::string& out, std::string_view value) {
  for (const char c : printable(value)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
}

Labels::Labels(std::shared_ptr<const Fabric> fabric, const NameOf& name_of) : fabric_{std::move(fabric)} {
  names_.reserve(fabric_->nodes().size());
  first_guid_.reserve(fabric_->nodes().size());
  for (const Node& node : fabric_->nodes()) {
    append_label_value(names_.emplace_back(), name_of ? name_of(node) : node.description);
    first_guid_.push_back(static_cast<std::uint32_t>(guids_.size()));
    if (node.type == NodeType::Switch) {
      guids_.push_back(to_string(node.guid));
      continue;
    }
    for (std::uint32_t p = 1; p <= std::max<std::uint32_t>(node.port_count, 1); ++p) {
      const PortGuid guid =
          p <= node.port_count ? fabric_->ports()[node.first_port.raw() + p].guid : PortGuid{};
      guids_.push_back(guid == PortGuid{} ? to_string(node.guid) : to_string(guid));
    }
  }
}

}  // namespace heddle::metrics
