#include "other_routes.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "subnet_reader.h"

namespace heddle::plugin {
namespace {

bool is_up(const osm_physp_t& port) {
  return is_heard(port) && osm_physp_get_port_state(&port) > IB_LINK_DOWN;
}

/// The port at the other end of the cable; null where none is known.
osm_physp_t* peer_of(const osm_physp_t& port) {
  osm_physp_t* const peer = osm_physp_get_remote(&port);
  return peer != nullptr && osm_physp_is_valid(peer) ? peer : nullptr;
}

}  // namespace

OtherRoutes::OtherRoutes(osm_subn_t& subnet, std::span<const osm_dr_path_t> in_vain) {
  const osm_port_t* const own = osm_get_port_by_guid(&subnet, subnet.sm_port_guid);
  if (own == nullptr || in_vain.empty()) return;
  own_ = own->p_physp;
  for (const osm_dr_path_t& route : in_vain) count(route);
  search();
}

/// By today's cables: the route may be of another day.
void OtherRoutes::count(const osm_dr_path_t& in_vain) {
  osm_node_t* at = own_->p_node;
  for (unsigned hop = 1; hop <= in_vain.hop_count; ++hop) {
    if (in_vain.path[hop] >= at->physp_tbl_size) return;
    const osm_physp_t* const port = osm_node_get_physp_ptr(at, in_vain.path[hop]);
    const osm_physp_t* const peer = port != nullptr ? peer_of(*port) : nullptr;
    if (peer == nullptr) return;
    ++cables_in_vain_[port];
    ++cables_in_vain_[peer];
    at = peer->p_node;
    if (hop < in_vain.hop_count) ++switches_in_vain_[at];
  }
}

/// Of the port's cable, and of its node, unless that is where all begins.
unsigned OtherRoutes::passed_in_vain(const osm_physp_t& port) const {
  const auto cable = cables_in_vain_.find(&port);
  const auto node = switches_in_vain_.find(port.p_node);
  return (cable != cables_in_vain_.end() ? cable->second : 0) +
         (node != switches_in_vain_.end() && port.p_node != own_->p_node ? node->second : 0);
}

void OtherRoutes::search() {
  std::set<std::pair<Cost, osm_node_t*>> open{{Cost{}, own_->p_node}};
  steps_[own_->p_node] = {};
  while (!open.empty()) {
    const Cost cost = open.begin()->first;
    osm_node_t* const node = open.begin()->second;
    open.erase(open.begin());
    if (!is_switch(*node) && node != own_->p_node) continue;
    for_each_port(*node, [&](osm_physp_t& port) {
      if (!is_switch(*node) && &port != own_) return;
      osm_physp_t* const peer = is_up(port) ? peer_of(port) : nullptr;
      if (peer == nullptr) return;
      const Cost next{cost.passed_in_vain + passed_in_vain(port), cost.hops + 1};
      const auto known = steps_.find(peer->p_node);
      if (known != steps_.end() && known->second.cost <= next) return;
      if (known != steps_.end()) open.erase({known->second.cost, peer->p_node});
      steps_[peer->p_node] = {.cost = next, .last = &port};
      open.emplace(next, peer->p_node);
    });
  }
}

std::optional<osm_dr_path_t> OtherRoutes::path_to(const osm_node_t& node) const {
  auto step = steps_.find(&node);
  if (step == steps_.end()) return std::nullopt;
  std::vector<std::uint8_t> egress;
  for (; step->second.last != nullptr; step = steps_.find(step->second.last->p_node))
    egress.push_back(step->second.last->port_num);
  osm_dr_path_t path{};
  for (auto port = egress.rbegin(); port != egress.rend(); ++port) {
    if (osm_dr_path_extend(&path, *port) != 0) return std::nullopt;
  }
  return path;
}

std::optional<OtherRoutes::Route> OtherRoutes::to(const osm_node_t& node) const {
  const auto step = steps_.find(&node);
  const auto path = path_to(node);
  if (!path || step->second.last == nullptr) return std::nullopt;
  return Route{.path = *path, .last = step->second.last};
}

bool OtherRoutes::lead_elsewhere(osm_node_t& node) const {
  const auto path = path_to(node);
  const osm_physp_t* const agent = osm_node_get_physp_ptr(&node, 0);
  if (!path || agent == nullptr) return false;
  const osm_dr_path_t& now = *osm_physp_get_dr_path_ptr(agent);
  // path[0] is no hop (IBA 14.2.1.2).
  return !std::equal(path->path + 1, path->path + 1 + path->hop_count, now.path + 1,
                     now.path + 1 + now.hop_count);
}

std::optional<OtherRoutes::Route> OtherRoutes::to(const osm_physp_t& port) const {
  osm_physp_t* const peer = peer_of(port);
  if (peer == nullptr || !is_up(*peer)) return std::nullopt;
  auto path = path_to(*peer->p_node);
  if (!path || osm_dr_path_extend(&*path, peer->port_num) != 0) return std::nullopt;
  return Route{.path = *path, .last = peer};
}

}  // namespace heddle::plugin
