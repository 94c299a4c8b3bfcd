#include "second_asking.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "subnet_reader.h"

namespace heddle::plugin {
namespace {

using Clock = std::chrono::steady_clock;

/// Of a question that is lost once the next one may be, too.
constexpr unsigned most_in_vain = 2;
/// The first questions are as many as OpenSM has under way, so that they cost one time-out (0.8 s) if all are
/// in vain; so many times more each time that half of them were not.
constexpr std::size_t growth = 4;
/// What comes back may lack something else. No round begins after this time.
constexpr unsigned most_rounds = 12;
constexpr std::chrono::seconds longest_asking{3};

}  // namespace

void SecondAsking::run(std::span<const LinkRef> off) {
  ask_who_is_not_known();
  const Missing missing = ask_the_missing();
  has_kept_ = missing.is_cut_off && !has_kept_;
  has_kept_ ? keep(missing.nodes) : ask_the_outdated(off);
  (void)questions_.take_routes();  // nobody counts those
}

/// Who was dropped, or has just come. As many as OpenSM has under way at once: others are found by the next
/// sweep.
void SecondAsking::ask_who_is_not_known() {
  const std::size_t most = std::max<std::size_t>(1, opensm_.subn.opt.max_wire_smps);
  std::vector<PortRef> asked;
  {
    const Lock lock(opensm_.lock);
    std::set<PortRef> silent;
    for (osm_physp_t* const port : with_nobody_behind()) {
      const PortRef ref = ref_of(*port);
      if (nobody_behind_.contains(ref)) {
        silent.insert(ref);
      } else if (asked.size() < most && questions_.ask_behind(*port) != 0) {
        asked.push_back(ref);
      }
    }
    nobody_behind_ = std::move(silent);
  }
  if (asked.empty() || wait_for_pending_transactions(&opensm_.stats) != 0) return;
  std::vector<PortRef> left = still_with_nobody_behind(asked);
  if (!left.empty()) {
    ask_their_switches(left);
    left = still_with_nobody_behind(left);
  }
  nobody_behind_.insert(left.begin(), left.end());
  if (left.size() < asked.size())
    log_.info(fmt::format("{} nodes that did not answer at first are known now", asked.size() - left.size()));
}

/// By other routes than before, where there are any: a cable on the way may have been cut since the switches
/// were found. From their answers OpenSM goes on to who is behind these ports.
void SecondAsking::ask_their_switches(std::span<const PortRef> ports) {
  std::map<NodeGuid, std::uint32_t> discoveries;
  {
    const Lock lock(opensm_.lock);
    const std::vector<osm_dr_path_t> in_vain = questions_.take_routes();
    const OtherRoutes others(opensm_.subn, in_vain);
    for (const PortRef& port : ports) {
      osm_node_t& node = node_of(port.node);
      const std::uint32_t before = node.discovery_count;
      if (discoveries.contains(port.node) || !others.lead_elsewhere(node)) continue;
      if (questions_.ask_by(others, node) != 0) discoveries.emplace(port.node, before);
    }
  }
  if (discoveries.empty() || wait_for_pending_transactions(&opensm_.stats) != 0) return;
  const Lock lock(opensm_.lock);
  for (const auto& [guid, before] : discoveries) {
    // Else one that has answered this sweep is dropped.
    if (osm_node_t& node = node_of(guid); node.discovery_count == 0) node.discovery_count = before;
  }
}

/// Of these.
std::vector<PortRef> SecondAsking::still_with_nobody_behind(std::span<const PortRef> ports) {
  const Lock lock(opensm_.lock);
  std::vector<PortRef> result;
  for (const osm_physp_t* const port : with_nobody_behind()) {
    if (std::ranges::find(ports, ref_of(*port)) != ports.end()) result.push_back(ref_of(*port));
  }
  return result;
}

std::vector<osm_physp_t*> SecondAsking::with_nobody_behind() const {
  std::vector<osm_physp_t*> result;
  for_each<osm_node_t>(opensm_.subn.node_guid_tbl, [&](osm_node_t& node) {
    for_each_port(node, [&](osm_physp_t& port) {
      if (is_outer(port) && is_heard(port) && osm_physp_get_remote(&port) == nullptr &&
          osm_physp_get_port_state(&port) > IB_LINK_DOWN)
        result.push_back(&port);
    });
  });
  return result;
}

SecondAsking::Missing SecondAsking::ask_the_missing() {
  const auto began = Clock::now();
  const std::size_t at_once = std::max<std::size_t>(1, opensm_.subn.opt.max_wire_smps);
  AttemptsByNode attempts;
  in_vain_.clear();
  std::set<NodeGuid> first;
  Missing missing;
  std::size_t most = at_once;
  for (unsigned round = 0; round < most_rounds && Clock::now() - began < longest_asking; ++round) {
    Asked asked;
    {
      const Lock lock(opensm_.lock);
      missing.nodes = incomplete();
      if (round == 0) first = missing.nodes;
      asked = ask_again(missing.nodes, attempts, most);
    }
    if (asked.questions == 0) break;
    if (wait_for_pending_transactions(&opensm_.stats) != 0) return {};
    std::size_t answered = 0;
    {
      const Lock lock(opensm_.lock);
      answered = judge(attempts);
    }
    most = 2 * answered >= asked.nodes ? growth * most : at_once;
    if (answered == 0 && is_cut_off()) {
      missing.is_cut_off = true;
      break;
    }
  }
  {
    const Lock lock(opensm_.lock);
    missing.nodes = incomplete();
  }
  std::erase_if(given_up_, [&](const NodeGuid guid) { return !missing.nodes.contains(guid); });
  for (const auto& [guid, attempt] : attempts) {
    if (missing.nodes.contains(guid)) given_up_.insert(guid);
  }
  const auto back =
      std::ranges::count_if(first, [&](const NodeGuid guid) { return !missing.nodes.contains(guid); });
  if (back != 0) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    log_.info(fmt::format("{} nodes that did not answer at first do now, after {} ms", back, took.count()));
  }
  return missing;
}

