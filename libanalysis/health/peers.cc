#include "health/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace heddle::health {
namespace {

/// Of fewer nodes none is the odd one.
constexpr std::size_t least_peers = 5;
/// More than this share of them is a fabric of several kinds; one alone is odd in any case.
constexpr double most_odd = 0.1;

/// What a node is, and the nodes of which it should be the same.
struct Value {
  NodeIndex node;
  std::uint32_t value;
};

/// Those that have not what nearly all have, with that value and how many have it.
struct Odd {
  Value one;
  std::uint32_t usual;
  std::size_t usual_count;
  std::size_t all;
};

std::vector<Odd> odd_among(const std::vector<Value>& peers) {
  if (peers.size() < least_peers) return {};
  std::map<std::uint32_t, std::size_t> counts;
  for (const Value& each : peers) ++counts[each.value];
  const auto usual = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  const std::size_t others = peers.size() - usual->second;
  if (others > 1 && static_cast<double>(others) > most_odd * static_cast<double>(peers.size())) return {};
  std::vector<Odd> odd;
  for (const Value& each : peers) {
    if (each.value != usual->first) odd.push_back({each, usual->first, usual->second, peers.size()});
  }
  return odd;
}

Finding about(const Fabric& fabric, const Odd& odd) {
  Finding finding;
  finding.rule = Rule::OddDevice;
  finding.sureness = Sureness::Likely;
  finding.at = PortRef{fabric.node(odd.one.node).guid, PortNum{0}};
  finding.blame = finding.at;
  return finding;
}

bool is_judged(const Node& node) { return !node.aggregation && node.type != NodeType::Router; }

/// Where a node's peers are: adapters at one switch; switches of one size that have hosts, or that have none.
using Place = std::tuple<NodeType, std::uint32_t, bool>;

Place place_of(const Fabric& fabric, NodeIndex index) {
  const Node& node = fabric.node(index);
  const bool is_switch = node.type == NodeType::Switch;
  bool has_hosts = false;
  std::uint32_t at = no_node.raw();
  for (unsigned p = 1; p <= node.port_count; ++p) {
    const auto peer = fabric.peer({index, PortNum{static_cast<std::uint8_t>(p)}});
    if (!peer) continue;
    const Node& other = fabric.node(peer->node);
    has_hosts = has_hosts || (other.type != NodeType::Switch && !other.aggregation);
    if (at == no_node.raw()) at = peer->node.raw();
  }
  return is_switch ? Place{node.type, node.port_count, has_hosts} : Place{node.type, at, false};
}

void judge_devices(const Survey& survey, std::vector<Finding>& found) {
  const Fabric& fabric = *survey.fabric;
  std::map<Place, std::vector<Value>> places;
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    if (!is_judged(fabric.nodes()[i])) continue;
    places[place_of(fabric, NodeIndex{i})].push_back({NodeIndex{i}, survey.nodes[i].info.device_id});
  }
  for (const auto& [place, peers] : places) {
    for (const Odd& odd : odd_among(peers)) {
      const bool is_switch = std::get<NodeType>(place) == NodeType::Switch;
      Finding finding = about(fabric, odd);
      finding.what = fmt::format(
          "is a device {:#06x}, and {} of the {} {} are {:#06x}", odd.one.value, odd.usual_count, odd.all,
          is_switch ? "switches of its size and level" : "adapters at its switch", odd.usual);
      finding.advice =
          "see whether that is the part that was meant to be there; if so, health.off = "
          "[\"odd-device\"] hides the rule";
      found.push_back(std::move(finding));
    }
  }
}

void judge_revisions(const Survey& survey, std::vector<Finding>& found) {
  const Fabric& fabric = *survey.fabric;
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::vector<Value>> devices;
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const mad::NodeInfo& info = survey.nodes[i].info;
    if (!is_judged(fabric.nodes()[i])) continue;
    devices[{info.vendor_id, info.device_id}].push_back({NodeIndex{i}, info.revision});
  }
  for (const auto& [device, peers] : devices) {
    for (const Odd& odd : odd_among(peers)) {
      Finding finding = about(fabric, odd);
      finding.what = fmt::format("is revision {:#x} of device {:#06x}, and {} of {} are {:#x}", odd.one.value,
                                 device.second, odd.usual_count, odd.all, odd.usual);
      finding.advice =
          "compare firmware and board with those of its peers, and bring it to what they have if it "
          "misbehaves";
      found.push_back(std::move(finding));
    }
  }
}

void judge_firmware(const Fabric& fabric, const Firmwares& firmware, std::vector<Finding>& found) {
  std::map<std::string, std::vector<Value>> boards;
  std::vector<std::string> versions;
  for (const auto& [guid, runs] : firmware) {
    const NodeIndex node = fabric.find_node(guid);
    if (node == no_node || !is_judged(fabric.node(node))) continue;
    const std::string version = to_string(runs);
    const auto seen = std::ranges::find(versions, version);
    const auto number = static_cast<std::uint32_t>(seen - versions.begin());
    if (seen == versions.end()) versions.push_back(version);
    boards[runs.psid].push_back({node, number});
  }
  for (const auto& [board, peers] : boards) {
    for (const Odd& odd : odd_among(peers)) {
      Finding finding = about(fabric, odd);
      finding.what =
          fmt::format("runs firmware {}, and {} of the {} boards {} run {}", versions[odd.one.value],
                      odd.usual_count, odd.all, board, versions[odd.usual]);
      finding.advice = "bring its firmware to what its peers run, or theirs to what it runs";
      found.push_back(std::move(finding));
    }
  }
}

}  // namespace

std::vector<Finding> judge_peers(const Survey& survey, const Firmwares& firmware) {
  std::vector<Finding> found;
  judge_devices(survey, found);
  judge_revisions(survey, found);
  judge_firmware(*survey.fabric, firmware, found);
  // Of a node that is another device its revision says nothing.
  std::set<PortRef> told;
  std::erase_if(found, [&](const Finding& finding) { return !told.insert(finding.at).second; });
  return found;
}

}  // namespace heddle::health
