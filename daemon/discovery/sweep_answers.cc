/// What a sweep makes of the answers, and of none.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "discovery/sweep.h"
#include "transport/requests.h"

namespace heddle::discovery {
namespace {

using transport::Completion;
using transport::Outcome;

bool is_up(const mad::PortInfo& info) {
  return info.physical == PhysState::LinkUp && info.state >= PortState::Init;
}

mad::SmAttr attribute_of(std::uint16_t raw) { return static_cast<mad::SmAttr>(raw); }

/// Whose ports at QDR may be at FDR10, and who answers ExtendedPortInfo: Mellanox devices from ConnectX-3 and
/// SwitchX on. Older ones would not answer at all.
bool has_extended_port_info(const mad::NodeInfo& info) {
  constexpr std::uint32_t mellanox = 0x2c9;
  const auto device = info.device_id;
  return info.vendor_id == mellanox &&
         ((device >= 0x1003 && device <= 0x101b) || (device >= 0xc738 && device <= 0xc73b) ||
          device == 0xc839 || device == 0xcb20 || device == 0xcf08 || device == 0xd2f0);
}

bool worth_asking_extended(const SurveyNode& node, const mad::PortInfo& info) {
  return has_extended_port_info(node.info) && is_up(info) && mad::active_speed(info) == LinkSpeed::Qdr;
}

}  // namespace

void Sweep::answered(const Task& task, const mad::Packet& answer) {
  const auto data = mad::smp_data(answer.mad);
  switch (task.op) {
    case Op::Probe:
      arrived(task, mad::decode<mad::NodeInfo>(data));
      break;
    case Op::Identify:
      identified(task, mad::decode<mad::NodeInfo>(data));
      break;
    case Op::Description:
      nodes_[task.node].description = mad::decode<mad::NodeDescription>(data).text;
      break;
    case Op::SwitchInfo:
      on_switch_info(task, mad::decode<mad::SwitchInfo>(data));
      break;
    case Op::ClearChange:
      nodes_[task.node].switch_info->port_state_change = false;
      enquire_ports(task.node);
      break;
    case Op::PortInfo:
    case Op::PlainPortInfo:
      on_port_info(task, mad::decode<mad::PortInfo>(data));
      break;
    case Op::ExtendedPort: {
      SurveyPort& port = nodes_[task.node].ports[task.port.raw()];
      const auto ext = mad::decode<mad::MlnxExtPortInfo>(data);
      port.speed = mad::active_speed(port.info, &ext);
      break;
    }
  }
}

void Sweep::unanswered(const Task& task, const Completion& completion) {
  SurveyNode& node = nodes_[task.node];
  const PortRef where{node.guid(), task.port};
  switch (task.op) {
    case Op::Probe:
      node.ports[task.port.raw()].silent = true;
      unheard_peer(node, task.port);
      problems_.add(ProblemKind::SilentPort, where,
                    fmt::format("{} is up, but nothing answers behind it ({})", name_of(node, task.port),
                                to_string(completion.outcome)));
      return;
    case Op::ExtendedPort:
      return;  // it is QDR, as PortInfo says
    case Op::ClearChange:
      enquire_ports(task.node);
      break;
    case Op::PortInfo:
      if (completion.outcome == Outcome::Refused || completion.outcome == Outcome::WrongAnswer) {
        ask(Op::PlainPortInfo, task.node, task.port);
        return;
      }
      break;
    default:
      break;
  }
  if (partial_ && completion.outcome != Outcome::Refused) {
    const auto route = mad::read_directed_route(completion.request->mad);
    unanswered_.emplace_back(task.node,
                             std::vector<PortNum>(route.initial_path.begin() + 1,
                                                  route.initial_path.begin() + 1 + route.hop_count));
    return;
  }
  if (task.op == Op::Identify) return;  // of the local node: finish() says so
  const auto attribute =
      static_cast<unsigned>(attribute_of(mad::read_header(completion.request->mad).attribute));
  if (completion.outcome == Outcome::Refused) {
    problems_.add(ProblemKind::Refused, where,
                  fmt::format("{} answers attribute {:#06x} with status {:#06x}", name_of(node, task.port),
                              attribute, completion.status));
  } else if (completion.outcome == Outcome::WrongAnswer) {
    problems_.add(
        ProblemKind::BadAnswer, where,
        fmt::format("{} answers something else than attribute {:#06x}", name_of(node, task.port), attribute));
  } else if (completion.outcome != Outcome::AgentSilent) {
    // Once silent, the rest of its attributes go the same way: one sentence is enough.
    problems_.add(ProblemKind::LostNode, where,
                  fmt::format("{} does not answer attribute {:#06x} ({})", name_of(node, task.port),
                              attribute, to_string(completion.outcome)));
  }
}

bool Sweep::plausible(const mad::NodeInfo& info, const PortRef& where) {
  const bool known_type =
      info.type == NodeType::ChannelAdapter || info.type == NodeType::Switch || info.type == NodeType::Router;
  if (!known_type || info.node_guid == NodeGuid{} || info.port_count == 0 || info.port_count > 254) {
    problems_.add(ProblemKind::BadAnswer, where,
                  fmt::format("what is behind port {} of {} answers a NodeInfo that means nothing: type {}, "
                              "{} ports, GUID {}",
                              where.port.raw(), to_string(where.node), static_cast<unsigned>(info.type),
                              info.port_count, to_string(info.node_guid)));
    return false;
  }
  // Only a switch has a port 0 (IBA 14.2.5.3), and only from within is it met there.
  const bool from_within = where == PortRef{};
  const bool no_such_port = info.local_port == PortNum{0} && !(from_within && info.type == NodeType::Switch);
  if (no_such_port || info.local_port.raw() > info.port_count) {
    problems_.add(
        ProblemKind::PortBeyond, {info.node_guid, info.local_port},
        fmt::format("node {} says that it was reached at its port {}, and has ports 1 to {}: left out",
                    to_string(info.node_guid), info.local_port.raw(), info.port_count));
    return false;
  }
  return true;
}

Sweep::Index Sweep::add(const mad::NodeInfo& info, std::vector<PortNum> path) {
  SurveyNode node;
  node.info = info;
  node.path = std::move(path);
  node.ports.resize(std::size_t{info.port_count} + 1);
  const auto index = static_cast<Index>(nodes_.size());
  index_.emplace(info.node_guid, index);
  nodes_.push_back(std::move(node));
  return index;
}

void Sweep::identified(const Task& task, const mad::NodeInfo& info) {
  SurveyNode& node = nodes_[task.node];
  if (partial_) {
    if (info.node_guid != node.guid() || info.port_count != node.info.port_count ||
        info.type != node.info.type) {
      give_up({ErrorCode::Conflict, fmt::format("{} is not where it was", name_of(node))});
      return;
    }
    for (SurveyPort& port : node.ports) port.known = port.silent = false;
    enquire(task.node);
    return;
  }
  if (!plausible(info, {})) return;
  local_ = info.node_guid;
  nodes_.clear();
  const Index index = add(info, {});
  nodes_[index].ports[info.type == NodeType::Switch ? 0 : info.local_port.raw()].guid = info.port_guid;
  enquire(index);
}

void Sweep::arrived(const Task& task, const mad::NodeInfo& info) {
  const PortRef from{nodes_[task.node].guid(), task.port};
  if (!plausible(info, from)) return;
  const PortRef to{info.node_guid, info.local_port};
  const auto [it, is_new] = index_.try_emplace(info.node_guid, 0);
  if (is_new) {
    index_.erase(it);
    if (nodes_.size() >= options_.most_nodes) {
      if (nodes_.size() == options_.most_nodes) {
        problems_.add(ProblemKind::TooFar, from,
                      fmt::format("more than {} nodes: the rest is left out", options_.most_nodes));
      }
      return;
    }
    std::vector<PortNum> path = nodes_[task.node].path;
    path.push_back(task.port);
    const Index index = add(info, std::move(path));
    if (info.type == NodeType::Switch) nodes_[index].ports[0].guid = info.port_guid;
    enquire(index);
  }
  const Index index = index_.at(info.node_guid);
  SurveyNode& node = nodes_[index];
  if (node.info.type != info.type || node.info.port_count != info.port_count ||
      (node.is_switch() && node.info.port_guid != info.port_guid)) {
    problems_.add(ProblemKind::DuplicateGuid, to,
                  fmt::format("{} and what is behind {} are two nodes with one GUID: the second one is left "
                              "out",
                              name_of(node), name_of(nodes_[task.node], task.port)));
    return;
  }
  if (!node.is_switch()) {
    node.ports[info.local_port.raw()].guid = info.port_guid;
    // It may have been restarted, or come by another cable.
    if (partial_ && !is_new && !is_asked(index)) {
      suspected_[index] = 1;
      if (node.guid() != local_) {
        node.path = nodes_[task.node].path;
        node.path.push_back(task.port);
      }
      enquire(index);
    }
  } else if (partial_ && !is_new &&
             (node.ports[info.local_port.raw()].peer != from || trained_.contains({task.node, task.port}))) {
    suspect(index);  // a switch, too, may have been restarted since it was asked
  }
  auto& peer = nodes_[task.node].ports[task.port.raw()].peer;
  if (peer && *peer != to) lost_peer(nodes_[task.node], task.port);
  peer = to;
}

void Sweep::enquire(Index index) {
  // It has just answered, perhaps by another way than the one that it was silent on.
  engine_.forgive(transport::agent_of(nodes_[index].guid()));
  ask(Op::Description, index);
  if (nodes_[index].is_switch()) {
    ask(Op::SwitchInfo, index);  // its ports follow
  } else {
    enquire_ports(index);
  }
}

void Sweep::on_switch_info(const Task& task, const mad::SwitchInfo& info) {
  nodes_[task.node].switch_info = info;
  // Cleared before the ports are read: what changes from then on sets it again.
  if (info.port_state_change && options_.change_bits == ChangeBits::Clear) {
    ask(Op::ClearChange, task.node);
  } else {
    enquire_ports(task.node);
  }
}

void Sweep::enquire_ports(Index index) {
  const SurveyNode& node = nodes_[index];
  for (std::size_t p = node.is_switch() ? 0 : 1; p < node.ports.size(); ++p) {
    ask(Op::PortInfo, index, PortNum{static_cast<std::uint8_t>(p)});
  }
}

void Sweep::on_port_info(const Task& task, const mad::PortInfo& info) {
  SurveyNode& node = nodes_[task.node];
  SurveyPort& port = node.ports[task.port.raw()];
  if (partial_ && info.state == PortState::Init && port.info.state != PortState::Init)
    trained_.insert({task.node, task.port});
  port.known = true;
  port.info = info;
  port.speed = mad::active_speed(info);
  if (worth_asking_extended(node, info)) ask(Op::ExtendedPort, task.node, task.port);
  if (task.port == PortNum{0}) return;
  const auto& heard = info.state == PortState::Active ? options_.on_active : options_.on_inactive;
  if (heard && node.is_switch()) heard({node.guid(), task.port});
  const bool leads_on = node.is_switch() || (node.guid() == local_ && task.port == node.info.local_port);
  if (!is_up(info)) {
    if (leads_on && !node.is_switch()) {
      problems_.add(ProblemKind::OwnPort, {node.guid(), task.port},
                    fmt::format("{} is {} ({}): nothing of the fabric can be seen by it",
                                name_of(node, task.port), to_string(info.state), to_string(info.physical)));
    }
    lost_peer(node, task.port);
    return;
  }
  if (!leads_on) return;
  if (node.path.size() >= mad::DirectedRoute::max_hops) {
    problems_.add(ProblemKind::TooFar, {node.guid(), task.port},
                  fmt::format("{} is {} hops away: what is behind it cannot be reached",
                              name_of(node, task.port), node.path.size()));
    return;
  }
  ask(Op::Probe, task.node, task.port);
}

/// A switch at the other end of a link that is up says itself where it leads, and so does the own port: it
/// may only be slow, and may have said so already.
void Sweep::unheard_peer(SurveyNode& node, PortNum port) {
  const auto peer = node.ports[port.raw()].peer;
  const auto it = peer ? index_.find(peer->node) : index_.end();
  if (!partial_ || it == index_.end()) return lost_peer(node, port);
  if (!nodes_[it->second].is_switch() && peer->node != local_) return lost_peer(node, port);
  node.ports[port.raw()].peer.reset();
  note_way(node, port, nodes_[it->second], peer->port);
  suspect(it->second);
}

/// Whether directed routes lead over the cable between these, of which less is known.
void Sweep::note_way(const SurveyNode& node, PortNum port, const SurveyNode& other, PortNum back) {
  const auto leads_to = [](const SurveyNode& from, PortNum out, const SurveyNode& to) {
    return to.path.size() == from.path.size() + 1 && to.path.back() == out &&
           std::equal(from.path.begin(), from.path.end(), to.path.begin());
  };
  if (leads_to(node, port, other) || leads_to(other, back, node)) way_lost_ = true;
}

/// What was at the other end of a link that is gone: in a partial sweep it has something new to say, too.
void Sweep::lost_peer(SurveyNode& node, PortNum port) {
  const auto peer = std::exchange(node.ports[port.raw()].peer, std::nullopt);
  if (!peer || !partial_) return;
  const auto it = index_.find(peer->node);
  if (it == index_.end()) return;
  SurveyNode& other = nodes_[it->second];
  note_way(node, port, other, peer->port);
  if (other.is_switch()) {
    other.ports[peer->port.raw()].peer.reset();
    suspect(it->second);
  } else {
    SurveyPort& end = other.ports[peer->port.raw()];
    end.info.state = PortState::Down;
    end.info.physical = PhysState::Polling;
  }
}

}  // namespace heddle::discovery
