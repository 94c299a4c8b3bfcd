#include "check/topology.h"

#include <fmt/format.h>

#include <fstream>
#include <regex>
#include <stdexcept>

namespace wire {
namespace {

std::uint64_t guid_of(const std::string& quoted) {
  const auto dash = quoted.find('-');
  return std::stoull(dash == std::string::npos ? quoted : quoted.substr(dash + 1), nullptr, 16);
}

}  // namespace

Topology Topology::read(const std::string& path) {
  static const std::regex head(R"re((Switch|Ca|Rt)\s+(\d+)\s+"([^"]+)"\s*(?:#\s*"([^"]*)")?.*)re");
  static const std::regex port(R"re(\[(\d+)\](?:\([0-9a-fA-F]+\))?\s*"([^"]+)"\s*\[(\d+)\].*)re");
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  struct Line {
    End from;
    std::string peer;
    int peer_port;
  };
  Topology result;
  std::vector<Line> lines;
  int here = -1;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::smatch found;
    if (std::regex_match(line, found, head)) {
      here = result.node_called(found[3], std::stoi(found[2]));
      Node& node = result.nodes_[static_cast<std::size_t>(here)];
      node.name = found[4].matched ? found[4].str() : found[3].str();
      result.by_name_.emplace(node.name, here);
      if (found[1] == "Switch") {
        node.switch_number = static_cast<int>(result.switches_.size());
        result.switches_.push_back(here);
      }
    } else if (std::regex_match(line, found, port)) {
      if (here < 0) throw std::runtime_error(fmt::format("{}:{}: a port before any node", path, number));
      lines.push_back({{here, std::stoi(found[1])}, found[2], std::stoi(found[3])});
    }
  }
  for (const Line& each : lines) {
    const auto peer = result.by_quoted_.find(each.peer);
    if (peer == result.by_quoted_.end()) continue;  // half a cable is no cable
    Node& node = result.nodes_[static_cast<std::size_t>(each.from.node)];
    if (each.from.port < 1 || each.from.port > node.ports)
      throw std::runtime_error(fmt::format("{}: {} has no port {}", path, node.name, each.from.port));
    node.peers[static_cast<std::size_t>(each.from.port)] = {peer->second, each.peer_port};
  }
  if (result.switches_.empty()) throw std::runtime_error(path + ": no switch in it");
  result.connect();
  return result;
}

int Topology::node_called(const std::string& quoted, int ports) {
  const auto [at, added] = by_quoted_.emplace(quoted, static_cast<int>(nodes_.size()));
  if (!added) throw std::runtime_error(quoted + " stands there twice");
  Node node;
  node.guid = guid_of(quoted);
  node.ports = ports;
  node.peers.resize(static_cast<std::size_t>(ports) + 1);
  node.cables.assign(static_cast<std::size_t>(ports) + 1, -1);
  by_guid_.emplace(node.guid, at->second);
  nodes_.push_back(std::move(node));
  return at->second;
}

void Topology::connect() {
  for (int n = 0; n < static_cast<int>(nodes_.size()); ++n) {
    for (int p = 1; p <= node(n).ports; ++p) {
      const End from{n, p};
      const End to = peer(from);
      if (to.node < 0 || to < from || !(peer(to) == from)) continue;
      const int cable = static_cast<int>(cables_.size());
      cables_.push_back({from, to});
      nodes_[static_cast<std::size_t>(n)].cables[static_cast<std::size_t>(p)] = cable;
      nodes_[static_cast<std::size_t>(to.node)].cables[static_cast<std::size_t>(to.port)] = cable;
    }
  }
}

std::optional<int> Topology::by_guid(std::uint64_t guid) const {
  const auto found = by_guid_.find(guid);
  return found == by_guid_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<int> Topology::by_name(const std::string& name) const {
  if (name.starts_with("0x")) return by_guid(std::stoull(name, nullptr, 16));
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional{found->second};
}

End Topology::peer(End end) const {
  const Node& from = node(end.node);
  return end.port < 1 || end.port > from.ports ? End{} : from.peers[static_cast<std::size_t>(end.port)];
}

int Topology::cable_at(End end) const {
  const Node& from = node(end.node);
  return end.port < 1 || end.port > from.ports ? -1 : from.cables[static_cast<std::size_t>(end.port)];
}

std::string Topology::show(End end) const {
  return end.node < 0 ? "nowhere" : fmt::format("{}/{}", node(end.node).name, end.port);
}

std::string Topology::show_cable(int index) const {
  return fmt::format("{} -- {}", show(cable(index).a), show(cable(index).b));
}

}  // namespace wire
