#include "core/lost_links.h"

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace heddle::core {
namespace {

/// As many as regulation names of its own.
constexpr std::size_t most_lost = 8;

bool is_switch(const Fabric& fabric, LinkEnd end) { return fabric.node(end.node).type == NodeType::Switch; }

/// Two ends of a cable of another snapshot, where this one has both ports.
std::pair<PortIndex, PortIndex> ends(const Fabric& fabric, const LinkRef& link) {
  return {fabric.find_port(link.a), fabric.find_port(link.b)};
}

bool is_cabled(const Fabric& fabric, PortIndex port) {
  return port != no_port && fabric.port(port).link != no_link;
}

bool is_disabled(const Fabric& fabric, PortIndex port) {
  return port != no_port && fabric.port(port).physical == PhysState::Disabled;
}

}  // namespace

void LostLinks::look(std::shared_ptr<const Fabric> fabric, std::shared_ptr<const ShownNames> names) {
  const auto before = std::exchange(fabric_, std::move(fabric));
  const auto called = std::exchange(names_, std::move(names));
  if (!before || before == fabric_) return;
  const auto name = [&](const PortRef& port) {
    return fmt::format("{}/{}", called->of(before->node(before->find_node(port.node))), port.port.raw());
  };
  for (const Node& node : before->nodes()) {
    const bool gone = node.type == NodeType::Switch && fabric_->find_node(node.guid) == no_node;
    if (gone && switches_.size() < most_kept) switches_.emplace(node.guid, called->of(node));
  }
  for (const Link& link : before->links()) {
    if (!is_switch(*before, link.a) || !is_switch(*before, link.b)) continue;
    const LinkRef cable = link_ref(*before, link);
    const auto [a, b] = ends(*fabric_, cable);
    if (is_cabled(*fabric_, a) || is_cabled(*fabric_, b) || cables_.size() >= most_kept) continue;
    cables_.emplace(cable, fmt::format("{} -- {}", name(cable.a), name(cable.b)));
  }
  forget_found();
}

/// Where another cable is in one of its ports, somebody has moved it.
void LostLinks::forget_found() {
  std::erase_if(switches_, [this](const auto& gone) { return fabric_->find_node(gone.first) != no_node; });
  std::erase_if(cables_, [this](const auto& gone) {
    const auto [a, b] = ends(*fabric_, gone.first);
    return is_cabled(*fabric_, a) || is_cabled(*fabric_, b);
  });
}

Problems LostLinks::problems() const {
  Problems problems;
  const auto add = [&](const std::vector<std::string>& gone, std::string_view one, std::string_view several,
                       std::string_view advice) {
    if (gone.empty()) return;
    problems.push_back(
        {ProblemKind::LostLinks, fmt::format("{} {}: {}: {}", gone.size(), gone.size() == 1 ? one : several,
                                             list_of(gone, most_lost, std::identity{}), advice)});
  };
  std::vector<std::string> switches;
  for (const auto& [guid, name] : switches_) switches.push_back(name);
  std::vector<std::string> cables;
  for (const auto& [cable, name] : cables_) {
    const auto [a, b] = ends(*fabric_, cable);
    if (a == no_port || b == no_port || is_disabled(*fabric_, a) || is_disabled(*fabric_, b)) continue;
    cables.push_back(name);
  }
  add(switches, "switch is gone", "switches are gone",
      "see their power, and the cables there; what is gone for good is forgotten at the next start");
  add(cables, "link is down, and nobody ordered it", "links are down, and nobody ordered it",
      "see their cables; what is gone for good is forgotten at the next start");
  return problems;
}

}  // namespace heddle::core
