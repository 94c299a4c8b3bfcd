#include "engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "routing/multicast.h"
#include "subnet_reader.h"

namespace heddle::plugin {
namespace {

using routing::SwitchIndex;

/// OpenSM's lock, exclusively.
class Lock {
 public:
  explicit Lock(cl_plock_t& lock) : lock_{lock} { cl_plock_excl_acquire(&lock_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { cl_plock_release(&lock_); }

 private:
  cl_plock_t& lock_;
};

}  // namespace

Engine::Engine(osm_opensm_t& opensm, const std::string& plan_path, EventQueue& events)
    : opensm_{opensm}, events_{events}, log_{opensm.log}, keeper_{plan_path} {}

void Engine::look_at_plan() {
  const PlanKeeper::News news = keeper_.look();
  if (news == PlanKeeper::News::None) return;
  epoch_ = keeper_.plan() != nullptr ? keeper_.plan()->epoch : 0;
  events_.push(plan_line(epoch_, news == PlanKeeper::News::Taken, keeper_.message()));
  if (news == PlanKeeper::News::Refused) {
    log_.error("HE02", "plan refused: " + keeper_.message());
  } else {
    log_.notice(keeper_.message());
  }
}

void Engine::say(const std::vector<std::string>& remarks) {
  if (remarks == said_) return;
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < remarks.size() && i < most; ++i) log_.error("HE03", remarks[i]);
  if (remarks.size() > most) log_.error("HE03", fmt::format("and {} more like these", remarks.size() - most));
  said_ = remarks;
}

std::vector<osm_switch_t*> Engine::switches() const {
  std::vector<osm_switch_t*> result;
  for (const NodeGuid guid : routes_->tables.switches()) {
    cl_map_item_t* item = cl_qmap_get(&opensm_.subn.sw_guid_tbl, cl_hton64(guid.raw()));
    const bool found = item != cl_qmap_end(&opensm_.subn.sw_guid_tbl);
    result.push_back(found ? reinterpret_cast<osm_switch_t*>(item) : nullptr);
  }
  return result;
}

int Engine::prepare() {
  look_at_plan();
  SubnetRecords records = read_subnet(opensm_.subn);
  std::vector<LinkRef> absent = cables_.missing(records);
  const plan::Plan* plan = keeper_.plan();
  if (plan != nullptr) absent.insert(absent.end(), plan->off.begin(), plan->off.end());
  const Subnet subnet = make_subnet(std::move(records), absent);
  auto routes = maker_.make(subnet, plan, opensm_.subn.opt.lmc);
  if (!routes) {
    log_.error("HE04", routes.error().message);
    return -1;
  }
  routes_ = std::move(*routes);
  choose_pass(subnet);
  waiting_ = subnet.waiting;
  std::vector<std::string> remarks = subnet.remarks;
  remarks.insert(remarks.end(), routes_->remarks.begin(), routes_->remarks.end());
  if (routes_->unconnected != 0) {
    remarks.push_back(fmt::format("{} pairs of switches with hosts have no path over the links that are up",
                                  routes_->unconnected));
  }
  if (!pass_.remark.empty()) remarks.push_back(pass_.remark);
  say(remarks);
  set_hop_counts();
  prepare_qos();
  return 0;
}

void Engine::set_hop_counts() {
  const routing::UpDownRouter& router = maker_.router();
  const std::vector<osm_switch_t*> all = switches();
  std::vector<std::pair<SwitchIndex, std::uint16_t>> lids;
  std::vector<std::uint16_t> lid_of(all.size());
  for (const routing::Target& target : router.graph().targets()) {
    if (target.kind != routing::TargetKind::Switch) continue;
    lids.emplace_back(target.at, target.base.raw());
    lid_of[target.at.raw()] = target.base.raw();
  }
  // Other ports of a switch that lead to the same one are asked for by nothing but the dump of the routes.
  const bool dumped = osm_log_is_active(&opensm_.log, OSM_LOG_ROUTING) != 0;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr) continue;
    const SwitchIndex s{i};
    const auto row = routes_->tables.row(s);
    const auto distance = router.paths().distance(s);
    for (const auto& [at, lid] : lids) {
      const std::uint8_t hops = distance[at.raw()];
      if (hops == routing::LegalPaths::far) continue;
      (void)osm_switch_set_hops(all[i], lid, row[lid] == OSM_NO_PATH ? 0 : row[lid], hops);
    }
    for (const routing::Target& target : router.graph().targets()) {
      if (!dumped || target.at == s || lid_of[target.at.raw()] == 0) continue;
      for (unsigned offset = 0; offset < target.lid_count(); ++offset) {
        const std::uint8_t port = row[target.base.raw() + offset];
        const std::uint8_t hops = distance[target.at.raw()];
        if (port == OSM_NO_PATH || hops == routing::LegalPaths::far) continue;
        (void)osm_switch_set_hops(all[i], lid_of[target.at.raw()], port, hops);
      }
    }
  }
}