/// Asks nodes that are not given up until so many questions are under way. Once any of them was in vain, all
/// that have not answered are asked by other routes: they may be behind the same cable.
SecondAsking::Asked SecondAsking::ask_again(const std::set<NodeGuid>& missing, AttemptsByNode& attempts,
                                            std::size_t most) {
  const OtherRoutes others(opensm_.subn, in_vain_);
  (void)questions_.take_routes();  // of what was asked between rounds
  Asked asked;
  for (const NodeGuid guid : in_turn(missing, attempts)) {
    if (asked.questions >= most) break;
    const auto known = attempts.find(guid);
    const bool was_answered = known != attempts.end() && known->second.was_answered;
    const bool by_other_route = !in_vain_.empty() && !was_answered;
    osm_node_t& node = node_of(guid);
    const std::uint32_t discoveries = node.discovery_count;
    const std::size_t sent =
        by_other_route ? questions_.ask_by(others, node)
                       : questions_.ask(node, was_answered ? Questions::without_limit : Questions::at_first);
    if (sent == 0) continue;
    Attempts& attempt = attempts[guid];
    attempt.routes = questions_.take_routes();
    attempt.before = heard_of(node);  // asking puts back what stands for an answer
    attempt.discoveries = discoveries;
    attempt.is_under_way = true;
    attempt.is_by_other_route = by_other_route;
    ++asked.nodes;
    asked.questions += sent;
  }
  return asked;
}

/// Who has been asked goes first, then switches, as hosts are behind them; then one host of each switch, and
/// so on: what is wrong with one is likely to be so with its neighbour.
std::vector<NodeGuid> SecondAsking::in_turn(const std::set<NodeGuid>& missing,
                                            const AttemptsByNode& attempts) const {
  std::vector<std::pair<unsigned, NodeGuid>> turns;
  std::map<NodeGuid, unsigned> hosts;  // by the switch
  for (const NodeGuid guid : missing) {
    const auto known = attempts.find(guid);
    if (given_up_.contains(guid) || (known != attempts.end() && known->second.in_vain == most_in_vain))
      continue;
    osm_node_t& node = node_of(guid);
    unsigned turn = known != attempts.end() ? 0 : 1;
    if (turn != 0 && !is_switch(node)) {
      const osm_physp_t* neighbour = nullptr;
      for_each_port(node, [&](osm_physp_t& port) {
        if (neighbour == nullptr) neighbour = questions_.way_to(port);
      });
      if (neighbour != nullptr) turn += ++hosts[guid_of(*neighbour->p_node)];
    }
    turns.emplace_back(turn, guid);
  }
  std::ranges::sort(turns);
  std::vector<NodeGuid> result;
  for (const auto& [turn, guid] : turns) result.push_back(guid);
  return result;
}

