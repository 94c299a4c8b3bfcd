#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "fabric/topology.h"

namespace heddle::topology {
namespace {

constexpr std::size_t max_description = 64;  // NodeDescription, IBA 14.2.5.2

/// SHARP aggregation nodes sit inside switches and carry no host.
bool is_aggregation_node(const Node& node) {
  constexpr std::uint32_t mellanox = 0x2c9;
  constexpr std::uint16_t aggregation_device = 0xcf09;
  return node.type == NodeType::ChannelAdapter &&
         ((node.vendor_id == mellanox && node.device_id == aggregation_device) ||
          node.description.find("Aggregation Node") != std::string::npos);
}

/// Puts the records together and notes what does not fit.
class Assembly {
 public:
  explicit Assembly(Records records) : records_{std::move(records)} {}

  void add_nodes();
  void add_ports();
  void add_cables();
  void check_lids(const Fabric& fabric);
  [[nodiscard]] std::shared_ptr<const Fabric> build() { return builder_.build(); }
  [[nodiscard]] const Findings& findings() const { return records_.findings; }

 private:
  struct End {
    const PortRecord* record = nullptr;
    std::optional<LinkEnd> peer;
    bool done = false;
  };

  template <class... Args>
  void warn(Kind kind, Place place, fmt::format_string<Args...> text, Args&&... args) {
    records_.findings.add(kind, records_.at(place) + ": " + fmt::format(text, std::forward<Args>(args)...));
  }

  [[nodiscard]] std::string called(NodeIndex node) const {
    return in_quotes(builder_.node(node).description);
  }
  [[nodiscard]] std::uint32_t described_at(NodeIndex node) const { return places_[node.raw()].line; }
  void add_ports(NodeIndex node, const NodeRecord& record);
  [[nodiscard]] std::optional<LinkEnd> peer_of(const PortRecord& record);
  void join(LinkEnd a, End& end, End* other);
  void guess_guid(LinkEnd at, std::optional<PortGuid> told);
  void check_guid(const PortRecord& line, LinkEnd peer);
  [[nodiscard]] End* end_at(LinkEnd at);

