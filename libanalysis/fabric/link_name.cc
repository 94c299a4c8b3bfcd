#include "fabric/link_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "fabric/unique_names.h"

namespace heddle {
namespace {

constexpr std::string_view between = " -- ";

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<NodeGuid> guid_of(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t guid = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), guid, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return NodeGuid{guid};
}

}  // namespace

FabricNames::FabricNames(std::shared_ptr<const Fabric> fabric, const NodeNames& names)
    : fabric_{std::move(fabric)} {
  const auto nodes = fabric_->nodes();
  texts_.reserve(nodes.size());
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    texts_.push_back(names.of(nodes[n]));
    remember(texts_.back(), NodeIndex{n});
    remember(plain_name(nodes[n]), NodeIndex{n});
    remember(printable(nodes[n].description), NodeIndex{n});
  }
  texts_ = unique_names(*fabric_, std::move(texts_));
  for (std::uint32_t n = 0; n < nodes.size(); ++n) by_text_.emplace(texts_[n], NodeIndex{n});
}

void FabricNames::remember(const std::string& name, NodeIndex node) {
  auto& nodes = by_name_[name];
  if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
}

std::string FabricNames::port(LinkEnd end) const {
  return fmt::format("{}/{}", node(end.node), end.port.raw());
}

std::string FabricNames::link(LinkIndex link) const {
  const Link& cable = fabric_->link(link);
  return port(cable.a) + std::string{between} + port(cable.b);
}

Result<NodeIndex> FabricNames::find_node(std::string_view text) const {
  text = without_spaces(text);
  if (const auto guid = guid_of(text)) {
    const NodeIndex index = fabric_->find_node(*guid);
    if (index != no_node) return index;
  }
  const auto shown = by_text_.find(std::string{text});
  if (shown != by_text_.end()) return shown->second;
  const std::vector<NodeIndex> nodes = called(text);
  if (nodes.size() == 1) return nodes[0];
  if (nodes.empty()) {
    return fail(ErrorCode::NotFound,
                fmt::format("no node is called {}; give its name or its GUID", in_quotes(text)));
  }
  std::vector<std::string> forms;
  for (const NodeIndex node : nodes) forms.push_back(texts_[node.raw()]);
  return fail(ErrorCode::Conflict, say_which(text, forms));
}

std::vector<NodeIndex> FabricNames::called(std::string_view text) const {
  const auto named = by_name_.find(std::string{text});
  if (named != by_name_.end()) return named->second;
  const auto parts = name_and_digits(text);
  const auto namesakes = parts ? by_name_.find(std::string{parts->name}) : by_name_.end();
  if (namesakes == by_name_.end()) return {};
  std::vector<NodeIndex> nodes;
  for (const NodeIndex node : namesakes->second) {
    if (parts->fit(fabric_->node(node).guid)) nodes.push_back(node);
  }
  return nodes;
}

Result<LinkEnd> FabricNames::find_port(std::string_view text) const {
  text = without_spaces(text);
  const std::size_t slash = text.rfind('/');
  unsigned number = 0;
  if (slash != std::string_view::npos) {
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + slash + 1, last, number);
    if (error == std::errc{} && end == last) {
      const auto node = find_node(text.substr(0, slash));
      if (!node) return fail(node.error());
      const unsigned ports = fabric_->node(*node).port_count;
      if (number > ports) {
        return fail(ErrorCode::NotFound, fmt::format("{} has ports 1 to {}, and no port {}",
                                                     in_quotes(this->node(*node)), ports, number));
      }
      return LinkEnd{*node, PortNum{static_cast<std::uint8_t>(number)}};
    }
  }
  return fail(ErrorCode::Invalid,
              fmt::format("{} is no port; write NODE/PORT, as in leaf-0-3/12", in_quotes(text)));
}

Result<LinkIndex> FabricNames::find_link(std::string_view text) const {
  const std::size_t middle = text.find(between);
  const auto a = find_port(text.substr(0, middle));
  if (!a) return fail(a.error());
  const LinkIndex link = fabric_->port(*a).link;
  if (link == no_link) {
    return fail(ErrorCode::NotFound, fmt::format("port {} has no cable", in_quotes(port(*a))));
  }
  if (middle == std::string_view::npos) return link;
  const auto b = find_port(text.substr(middle + between.size()));
  if (!b) return fail(b.error());
  if (fabric_->peer(*a) != *b) {
    return fail(ErrorCode::NotFound, fmt::format("no cable joins {} and {}; the first is joined to {}",
                                                 port(*a), port(*b), port(*fabric_->peer(*a))));
  }
  return link;
}

}  // namespace heddle
