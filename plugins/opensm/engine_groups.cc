// Trees of multicast groups: which entries OpenSM is given, and when.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

#include "engine.h"
#include "routing/multicast.h"
#include "subnet_reader.h"

namespace heddle::plugin {

osm_switch_t* Engine::find_switch(NodeGuid guid) const {
  cl_map_item_t* item = cl_qmap_get(&opensm_.subn.sw_guid_tbl, cl_hton64(guid.raw()));
  return item == cl_qmap_end(&opensm_.subn.sw_guid_tbl) ? nullptr : reinterpret_cast<osm_switch_t*>(item);
}

GroupStages::Leads Engine::where_leads(const PortRef& ref) const {
  if (find_switch(ref.node) == nullptr) return GroupStages::Leads::Unknown;
  return GroupStages::where_leads(ref, *routes_->fabric, usable_);
}

/// OpenSM has cleared the group's entries before.
void Engine::hand_over(std::uint16_t mlid, GroupStages::Tree wanted) {
  const std::lock_guard lock(groups_mutex_);
  packets_live_ = packet_life();
  const auto& write = stages_.next(
      mlid, std::move(wanted), [this](const PortRef& port) { return where_leads(port); },
      Timings::Clock::now());
  for (const PortRef& port : write) {
    osm_switch_t* sw = find_switch(port.node);
    if (sw != nullptr && sw->mcast_tbl.p_mask_tbl != nullptr)
      osm_mcast_tbl_set(&sw->mcast_tbl, mlid, port.port.raw());
  }
}

ib_api_status_t Engine::multicast(osm_mgrp_box_t& group) {
  osm_purge_mtree(&opensm_.sm, &group);
  trees_.erase(group.mlid);
  if (!routes_) return IB_ERROR;
  const routing::SwitchGraph& graph = maker_.router().graph();
  const Fabric& fabric = *routes_->fabric;
  std::map<PortRef, routing::MulticastMember> members;  // a port may be in several groups of one MLID
  std::size_t lost = 0;
  for (cl_list_item_t* item = cl_qlist_head(&group.mgrp_list); item != cl_qlist_end(&group.mgrp_list);
       item = cl_qlist_next(item)) {
    // As OpenSM finds it: the list item is a member of the group.
    auto* mgrp =
        reinterpret_cast<osm_mgrp_t*>(reinterpret_cast<char*>(item) - offsetof(osm_mgrp_t, list_item));
    for_each<osm_mcm_port_t>(mgrp->mcm_port_tbl, [&](osm_mcm_port_t& member) {
      osm_physp_t* port = member.port->p_physp;
      osm_physp_t* at = member.port->p_node->sw != nullptr ? port : osm_physp_get_remote(port);
      const NodeIndex node = at != nullptr ? fabric.find_node(guid_of(*at->p_node)) : no_node;
      const routing::SwitchIndex s = node != no_node ? graph.find(node) : routing::no_switch;
      if (s == routing::no_switch) {
        ++lost;
      } else {
        members.emplace(ref_of(*port), routing::MulticastMember{s, PortNum{at->port_num}});
      }
    });
  }
  if (members.size() + lost < 2) {  // nobody to send to
    hand_over(group.mlid, {});
    return IB_SUCCESS;
  }

  std::vector<routing::MulticastMember> list;
  for (const auto& [ref, member] : members) list.push_back(member);
  const routing::MulticastTree tree =
      routing::grow_tree(graph, maker_.router().ranks(), routes_->permitted, list, group.mlid);
  const std::vector<osm_switch_t*> all = switches();
  GroupStages::Tree wanted;
  for (const routing::MulticastTree::Port& port : tree.ports) {
    osm_switch_t* sw = all[port.sw.raw()];
    if (sw == nullptr || sw->mcast_tbl.p_mask_tbl == nullptr || !osm_switch_supports_mcast(sw)) {
      ++lost;
      continue;
    }
    wanted.insert({graph.guid(port.sw), port.port});
  }
  hand_over(group.mlid, std::move(wanted));
  lost += tree.unreached;
  KeptTree& kept = trees_[group.mlid];
  for (const LinkIndex link : tree.links) kept.links.push_back(link_ref(fabric, fabric.link(link)));
  kept.whole = lost == 0 && tree.in_order;
  if (lost != 0) {
    log_.error("HE05", fmt::format("MLID {:#x}: {} of {} members or switches cannot be reached", group.mlid,
                                   lost, members.size()));
  }
  return IB_SUCCESS;
}

std::size_t Engine::reroute_concerned_groups() {
  if (opensm_.subn.opt.disable_multicast) return 0;
  std::size_t waiting = 0;
  std::vector<std::uint16_t> concerned;
  for (const auto& [mlid, tree] : trees_) {
    if (!still_good(tree, *routes_)) concerned.push_back(mlid);
  }
  {
    const std::lock_guard lock(groups_mutex_);
    // Those of an earlier pass may not have their trees yet.
    std::vector<std::uint16_t> all;
    std::ranges::set_union(pending_, concerned, std::back_inserter(all));
    pending_ = std::move(all);
    waiting = pending_.size();
  }
  for (const std::uint16_t mlid : concerned) osm_sm_reroute_mlid(&opensm_.sm, cl_hton16(mlid));
  return waiting;
}

/// Every block has been answered: after a sweep, or whenever OpenSM has nothing under way.
void Engine::confirm_groups() {
  const std::lock_guard lock(groups_mutex_);
  if (opensm_.subn.subnet_initialization_error == 0) stages_.confirm(Timings::Clock::now(), packets_live_);
}

Engine::Quiet Engine::look_for_quiet() {
  // OpenSM holds its lock until it has sent the last block of the trees.
  if (pthread_rwlock_tryrdlock(&opensm_.lock.lock) != 0) return Quiet::No;
  const bool busy =
      opensm_.stats.qp0_mads_outstanding != 0 || std::ranges::any_of(pending_, [&](std::uint16_t mlid) {
        return opensm_.sm.mlids_req[mlid - IB_LID_MCAST_START_HO] != 0;
      });
  const bool errors = opensm_.subn.subnet_initialization_error != 0;
  pthread_rwlock_unlock(&opensm_.lock.lock);
  if (busy) return Quiet::No;
  return errors ? Quiet::AfterErrors : Quiet::Yes;
}

bool Engine::multicast_is_pending() {
  const std::lock_guard lock(groups_mutex_);
  if (pending_.empty()) return false;
  const Quiet quiet = look_for_quiet();
  if (quiet == Quiet::No) return true;
  // After errors OpenSM sweeps again by itself, and every group has its turn then.
  if (quiet == Quiet::Yes) stages_.confirm(Timings::Clock::now(), packets_live_);
  std::erase_if(pending_,
                [&](std::uint16_t mlid) { return quiet == Quiet::AfterErrors || stages_.settled(mlid); });
  return !pending_.empty();
}

bool Engine::groups_are_settled() {
  const std::lock_guard lock(groups_mutex_);
  return stages_.settled();
}

void Engine::go_on_with_groups(Timings::Clock::time_point now) {
  const std::lock_guard lock(groups_mutex_);
  if (stages_.settled() || look_for_quiet() != Quiet::Yes) return;
  stages_.confirm(now, packets_live_);
  const auto due = stages_.due_by(now);
  if (due.empty() || pthread_rwlock_trywrlock(&opensm_.lock.lock) != 0) return;
  for (const std::uint16_t mlid : due) {
    osm_sm_reroute_mlid(&opensm_.sm, cl_hton16(mlid));
    stages_.asked_for(mlid);
  }
  pthread_rwlock_unlock(&opensm_.lock.lock);
}

}  // namespace heddle::plugin
