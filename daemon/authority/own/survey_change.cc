#include "authority/own/survey_change.h"

#include <algorithm>
#include <vector>

#include "fabric/links.h"
#include "mad/header.h"

namespace heddle::provision {
namespace {

Link link_of(const Fabric& fabric, const KnownLink& known) {
  return {{fabric.find_node(known.link.a.node), known.link.a.port},
          {fabric.find_node(known.link.b.node), known.link.b.port},
          known.width,
          known.speed};
}

/// Of the links those whose ends are there and have no other cable.
std::vector<KnownLink> those_missing(const Fabric& fabric, std::span<const KnownLink> links) {
  const auto is_free = [&](const PortRef& ref) {
    const PortIndex port = fabric.find_port(ref);
    return port != no_port && ref.port != PortNum{0} && fabric.port(port).link == no_link;
  };
  std::vector<KnownLink> missing;
  for (const KnownLink& known : links) {
    if (known.link.a != known.link.b && is_free(known.link.a) && is_free(known.link.b)) {
      missing.push_back(known);
    }
  }
  return missing;
}

/// The shortest directed routes, as with_routes_avoiding() has them.
void lead_around(std::span<const LinkRef> avoid, Survey& survey) {
  const Fabric& fabric = *survey.fabric;
  std::vector<char> reached(fabric.nodes().size(), 0);
  std::vector<LinkRef> avoided(avoid.begin(), avoid.end());
  std::ranges::sort(avoided);  // thousands are off where a fabric idles
  std::vector<NodeIndex> order{survey.local};
  reached[survey.local.raw()] = 1;
  const auto spread = [&](bool (*may_pass)(const Fabric&, const Link&)) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const NodeIndex at = order[i];
      const SurveyNode& node = survey.nodes[at.raw()];
      if (node.path.size() >= mad::DirectedRoute::max_hops) continue;
      // Only switches forward directed routes; the local node is left by the port that the daemon sits on.
      for (unsigned p = 1; p <= fabric.node(at).port_count; ++p) {
        const LinkEnd out{at, PortNum{static_cast<std::uint8_t>(p)}};
        if (!node.is_switch() && (at != survey.local || out.port != node.info.local_port)) continue;
        const auto peer = fabric.peer(out);
        if (!peer || reached[peer->node.raw()] != 0) continue;
        const Link& link = fabric.link(fabric.port(out).link);
        const LinkRef ref = link_ref(fabric, link);
        if (!may_pass(fabric, link) || std::ranges::binary_search(avoided, ref)) continue;
        reached[peer->node.raw()] = 1;
        SurveyNode& next = survey.nodes[peer->node.raw()];
        next.path = survey.nodes[at.raw()].path;
        next.path.push_back(out.port);
        order.push_back(peer->node);
      }
    }
  };
  spread(heddle::is_active);
  // A link that has just trained is the only way to what is behind it until it is raised.
  spread(heddle::is_up);
}

}  // namespace

std::shared_ptr<const Fabric> rebuild(const Fabric& fabric, std::uint64_t epoch,
                                      const std::function<void(LinkEnd, Port&)>& change,
                                      std::span<const KnownLink> more) {
  FabricBuilder builder;
  builder.expect(fabric.nodes().size(), fabric.ports().size(), fabric.links().size() + more.size());
  for (const Node& node : fabric.nodes()) (void)builder.add_node(node);
  for (const Link& link : fabric.links()) (void)builder.add_link(link.a, link.b, link.width, link.speed);
  for (const KnownLink& known : more) {
    const Link link = link_of(fabric, known);
    (void)builder.add_link(link.a, link.b, link.width, link.speed);
  }
  // After the cables, which make ports Active that nobody said anything of: here everything is said.
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    for (unsigned p = 0; p <= fabric.node(NodeIndex{i}).port_count; ++p) {
      const LinkEnd end{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
      Port port = fabric.port(end);
      if (change) change(end, port);
      (void)builder.set_port(end.node, port);
    }
  }
  return builder.build(epoch);
}

std::shared_ptr<const Survey> complete(std::shared_ptr<const Survey> survey,
                                       std::span<const KnownLink> links) {
  const std::vector<KnownLink> missing = those_missing(*survey->fabric, links);
  if (missing.empty()) return survey;
  auto completed = std::make_shared<Survey>(*survey);
  completed->fabric = rebuild(*survey->fabric, survey->fabric->epoch(), {}, missing);
  return completed;
}

