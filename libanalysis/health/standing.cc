#include "health/standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "fabric/links.h"
#include "mad/link_capability.h"

namespace heddle::health {
namespace {

/// More nodes than these are counted only.
constexpr std::size_t most_named = 3;

struct Ends {
  const SurveyPort& a;
  const SurveyPort& b;
};

/// CapabilityMask says nothing at a switch's ports but port 0 (IBA 14.2.5.6).
std::uint32_t capability_mask(const Survey& survey, LinkEnd end) {
  const SurveyNode& node = survey.node(end.node);
  return (node.is_switch() ? node.ports[0] : survey.port(end)).info.capability_mask;
}

bool hides(const Survey& survey, LinkEnd end) {
  return mad::hides_speed(survey.port(end).info, capability_mask(survey, end));
}

bool is_slower(LinkSpeed active, LinkSpeed can) {
  // FDR10 runs at QDR's signalling rate, and PortInfo calls it QDR.
  const auto rank = [](LinkSpeed speed) { return speed == LinkSpeed::Fdr10 ? LinkSpeed::Qdr : speed; };
  return can != LinkSpeed::None && active != LinkSpeed::None && rank(active) < can;
}
bool is_narrower(LinkWidth active, LinkWidth can) {
  return active != LinkWidth::None && lanes(active) < lanes(can);
}

Finding about(const Fabric& fabric, const Link& link, Rule rule, Sureness sureness) {
  Finding finding;
  finding.rule = rule;
  finding.sureness = sureness;
  finding.at = fabric.ref(link.a);
  finding.peer = fabric.ref(link.b);
  return finding;
}

/// The end that allows less than it is able to, where it is one of them only.
template <class Mask>
std::optional<PortRef> holder(const Fabric& fabric, const Link& link, const Ends& ends, Mask held) {
  const bool a = held(ends.a.info);
  const bool b = held(ends.b.info);
  if (a == b) return std::nullopt;
  return fabric.ref(a ? link.a : link.b);
}

constexpr const char* enable_advice =
    "if nobody wants it so, allow more at that end (ibportstate) and let the link train again";

/// What a link is at, of its width or of its speed.
template <class Value>
struct Rate {
  Rule rule;
  const char* key;  ///< of PortInfo
  Value active;
  Value allowed;  ///< by both ends
  Value able;     ///< are both ends to this
  bool (*is_less)(Value, Value);
  Value (*of)(const mad::LinkMode&);
  const char* cable_advice;
};

template <class Value>
void judge_rate(const Fabric& fabric, const Link& link, const Ends& ends, const Rate<Value>& rate,
                std::vector<Finding>& found) {
  if (rate.is_less(rate.active, rate.allowed)) {
    Finding finding = about(fabric, link, rate.rule, Sureness::Sure);
    finding.what = fmt::format("runs at {}, and both ends have {} enabled", to_string(rate.active),
                               to_string(rate.allowed));
    finding.advice = rate.cable_advice;
    found.push_back(std::move(finding));
  } else if (rate.is_less(rate.active, rate.able)) {
    Finding finding = about(fabric, link, rate.rule, Sureness::Likely);
    finding.what = fmt::format("is allowed {} only ({}), and both ends can do {}", to_string(rate.active),
                               rate.key, to_string(rate.able));
    finding.advice = enable_advice;
    finding.blame = holder(fabric, link, ends, [&](const mad::PortInfo& info) {
      return rate.is_less(rate.of(mad::best_common(info, info, mad::By::Enabled)),
                          rate.of(mad::best_common(info, info, mad::By::Supported)));
    });
    found.push_back(std::move(finding));
  }
}

/// Both rules of one link. Whether any was broken.
bool judge_rates(const Survey& survey, const Link& link, std::vector<Finding>& found) {
  const Fabric& fabric = *survey.fabric;
  const Ends ends{survey.port(link.a), survey.port(link.b)};
  if (!ends.a.known || !ends.b.known) return false;
  const mad::LinkMode allowed = mad::best_common(ends.a.info, ends.b.info, mad::By::Enabled);
  const mad::LinkMode able = mad::best_common(ends.a.info, ends.b.info, mad::By::Supported);
  const std::size_t before = found.size();
  const Rate<LinkWidth> width{
      .rule = Rule::LinkWidth,
      .key = "LinkWidthEnabled",
      .active = link.width,
      .allowed = allowed.width,
      .able = able.width,
      .is_less = is_narrower,
      .of = [](const mad::LinkMode& mode) { return mode.width; },
      .cable_advice =
          "reseat both plugs, then change the cable; if that does not help, try another port at "
          "one end and then at the other"};
  judge_rate(fabric, link, ends, width, found);
  // What an end does not show cannot be compared.
  if (hides(survey, link.a) || hides(survey, link.b)) return found.size() > before;
  const Rate<LinkSpeed> speed{
      .rule = Rule::LinkSpeed,
      .key = "LinkSpeedEnabled",
      .active = link.speed,
      .allowed = allowed.speed,
      .able = able.speed,
      .is_less = is_slower,
      .of = [](const mad::LinkMode& mode) { return mode.speed; },
      .cable_advice =
          "the cable may be of an older kind, or bad: change it for one that is made for this speed"};
  judge_rate(fabric, link, ends, speed, found);
  return found.size() > before;
}

using Trunks = std::map<std::pair<NodeIndex, NodeIndex>, std::vector<LinkIndex>>;

/// `explained`: links of which their own rules say enough.
void judge_trunks(const Fabric& fabric, const Trunks& trunks, const std::vector<bool>& explained,
                  std::vector<Finding>& found) {
  for (const auto& [switches, links] : trunks) {
    BitRate best;
    for (const LinkIndex i : links) {
      best = std::max(best, data_rate(fabric.link(i).width, fabric.link(i).speed));
    }
    for (const LinkIndex i : links) {
      const Link& link = fabric.link(i);
      const BitRate rate = data_rate(link.width, link.speed);
      if (rate >= best || explained[i.raw()]) continue;
      Finding finding = about(fabric, link, Rule::TrunkRate, Sureness::Likely);
      finding.what = fmt::format(
          "carries {:.3g} Gbit/s, and others of the {} links between the same two switches {:.3g}",
          rate.value() / 1e9, links.size(), best.value() / 1e9);
      finding.advice =
          "its ends cannot do more with each other: look whether the right ports, cards and cables are in "
          "use";
      found.push_back(std::move(finding));
    }
  }
}

void judge_descriptions(const Fabric& fabric, std::vector<Finding>& found) {
  std::map<std::string_view, std::vector<NodeIndex>> by_text;
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const Node& node = fabric.nodes()[i];
    // All aggregation nodes are called by their product.
    if (!node.description.empty() && !node.aggregation) by_text[node.description].push_back(NodeIndex{i});
  }
  for (const auto& [text, its_nodes] : by_text) {
    const std::vector<NodeIndex>& nodes = its_nodes;  // clang lets no lambda take a structured binding
    if (nodes.size() < 2) continue;
    const auto system = [&](NodeIndex i) { return fabric.node(i).system_image_guid; };
    // Chips of one housing, or adapters of one board, may well have one name.
    const bool one_system = system(nodes.front()) != 0 && std::ranges::all_of(nodes, [&](NodeIndex i) {
                              return system(i) == system(nodes.front());
                            });
    if (one_system) continue;
    const std::string guids =
        list_of(nodes, most_named, [&](NodeIndex i) { return to_string(fabric.node(i).guid); });
    Finding finding;
    finding.rule = Rule::DuplicateDescription;
    finding.sureness = Sureness::Sure;
    finding.at = {fabric.node(nodes.front()).guid, PortNum{0}};
    finding.what = fmt::format("{} nodes are called \"{}\": {}", nodes.size(), printable(text), guids);
    finding.advice = "give each node a name of its own: names in tables, alerts and job scripts mean several";
    found.push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> judge_standing(const Survey& survey, const std::set<LinkRef>& willed) {
  const Fabric& fabric = *survey.fabric;
  std::vector<Finding> found;
  Trunks trunks;
  std::vector<bool> explained(fabric.links().size());
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.links()[i];
    if (!is_active(fabric, link) || (!willed.empty() && willed.contains(link_ref(fabric, link)))) continue;
    explained[i] = judge_rates(survey, link, found);
    if (joins_switches(fabric, link) && link.a.node != link.b.node) {
      trunks[std::minmax(link.a.node, link.b.node)].push_back(LinkIndex{i});
    }
  }
  judge_trunks(fabric, trunks, explained, found);
  judge_descriptions(fabric, found);
  return found;
}

}  // namespace heddle::health