  Records records_;
  FabricBuilder builder_;
  std::unordered_map<std::string, NodeIndex> by_name_;
  std::vector<std::pair<NodeIndex, const NodeRecord*>> kept_;
  std::vector<Place> places_;           // by node
  std::vector<std::vector<End>> ends_;  // by node and port
};

void Assembly::add_nodes() {
  for (NodeRecord& record : records_.nodes) {
    Node& node = record.node;
    if (node.description.size() > max_description) {
      warn(Kind::DescriptionCut, record.place, "the description {} has more than {} bytes and is cut",
           in_quotes(node.description), max_description);
      node.description.resize(max_description);
    }
    node.aggregation = is_aggregation_node(node);
    const auto named = by_name_.find(record.name);
    const NodeIndex twin = builder_.find_node(node.guid);
    if (twin == no_node && named == by_name_.end()) {
      const auto added = builder_.add_node(node);
      if (!added) {
        warn(Kind::NodeRefused, record.place, "{}; the node is left out", added.error().message);
        continue;
      }
      by_name_.emplace(record.name, *added);
      kept_.emplace_back(*added, &record);
      places_.push_back(record.place);
      ends_.emplace_back(node.port_count + 1U);
      continue;
    }
    // The output of ibnetdiscover -g has the switches of a chassis twice.
    const bool same = twin != no_node && named != by_name_.end() && named->second == twin &&
                      builder_.node(twin).type == node.type &&
                      builder_.node(twin).port_count == node.port_count;
    if (same) {
      kept_.emplace_back(twin, &record);
    } else if (twin != no_node) {
      warn(Kind::OneGuidTwice, record.place,
           "two nodes have the GUID {}: {} on line {}, and {} here, which is left out", to_string(node.guid),
           called(twin), described_at(twin), in_quotes(node.description));
    } else {
      warn(Kind::OneNameTwice, record.place,
           "two nodes are called {}: one on line {}, and one here, which is left out", in_quotes(record.name),
           described_at(named->second));
    }
  }
}

void Assembly::add_ports() {
  for (const auto& [node, record] : kept_) add_ports(node, *record);
}

void Assembly::add_ports(NodeIndex node, const NodeRecord& record) {
  const bool is_switch = record.node.type == NodeType::Switch;
  if (is_switch) {
    Port port0 = builder_.port(node, PortNum{0});
    port0.guid = record.port0_guid;
    port0.lid = record.lid;
    port0.lmc = record.lmc;
    (void)builder_.set_port(node, port0);
  }
  for (const PortRecord& line : record.ports) {
    if (line.port == PortNum{0} || line.port.raw() > record.node.port_count) {
      warn(Kind::NoSuchPort, line.place, "port {} of {}, which has ports 1 to {}; the line is left out",
           line.port.raw(), called(node), record.node.port_count);
      continue;
    }
    End& end = ends_[node.raw()][line.port.raw()];
    if (end.record != nullptr) {
      if (end.record->peer != line.peer || end.record->peer_port != line.peer_port) {
        warn(Kind::TwoCables, line.place,
             "port {} of {} has a cable already, to {} port {} (line {}); this one is left out",
             line.port.raw(), called(node), in_quotes(end.record->peer), end.record->peer_port.raw(),
             end.record->place.line);
      }
      continue;
    }
    end.record = &line;
    Port port = builder_.port(node, line.port);
    port.width = line.width;
    port.speed = line.speed;
    if (!is_switch) {
      port.guid = line.guid.value_or(PortGuid{record.node.guid.raw() + line.port.raw()});
      port.lid = line.lid.value_or(no_lid);
      port.lmc = line.lmc;
    }
    (void)builder_.set_port(node, port);
  }
}

std::optional<LinkEnd> Assembly::peer_of(const PortRecord& record) {
  const auto peer = by_name_.find(record.peer);
  if (peer == by_name_.end()) {
    warn(Kind::NotDescribed, record.place, "the cable leads to {}, which is not described; it is left out",
         in_quotes(record.peer));
    return std::nullopt;
  }
  const unsigned ports = builder_.node(peer->second).port_count;
  if (record.peer_port == PortNum{0} || record.peer_port.raw() > ports) {
    warn(Kind::NoSuchPort, record.place,
         "the cable leads to port {} of {}, which has ports 1 to {}; it is left out", record.peer_port.raw(),
         called(peer->second), ports);
    return std::nullopt;
  }
  return LinkEnd{peer->second, record.peer_port};
}

Assembly::End* Assembly::end_at(LinkEnd at) {
  End& end = ends_[at.node.raw()][at.port.raw()];
  return end.record == nullptr ? nullptr : &end;
}

void Assembly::join(LinkEnd a, End& end, End* other) {
  const PortRecord& here = *end.record;
  const PortRecord& there = other == nullptr ? here : *other->record;
  if (here.width != there.width || here.speed != there.speed) {
    warn(Kind::RatesDiffer, there.place,
         "the ends of a cable differ: {}{} here, {}{} on line {}; the slower counts", to_string(there.width),
         to_string(there.speed), to_string(here.width), to_string(here.speed), here.place.line);
  }
  if (other == nullptr) {
    guess_guid(*end.peer, here.peer_guid);
  } else {
    check_guid(here, *end.peer);
    check_guid(there, a);
  }
  const auto joined =
      builder_.add_link(a, *end.peer, std::min(here.width, there.width), std::min(here.speed, there.speed));
  if (!joined) warn(Kind::TwoCables, here.place, "{}; this one is left out", joined.error().message);
  if (joined && a.node == end.peer->node) {
    warn(Kind::OwnSwitch, here.place, "port {} of {} is cabled to its own port {}", a.port.raw(),
         called(a.node), end.peer->port.raw());
  }
  end.done = true;
  if (other != nullptr) other->done = true;
}

void Assembly::guess_guid(LinkEnd at, std::optional<PortGuid> told) {
  const Node& node = builder_.node(at.node);
  if (node.type == NodeType::Switch) return;
  Port port = builder_.port(at.node, at.port);
  port.guid = told.value_or(PortGuid{node.guid.raw() + at.port.raw()});
  (void)builder_.set_port(at.node, port);
}

void Assembly::check_guid(const PortRecord& line, LinkEnd peer) {
  if (!line.peer_guid || builder_.node(peer.node).type == NodeType::Switch) return;
  const PortGuid guid = builder_.port(peer.node, peer.port).guid;
  if (guid == *line.peer_guid) return;
  warn(Kind::GuidsDiffer, line.place,
       "port {} of {} has the GUID {} here, and {} where its node is described, which counts",
       peer.port.raw(), called(peer.node), to_string(*line.peer_guid), to_string(guid));
}

void Assembly::add_cables() {
  for (const auto& [node, record] : kept_) {
    for (End& end : ends_[node.raw()]) {
      if (end.record != nullptr && !end.peer && !end.done) {
        end.peer = peer_of(*end.record);
        end.done = !end.peer;
      }
    }
  }
  // What both ends say comes first; then what only one end says, if nothing speaks against it.
  for (const bool both_ends : {true, false}) {
    for (std::uint32_t n = 0; n < ends_.size(); ++n) {
      for (std::uint32_t p = 1; p < ends_[n].size(); ++p) {
        End& end = ends_[n][p];
        if (end.record == nullptr || end.done) continue;
        const LinkEnd here{NodeIndex{n}, PortNum{static_cast<std::uint8_t>(p)}};
        End* const other = end_at(*end.peer);
        if (both_ends) {
          if (other != nullptr && other != &end && other->peer == here) join(here, end, other);
          continue;
        }
        const Place place = end.record->place;
        if (other == &end) {
          warn(Kind::ToItself, place, "port {} of {} is cabled to itself; the line is left out", p,
               called(here.node));
        } else if (other != nullptr) {
          warn(Kind::EndsDisagree, place,
               "the cable leads to port {} of {}, whose line {} says otherwise; it is left out",
               end.peer->port.raw(), called(end.peer->node), other->record->place.line);
        } else {
          warn(Kind::OneEnd, place, "the cable to port {} of {} is seen from this end only",
               end.peer->port.raw(), called(end.peer->node));
          join(here, end, nullptr);
        }
      }
    }
  }
}

void Assembly::check_lids(const Fabric& fabric) {
  for (const auto& [node, record] : kept_) {
    for (unsigned p = 0; p <= fabric.node(node).port_count; ++p) {
      const PortIndex index = fabric.port_index(node, PortNum{static_cast<std::uint8_t>(p)});
      const Port& port = fabric.port(index);
      if (port.lid == no_lid) continue;
      const PortRecord* const line = ends_[node.raw()][p].record;
      const Place place = line == nullptr ? record->place : line->place;
      if (last_unicast_lid < port.lid) {
        warn(Kind::LidNotUnicast, place, "LID {} is not a unicast LID (1 to {})", port.lid.raw(),
             last_unicast_lid.raw());
        continue;
      }
      for (unsigned i = 0; i < 1U << port.lmc; ++i) {
        const PortIndex owner = fabric.find_port(Lid{static_cast<std::uint16_t>(port.lid.raw() + i)});
        if (owner == index || owner == no_port) continue;
        warn(Kind::LidTaken, place, "LID {} is also that of port {} of {}", port.lid.raw() + i,
             fabric.port(owner).num.raw(), in_quotes(fabric.node(fabric.port(owner).node).description));
        break;
      }
    }
  }
}

}  // namespace

Result<ParsedFabric> assemble(Records records, Losses losses) {
  const std::string file = records.files.front();
  Assembly assembly{std::move(records)};
  assembly.add_nodes();
  assembly.add_ports();
  assembly.add_cables();
  ParsedFabric result;
  result.fabric = assembly.build();
  assembly.check_lids(*result.fabric);
  const Findings& findings = assembly.findings();
  result.warnings = findings.brief();
  result.losses = findings.losses();
  if (losses == Losses::Refuse && !result.losses.empty()) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("{}: it contradicts itself, and not all of it can be kept: {}. To go on with the rest: "
                    "--partial (heddled: fabric.partial = true)",
                    file, joined(result.losses, "; ")));
  }
  result.details = findings.all();
  return result;
}

}  // namespace heddle::topology