std::shared_ptr<const Survey> complete_avoiding(std::shared_ptr<const Survey> survey,
                                                std::span<const KnownLink> links,
                                                std::span<const LinkRef> avoid) {
  const Fabric& fabric = *survey->fabric;
  const std::vector<KnownLink> missing = those_missing(fabric, links);
  const auto needs_no_way_round = [&](const Link& link) {
    return is_active(fabric, link) || !is_up(fabric, link);
  };
  if (avoid.empty() && std::ranges::all_of(fabric.links(), needs_no_way_round) &&
      std::ranges::all_of(
          missing, [&](const KnownLink& known) { return needs_no_way_round(link_of(fabric, known)); })) {
    return complete(std::move(survey), missing);
  }
  // One copy, and one new snapshot, for both: they are as long as the fabric is large.
  auto completed = std::make_shared<Survey>(*survey);
  completed->fabric = rebuild(fabric, fabric.epoch() + 1, {}, missing);
  lead_around(avoid, *completed);
  return completed;
}

std::shared_ptr<const Survey> with_unheard_ports(const Survey& before, std::shared_ptr<const Survey> survey) {
  const Fabric& fabric = *survey->fabric;
  std::shared_ptr<Survey> changed;
  std::vector<KnownLink> missing;
  for (std::uint32_t i = 0; i < survey->nodes.size(); ++i) {
    const SurveyNode& node = survey->nodes[i];
    const NodeIndex there = before.fabric->find_node(node.guid());
    if (!node.is_switch() || there == no_node || before.node(there).ports.size() != node.ports.size())
      continue;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const LinkEnd was{there, PortNum{static_cast<std::uint8_t>(p)}};
      const auto peer = before.fabric->peer(was);
      if (node.ports[p].known || !before.port(was).known || !peer) continue;
      const PortIndex here = fabric.port_index({NodeIndex{i}, was.port});
      const PortIndex far = fabric.find_port(before.fabric->ref(*peer));
      const bool is_asked = far != no_port;
      if (is_asked && fabric.port(far).state != PortState::Active) continue;
      if (is_asked && fabric.port(far).link != fabric.port(here).link) continue;
      if (!changed) changed = std::make_shared<Survey>(*survey);
      changed->nodes[i].ports[p] = before.port(was);
      if (!is_asked || fabric.port(far).link != no_link) continue;
      const Link& link = before.fabric->link(before.fabric->port(was).link);
      missing.push_back({link_ref(*before.fabric, link), link.width, link.speed});
    }
  }
  if (!changed) return survey;
  changed->fabric = rebuild(
      fabric, fabric.epoch(),
      [&](LinkEnd end, Port& port) {
        const SurveyPort& known = changed->port(end);
        if (known.known) port.state = known.info.state;
        if (known.known) port.physical = known.info.physical;
      },
      missing);
  return changed;
}

bool only_gains(const Survey& before, const Survey& after,
                const std::function<bool(const LinkRef&)>& is_waited_for) {
  if (before.nodes.size() != after.nodes.size()) return false;
  const auto is_gain = [&](LinkEnd end) {
    const LinkIndex link = before.fabric->port(end).link;
    return link != no_link && is_waited_for(link_ref(*before.fabric, before.fabric->link(link)));
  };
  bool gains = false;
  for (std::uint32_t i = 0; i < before.nodes.size(); ++i) {
    const SurveyNode& was = before.nodes[i];
    const NodeIndex there = after.fabric->find_node(was.guid());
    if (there == no_node || after.node(there).ports.size() != was.ports.size()) return false;
    for (std::size_t p = 0; p < was.ports.size(); ++p) {
      const SurveyPort& old = was.ports[p];
      const SurveyPort& now = after.node(there).ports[p];
      if (old.known != now.known) return false;
      if (!old.known || (old.info.lid == now.info.lid && old.info.state == now.info.state)) continue;
      const LinkEnd end{NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}};
      if (old.info.lid != now.info.lid || old.info.state != PortState::Down || !is_gain(end)) return false;
      gains = true;
    }
  }
  return gains;
}

std::shared_ptr<const Survey> with_routes_avoiding(const Survey& survey, std::span<const LinkRef> avoid) {
  auto result = std::make_shared<Survey>(survey);
  lead_around(avoid, *result);
  result->fabric = rebuild(*survey.fabric, survey.fabric->epoch() + 1, {});
  return result;
}

}  // namespace heddle::provision
