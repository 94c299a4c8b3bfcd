#include "core/lost_links.h"

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "fabric/links.h"

namespace heddle::core {
namespace {

/// As many as regulation names of its own.
constexpr std::size_t most_lost = 8;

bool is_cabled(const Fabric& fabric, const LinkRef& link) {
  return is_cabled(fabric, link.a) || is_cabled(fabric, link.b);
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
    if (!joins_switches(*before, link) || cables_.size() >= most_kept) continue;
    const LinkRef cable = link_ref(*before, link);
    if (is_cabled(*fabric_, cable)) continue;
    cables_.emplace(cable, fmt::format("{} -- {}", name(cable.a), name(cable.b)));
  }
  forget_found();
}

/// Where another cable is in one of its ports, somebody has moved it.
void LostLinks::forget_found() {
  std::erase_if(switches_, [this](const auto& gone) { return fabric_->find_node(gone.first) != no_node; });
  std::erase_if(cables_, [this](const auto& gone) { return is_cabled(*fabric_, gone.first); });
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
  const auto is_missed = [this](const PortRef& ref) {
    const PortIndex port = fabric_->find_port(ref);
    return port != no_port && fabric_->port(port).physical != PhysState::Disabled;
  };
  std::vector<std::string> cables;
  for (const auto& [cable, name] : cables_) {
    if (is_missed(cable.a) && is_missed(cable.b)) cables.push_back(name);
  }
  add(switches, "switch is gone", "switches are gone",
      "see their power, and the cables there; what is gone for good is forgotten at the next start");
  add(cables, "link is down, and nobody ordered it", "links are down, and nobody ordered it",
      "see the cables; what is gone for good is forgotten at the next start");
  return problems;
}

}  // namespace heddle::core
