#include "engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "subnet_reader.h"

namespace heddle::plugin {

using routing::SwitchIndex;

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

std::vector<LinkRef> Engine::links_off() const {
  const plan::Plan* plan = keeper_.plan();
  return plan != nullptr ? plan->off : std::vector<LinkRef>{};
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
  planned::SubnetRecords records = read_subnet(opensm_.subn);
  // Where its own port was down for a while it was master all the time.
  if (opensm_.subn.coming_out_of_standby) hosts_.forget();
  const std::size_t mute = hosts_.recall(records);
  const std::vector<LinkRef> lost = cables_.missing(records);
  // Another OpenSM has, if not this one.
  records.was_up = records.was_up || !in_force_.empty();
  std::vector<LinkRef> absent = lost;
  const plan::Plan* plan = keeper_.plan();
  away_.recall(records, absent, plan);
  if (plan != nullptr) absent.insert(absent.end(), plan->off.begin(), plan->off.end());
  const unsigned lmc = opensm_.subn.opt.lmc;
  planned::SubnetRecords seen = lost.empty() ? planned::SubnetRecords{} : records;
  planned::Subnet subnet = planned::make_subnet(std::move(records), absent);
  subnet.released = released_.links();
  auto routes = maker_.make(subnet, plan, lmc, &in_force_);
  leaves_later_ = false;
  if (routes) {
    const auto leave = lost_cables_.look(maker_, *routes, seen, lost, plan, lmc, in_force_, is_calm());
    leaves_later_ = leave == planned::LostCables::Leave::Later;
    if (leave == planned::LostCables::Leave::Now) {
      log_.notice(
          fmt::format("hosts that cables join have no path, since the order counts on {} that are lost: "
                      "routing without them until they are back",
                      lost.size()));
      cables_.leave(lost);
      subnet = planned::make_subnet(std::move(seen), {});
      subnet.released = released_.links();
      routes = maker_.make(subnet, plan, lmc, &in_force_);
    }
  }
  if (!routes) {
    log_.error("HE04", routes.error().message);
    return -1;
  }
  routes_ = std::move(*routes);
  usable_ = subnet.usable;
  choose_pass(subnet);
  waiting_ = subnet.waiting;
  std::vector<std::string> remarks = subnet.remarks;
  remarks.insert(remarks.end(), routes_->remarks.begin(), routes_->remarks.end());
  if (routes_->unconnected != 0) {
    remarks.push_back(fmt::format("{} pairs of switches with hosts have no path over the links that are up",
                                  routes_->unconnected));
  }
  if (!pass_.remark.empty()) remarks.push_back(pass_.remark);
  if (mute != 0) {
    remarks.push_back(fmt::format(
        "{} hosts do not answer, though their links are Active: their entries stay as they are", mute));
  }
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
  // As the router counts them; pairs that only a mend joins go the way of their entries.
  const auto hops_to = [&](SwitchIndex from, SwitchIndex to, std::uint16_t lid, std::uint8_t legal) {
    if (legal != routing::LegalPaths::far) return legal;
    SwitchIndex at = from;
    for (std::uint8_t hops = 0; hops < routing::LegalPaths::far; ++hops) {
      if (at == to) return hops;
      const auto out = routes_->tables.row(at)[lid];
      const auto ways = router.graph().hops(at);
      const auto way = std::find_if(ways.begin(), ways.end(),
                                    [&](const routing::Hop& hop) { return hop.out.raw() == out; });
      if (way == ways.end()) break;
      at = way->peer;
    }
    return routing::LegalPaths::far;
  };
  // Other ports of a switch that lead to the same one are asked for by nothing but the dump of the routes.
  const bool dumped = osm_log_is_active(&opensm_.log, OSM_LOG_ROUTING) != 0;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr) continue;
    const SwitchIndex s{i};
    const auto row = routes_->tables.row(s);
    const auto distance = router.paths().distance(s);
    for (const auto& [at, lid] : lids) {
      const std::uint8_t hops = hops_to(s, at, lid, distance[at.raw()]);
      if (hops == routing::LegalPaths::far) continue;
      (void)osm_switch_set_hops(all[i], lid, row[lid] == OSM_NO_PATH ? 0 : row[lid], hops);
    }
    for (const routing::Target& target : router.graph().targets()) {
      if (!dumped || target.at == s || lid_of[target.at.raw()] == 0) continue;
      for (unsigned offset = 0; offset < target.lid_count(); ++offset) {
        const auto lid = static_cast<std::uint16_t>(target.base.raw() + offset);
        const std::uint8_t port = row[lid];
        const std::uint8_t hops = hops_to(s, target.at, lid, distance[target.at.raw()]);
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
  is_asked_ = true;
  return 0;
}

void Engine::heavy_sweep_starts() {
  if (!is_asked_) return;
  {
    const Lock lock(opensm_.lock);
    for_each<osm_switch_t>(opensm_.subn.sw_guid_tbl, [&](osm_switch_t& sw) { (void)take_answers(sw); });
  }
  end_pass();
}

Confirmation Engine::routing_done(bool reroute) {
  Confirmation result;
  result.reroute = reroute;
  for (osm_physp_t* port : forced_) port->need_update = 0;
  forced_.clear();
  if (!routes_) return result;
  result.epoch = epoch_;
  result.unconnected = routes_->unconnected;
  result.relaxed = routes_->relaxed || pass_.relaxed;
  result.stages = routes_->stages;
  result.errors = opensm_.subn.subnet_initialization_error != 0;
  {
    const Lock lock(opensm_.lock);
    for_each<osm_switch_t>(opensm_.subn.sw_guid_tbl, [&](osm_switch_t& sw) {
      if (!take_answers(sw)) {
        ++result.switches_behind;
      } else if (!result.errors) {
        // Until the second heavy sweep OpenSM would write every block again at each reroute.
        sw.need_update = 0;
      }
    });
  }
  end_pass();
  result.switches_behind = std::max(result.switches_behind, pass_.behind);
  result.staying = pass_.staying;
  result.packet_life = packet_life();
  if (result.confirmed()) released_.confirmed(links_off());
  plan_next_pass();
  if (second_look_.is_due(result.relaxed, waiting_, Timings::Clock::now())) {
    log_.info(
        fmt::format("hosts would be cut off, and {} links are not Active: looking at them again", waiting_));
    ask_for_heavy_sweep();
  }
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
  confirm_groups();
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
