#include "regulate/drain_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "base/text.h"
#include "fabric/link_name.h"
#include "load/switches_like.h"

namespace heddle::regulate {
namespace {

/// What the words name, each once.
struct Found {
  std::set<NodeIndex> nodes;
  std::set<LinkIndex> links;
  std::vector<std::string> words;  ///< in the forms that are shown
};

bool is_switch(const Fabric& fabric, NodeIndex node) { return fabric.node(node).type == NodeType::Switch; }

Result<void> find_one(const FabricNames& known, const std::string& name, Found& found) {
  const auto node = known.find_node(name);
  if (node) {
    if (found.nodes.insert(*node).second) found.words.push_back(known.node(*node));
    return {};
  }
  if (load::is_pattern(name)) {
    const auto switches = load::switches_like(name, known);
    if (!switches) return fail(switches.error());
    found.nodes.insert(switches->begin(), switches->end());
    found.words.push_back(printable(name));
    return {};
  }
  if (node.error().code == ErrorCode::Conflict || name.find('/') == std::string::npos)
    return fail(node.error());
  const auto link = known.find_link(name);
  if (!link) return fail(link.error());
  if (found.links.insert(*link).second) found.words.push_back(known.link(*link));
  return {};
}

Result<void> widen_to_chassis(const Fabric& fabric, const FabricNames& known, Found& found) {
  std::set<std::uint64_t> housings;
  for (const NodeIndex node : found.nodes) {
    if (!is_switch(fabric, node) || fabric.node(node).system_image_guid == 0)
      return fail(ErrorCode::Invalid,
                  fmt::format("{} does not say in which chassis it is", known.node(node)));
    housings.insert(fabric.node(node).system_image_guid);
  }
  if (!found.links.empty())
    return fail(ErrorCode::Invalid, "a link has no chassis; name one of its switches");
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    if (is_switch(fabric, NodeIndex{i}) && housings.contains(fabric.node(NodeIndex{i}).system_image_guid))
      found.nodes.insert(NodeIndex{i});
  }
  for (std::string& word : found.words) word.insert(0, "chassis of ");
  return {};
}

/// Those of its links that have to go off for the node to go.
bool goes_with(const Fabric& fabric, const Link& link, const std::set<NodeIndex>& nodes) {
  const bool a = nodes.contains(link.a.node);
  const bool b = nodes.contains(link.b.node);
  if (a == b) return false;
  const NodeIndex going = a ? link.a.node : link.b.node;
  const NodeIndex staying = a ? link.b.node : link.a.node;
  return !is_switch(fabric, going) || is_switch(fabric, staying);
}

}  // namespace

Result<regulation::Drain> drain_target(std::shared_ptr<const Fabric> fabric,
                                       const std::vector<std::string>& names, Whole whole) {
  const FabricNames known{fabric};
  Found found;
  for (const std::string& name : names) {
    if (auto one = find_one(known, name, found); !one) return fail(one.error());
  }
  if (whole == Whole::Chassis) {
    if (auto all = widen_to_chassis(*fabric, known, found); !all) return fail(all.error());
  }
  regulation::Drain drain;
  drain.what = joined(found.words, ", ");
  for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
    const Link& link = fabric->link(LinkIndex{i});
    if (found.links.contains(LinkIndex{i}) || goes_with(*fabric, link, found.nodes))
      drain.links.push_back(link_ref(*fabric, link));
  }
  for (const NodeIndex node : found.nodes) {
    if (is_switch(*fabric, node)) drain.nodes.push_back(fabric->node(node).guid);
  }
  if (drain.links.empty())
    return fail(ErrorCode::Invalid, fmt::format("{}: no cable leads from there to what stays", drain.what));
  std::ranges::sort(drain.links);
  std::ranges::sort(drain.nodes);
  return drain;
}

Result<std::string> drain_named(const std::vector<regulation::DrainStatus>& drains,
                                std::shared_ptr<const Fabric> fabric, const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const auto& each : drains) all.push_back(each.drain.what);
  if (names.empty() && all.size() == 1) return all.front();
  const std::string text = joined(names, ", ");
  if (std::ranges::find(all, text) != all.end()) return text;
  const FabricNames known{fabric};
  for (const auto& each : drains) {
    const auto& nodes = each.drain.nodes;
    if (nodes.size() != 1) continue;
    const auto index = known.find_node(text);
    if (to_string(nodes.front()) == text || (index && fabric->node(*index).guid == nodes.front()))
      return each.drain.what;
  }
  if (const auto target = drain_target(fabric, names, Whole::Named);
      target && std::ranges::find(all, target->what) != all.end()) {
    return target->what;
  }
  if (all.empty()) return fail(ErrorCode::NotFound, "nothing is drained");
  return fail(ErrorCode::NotFound,
              names.empty()
                  ? fmt::format("say which drain is to end: {}", joined(all, "; "))
                  : fmt::format("there is no drain of {}; drained are: {}", text, joined(all, "; ")));
}

}  // namespace heddle::regulate