int Engine::fill_tables() {
  if (!routes_) return -1;
  const std::vector<osm_switch_t*> all = switches();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr || all[i]->new_lft == nullptr) continue;
    const auto row = pass_.tables.row(SwitchIndex{i});
    std::memset(all[i]->new_lft, OSM_NO_PATH, all[i]->lft_size);
    std::memcpy(all[i]->new_lft, row.data(), std::min<std::size_t>(row.size(), all[i]->lft_size));
  }
  return 0;
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
      const SwitchIndex s = node != no_node ? graph.find(node) : routing::no_switch;
      if (s == routing::no_switch) {
        ++lost;
      } else {
        members.emplace(ref_of(*port), routing::MulticastMember{s, PortNum{at->port_num}});
      }
    });
  }
  if (members.size() + lost < 2) return IB_SUCCESS;  // nobody to send to

  std::vector<routing::MulticastMember> list;
  for (const auto& [ref, member] : members) list.push_back(member);
  const routing::MulticastTree tree =
      routing::grow_tree(graph, maker_.router().ranks(), routes_->permitted, list, group.mlid);
  const std::vector<osm_switch_t*> all = switches();
  for (const routing::MulticastTree::Port& port : tree.ports) {
    osm_switch_t* sw = all[port.sw.raw()];
    if (sw == nullptr || sw->mcast_tbl.p_mask_tbl == nullptr || !osm_switch_supports_mcast(sw)) {
      ++lost;
      continue;
    }
    osm_mcast_tbl_set(&sw->mcast_tbl, group.mlid, port.port.raw());
  }
  lost += tree.unreached;
  Tree& kept = trees_[group.mlid];
  for (const LinkIndex link : tree.links) kept.links.push_back(link_ref(fabric, fabric.link(link)));
  kept.whole = lost == 0 && tree.in_order;
  if (lost != 0) {
    log_.error("HE05", fmt::format("MLID {:#x}: {} of {} members or switches cannot be reached", group.mlid,
                                   lost, members.size()));
  }
  return IB_SUCCESS;
}

bool Engine::still_good(const Tree& tree) const {
  if (!tree.whole) return false;
  const Fabric& fabric = *routes_->fabric;
  return std::ranges::all_of(tree.links, [&](const LinkRef& ref) {
    const PortIndex port = fabric.find_port(ref.a);
    if (port == no_port || fabric.port(port).link == no_link) return false;
    const LinkIndex link = fabric.port(port).link;
    return routes_->permitted.contains(link) && link_ref(fabric, fabric.link(link)) == ref;
  });
}

std::size_t Engine::reroute_concerned_groups() {
  if (opensm_.subn.opt.disable_multicast) return 0;
  std::size_t waiting = 0;
  std::vector<std::uint16_t> concerned;
  for (const auto& [mlid, tree] : trees_) {
    if (!still_good(tree)) concerned.push_back(mlid);
  }
  {
    const std::lock_guard lock(pending_mutex_);
    // Those of an earlier pass may not have their trees yet.
    std::vector<std::uint16_t> all;
    std::ranges::set_union(pending_, concerned, std::back_inserter(all));
    pending_ = std::move(all);
    waiting = pending_.size();
  }
  for (const std::uint16_t mlid : concerned) osm_sm_reroute_mlid(&opensm_.sm, cl_hton16(mlid));
  return waiting;
}

bool Engine::multicast_is_pending() {
  const std::lock_guard lock(pending_mutex_);
  if (pending_.empty()) return false;
  // OpenSM holds its lock until it has sent the last block of the trees.
  if (pthread_rwlock_tryrdlock(&opensm_.lock.lock) != 0) return true;
  const bool waiting =
      opensm_.stats.qp0_mads_outstanding != 0 || std::ranges::any_of(pending_, [&](std::uint16_t mlid) {
        return opensm_.sm.mlids_req[mlid - IB_LID_MCAST_START_HO] != 0;
      });
  pthread_rwlock_unlock(&opensm_.lock.lock);
  if (!waiting) pending_.clear();
  return waiting;
}

Confirmation Engine::routing_done(bool reroute) {
  Confirmation result;
  result.reroute = reroute;
  for (osm_physp_t* port : forced_) port->need_update = 0;
  forced_.clear();
  if (!routes_) return result;
  result.epoch = epoch_;
  result.unconnected = routes_->unconnected;
  result.relaxed = routes_->relaxed;
  result.stages = routes_->stages;
  result.errors = opensm_.subn.subnet_initialization_error != 0;
  {
    const Lock lock(opensm_.lock);
    for_each<osm_switch_t>(opensm_.subn.sw_guid_tbl, [&](osm_switch_t& sw) {
      const bool known = sw.lft != nullptr && sw.new_lft != nullptr;
      if (known) {
        const std::size_t size =
            std::size_t{sw.max_lid_ho} / routing::lids_per_block * routing::lids_per_block +
            routing::lids_per_block;
        in_force_.confirm(guid_of(*sw.p_node), {sw.lft, std::min<std::size_t>(size, sw.lft_size)},
                          {sw.new_lft, std::min<std::size_t>(size, sw.lft_size)});
      }
      if (!known || std::memcmp(sw.lft, sw.new_lft, sw.max_lid_ho + 1U) != 0) {
        ++result.switches_behind;
      } else if (!result.errors) {
        // Until the second heavy sweep OpenSM would write every block again at each reroute.
        sw.need_update = 0;
      }
    });
  }
  result.switches_behind = std::max(result.switches_behind, pass_.behind);
  result.packet_life = packet_life();
  plan_next_pass();
  if (!reroute) return result;
  result.groups = reroute_concerned_groups();
  if (result.epoch != limits_asked_for_ && high_limits_differ()) {
    limits_asked_for_ = result.epoch;
    log_.info("asking for a heavy sweep, which sends HighLimit");
    ask_for_heavy_sweep();
  }
  return result;
}

void Engine::subnet_up() {
  const bool late = waiting_ != 0;
  const bool unfit = unfit_ports_ != 0;
  if (!late && !unfit) return;
  if (late) log_.info(fmt::format("{} links have come up since routing; routing again", waiting_));
  waiting_ = 0;
  unfit_ports_ = 0;
  ask_for_reroute();
}

void Engine::ask_for_reroute() {
  opensm_.subn.force_reroute = TRUE;
  osm_opensm_sweep(&opensm_);
}

void Engine::ask_for_heavy_sweep() {
  opensm_.subn.force_heavy_sweep = TRUE;
  osm_opensm_sweep(&opensm_);
}

}  // namespace heddle::plugin