/// What the questions under way have brought. How many nodes have answered anything.
std::size_t SecondAsking::judge(AttemptsByNode& attempts) {
  std::size_t answered = 0;
  for (auto& [guid, attempt] : attempts) {
    if (!std::exchange(attempt.is_under_way, false)) continue;
    osm_node_t& node = node_of(guid);
    const Heard heard = heard_of(node);
    const bool is_reached = attempt.is_by_other_route && heard.discoveries > attempt.before.discoveries;
    attempt.was_answered = is_reached || heard.is_more_than(attempt.before);
    if (attempt.was_answered) {
      ++answered;
    } else {
      ++attempt.in_vain;
      in_vain_.insert(in_vain_.end(), attempt.routes.begin(), attempt.routes.end());
    }
    // A switch that was never discovered is taken out whole, not the port of which nothing is known.
    if (node.discovery_count == 0) node.discovery_count = attempt.discoveries;
  }
  return answered;
}

osm_node_t& SecondAsking::node_of(NodeGuid guid) const {
  return *osm_get_node_by_guid(&opensm_.subn, cl_hton64(guid.raw()));
}

/// At which OpenSM is; null where it is on a switch itself, or by itself.
osm_physp_t* SecondAsking::own_switch() const {
  osm_port_t* const own = osm_get_port_by_guid(&opensm_.subn, opensm_.subn.sm_port_guid);
  osm_physp_t* const next = own != nullptr ? osm_physp_get_remote(own->p_physp) : nullptr;
  return next != nullptr && osm_physp_is_valid(next) && is_switch(*next->p_node) ? next : nullptr;
}

/// Whether the own switch, which has answered in this sweep, does not any more. An answer counts as another
/// discovery.
bool SecondAsking::is_cut_off() {
  std::uint32_t discoveries = 0;
  {
    const Lock lock(opensm_.lock);
    osm_physp_t* const next = own_switch();
    if (next == nullptr || next->p_node->discovery_count == 0 || questions_.ask_node_info(*next) == 0)
      return false;
    discoveries = next->p_node->discovery_count;
  }
  if (wait_for_pending_transactions(&opensm_.stats) != 0) return false;
  const Lock lock(opensm_.lock);
  const osm_physp_t* const next = own_switch();
  return next != nullptr && next->p_node->discovery_count == discoveries;
}

/// As if they had answered, but for those whose neighbours have all said that nothing is there. Another heavy
/// sweep follows after sweep_interval, or at once where there is none, and asks them all.
void SecondAsking::keep(const std::set<NodeGuid>& silent) {
  const Lock lock(opensm_.lock);
  std::size_t kept = 0;
  for (const NodeGuid guid : silent) {
    osm_node_t& node = node_of(guid);
    if (is_by_itself(node)) continue;
    ++kept;
    if (node.discovery_count == 0) node.discovery_count = 1;
    // Or OpenSM writes all its blocks, each of which would cost a time-out: what it has is known.
    if (node.sw != nullptr && node.sw->need_update == 1) node.sw->need_update = 0;
    for_each_port(node, [&](osm_physp_t& port) {
      port.pkeys.rcv_blocks_cnt = 0;
      osm_port_t* const known = osm_get_port_by_guid(&opensm_.subn, osm_physp_get_port_guid(&port));
      const bool was_heard_once = osm_physp_get_port_state(&port) != IB_LINK_NO_CHANGE;
      if (is_heard(port) || known == nullptr || !was_heard_once) return;
      node.physp_discovered[port.port_num] = 1;
      ++known->discovery_count;
    });
  }
  given_up_.clear();
  opensm_.subn.subnet_initialization_error = TRUE;
  if (opensm_.subn.opt.sweep_interval == 0) opensm_.subn.force_heavy_sweep = TRUE;
  log_.info(fmt::format(
      "the own switch does not answer any more: {} nodes that did not are kept until the next sweep", kept));
}

