#include "other_routes.h"

#include <set>
#include <utility>
#include <vector>

#include "subnet_reader.h"

namespace heddle::plugin {
namespace {

/// The port at the other end of the cable, if this sweep found the link up; null else.
osm_physp_t* peer_of(const osm_physp_t& port) {
  osm_physp_t* const peer = osm_physp_get_remote(&port);
  const bool is_up = is_heard(port) && osm_physp_get_port_state(&port) > IB_LINK_DOWN;
  return is_up && peer != nullptr && osm_physp_is_valid(peer) ? peer : nullptr;
}

/// By which OpenSM asks the node: port 0 of a switch, the first one that has a route of a host.
const osm_dr_path_t* route_of(osm_node_t& node) {
  for (std::uint32_t p = is_switch(node) ? 0 : 1; p < node.physp_tbl_size; ++p) {
    osm_physp_t* const port = osm_node_get_physp_ptr(&node, p);
    if (port != nullptr && osm_physp_get_dr_path_ptr(port)->hop_count != 0)
      return osm_physp_get_dr_path_ptr(port);
  }
  return nullptr;
}

}  // namespace

OtherRoutes::OtherRoutes(osm_subn_t& subnet, std::span<osm_node_t* const> in_vain) {
  const osm_port_t* const own = osm_get_port_by_guid(&subnet, subnet.sm_port_guid);
  if (own == nullptr || in_vain.empty()) return;
  own_ = own->p_physp;
  for (osm_node_t* const node : in_vain) count(*node);
  search();
}

/// The cables on the node's route, from both ends.
void OtherRoutes::count(osm_node_t& in_vain) {
  const osm_dr_path_t* const route = route_of(in_vain);
  osm_node_t* at = own_->p_node;
  for (unsigned hop = 1; route != nullptr && hop <= route->hop_count; ++hop) {
    const osm_physp_t* const port = osm_node_get_physp_ptr(at, route->path[hop]);
    const osm_physp_t* const peer = port != nullptr ? osm_physp_get_remote(port) : nullptr;
    if (peer == nullptr) return;
    ++used_in_vain_[port];
    ++used_in_vain_[peer];
    at = peer->p_node;
  }
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
      osm_physp_t* const peer = peer_of(port);
      if (peer == nullptr) return;
      const auto used = used_in_vain_.find(&port);
      const Cost next{cost.used_in_vain + (used != used_in_vain_.end() ? used->second : 0), cost.hops + 1};
      const auto known = steps_.find(peer->p_node);
      if (known != steps_.end() && known->second.cost <= next) return;
      if (known != steps_.end()) open.erase({known->second.cost, peer->p_node});
      steps_[peer->p_node] = {.cost = next, .last = &port};
      open.emplace(next, peer->p_node);
    });
  }
}

std::optional<OtherRoutes::Route> OtherRoutes::to(const osm_node_t& node) const {
  std::vector<std::uint8_t> egress;
  osm_physp_t* last = nullptr;
  for (auto step = steps_.find(&node); step != steps_.end() && step->second.last != nullptr;
       step = steps_.find(step->second.last->p_node)) {
    if (last == nullptr) last = step->second.last;
    egress.push_back(step->second.last->port_num);
  }
  if (last == nullptr) return std::nullopt;
  Route route{.path = {}, .last = last};
  for (auto port = egress.rbegin(); port != egress.rend(); ++port) {
    if (osm_dr_path_extend(&route.path, *port) != 0) return std::nullopt;
  }
  return route;
}

}  // namespace heddle::plugin
