#include "vlarb/port_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "load/glob.h"

namespace heddle::vlarb {
namespace {

constexpr std::size_t most_items = 64;

bool is_kind(std::string_view item, NodeType type) {
  switch (type) {
    case NodeType::ChannelAdapter:
      return item == "ca";
    case NodeType::Switch:
      return item == "switch";
    case NodeType::Router:
      return item == "router";
  }
  return false;
}

}  // namespace

Result<PortFilter> PortFilter::parse(std::string_view text) {
  PortFilter filter;
  filter.text_ = text;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto item = text.substr(0, comma);
    if (item.empty() || comma == text.size() - 1)
      return fail(ErrorCode::Invalid, fmt::format("ports '{}': an item is empty", filter.text_));
    if (filter.items_.size() == most_items)
      return fail(ErrorCode::Invalid, fmt::format("ports: more than {} items", most_items));
    filter.items_.emplace_back(item);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return filter;
}

bool PortFilter::matches(const Node& node, std::string_view name, PortNum port) const {
  if (all()) return true;
  const std::string full = fmt::format("{}/{}", name, port.raw());
  return std::ranges::any_of(items_, [&](const std::string& item) {
    return is_kind(item, node.type) || load::glob_matches(item, name) || load::glob_matches(item, full);
  });
}

}  // namespace heddle::vlarb