/// Whether neighbours have been heard, and none of them sees a link to it.
bool SecondAsking::is_by_itself(osm_node_t& node) const {
  bool any_heard = false;
  bool any_up = false;
  for_each_port(node, [&](osm_physp_t& port) {
    const osm_physp_t* const peer = osm_physp_get_remote(&port);
    if (peer == nullptr || !osm_physp_is_valid(peer) || !is_heard(*peer)) return;
    any_heard = true;
    any_up = any_up || osm_physp_get_port_state(peer) > IB_LINK_DOWN;
  });
  return any_heard && !any_up;
}

void SecondAsking::ask_the_outdated(std::span<const LinkRef> off) {
  std::size_t sent = 0;
  {
    const Lock lock(opensm_.lock);
    for (osm_physp_t* const port : active_of(off)) questions_.ask_port_info(*port);
    for (osm_physp_t* const port : outdated()) sent += questions_.ask_port_info(*port);
  }
  if (wait_for_pending_transactions(&opensm_.stats) != 0 || sent == 0) return;
  log_.info(fmt::format("{} links have trained anew during the sweep: their ends are asked again", sent));
}

std::vector<osm_physp_t*> SecondAsking::active_of(std::span<const LinkRef> links) const {
  std::vector<osm_physp_t*> result;
  for (const LinkRef& link : links) {
    for (const PortRef& end : {link.a, link.b}) {
      osm_node_t* const node = osm_get_node_by_guid(&opensm_.subn, cl_hton64(end.node.raw()));
      if (node == nullptr || end.port.raw() >= node->physp_tbl_size) continue;
      osm_physp_t* const port = osm_node_get_physp_ptr(node, end.port.raw());
      if (port == nullptr || !is_outer(*port) || !is_heard(*port)) continue;
      if (osm_physp_get_port_state(port) == IB_LINK_ACTIVE) result.push_back(port);
    }
  }
  return result;
}

/// Ports of switches that were Active when this sweep came by; the other end of their cable was not later on.
std::vector<osm_physp_t*> SecondAsking::outdated() const {
  std::vector<osm_physp_t*> result;
  for_each<osm_node_t>(opensm_.subn.node_guid_tbl, [&](osm_node_t& node) {
    for_each_port(node, [&](osm_physp_t& port) {
      const osm_physp_t* const peer = osm_physp_get_remote(&port);
      if (!is_outer(port) || peer == nullptr || !osm_physp_is_valid(peer)) return;
      const unsigned state = osm_physp_get_port_state(peer);
      const bool has_trained = state == IB_LINK_INIT || state == IB_LINK_ARMED;
      if (is_heard(port) && is_heard(*peer) && osm_physp_get_port_state(&port) == IB_LINK_ACTIVE &&
          has_trained)
        result.push_back(&port);
    });
  });
  return result;
}

std::set<NodeGuid> SecondAsking::incomplete() const {
  std::set<NodeGuid> result;
  for_each<osm_node_t>(opensm_.subn.node_guid_tbl, [&](osm_node_t& node) {
    if (!heard_of(node).complete) result.insert(guid_of(node));
  });
  return result;
}

/// A port of a host counts where something leads to it: a second one without a cable is asked by nobody.
SecondAsking::Heard SecondAsking::heard_of(osm_node_t& node) const {
  Heard heard;
  heard.discoveries = node.discovery_count;
  heard.complete = heard.discoveries != 0;
  if (heard.complete) ++heard.answers;
  for_each_port(node, [&](osm_physp_t& port) {
    if (port.pkeys.rcv_blocks_cnt != 0) ++heard.lacking_pkeys;
    if (is_heard(port)) {
      ++heard.answers;
    } else if (is_switch(node) || questions_.way_to(port) != nullptr) {
      heard.complete = false;
    }
  });
  heard.complete = heard.complete && heard.lacking_pkeys == 0;
  return heard;
}

}  // namespace heddle::plugin
