#include "second_asking.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "subnet_reader.h"

namespace heddle::plugin {
namespace {

using Clock = std::chrono::steady_clock;

/// A node is asked one thing first, and then all that is missing: OpenSM has four requests under way by
/// default, and waits for time-outs of 0.8 s, so that each port of a switch that has died would delay the
/// routing around it.
constexpr std::size_t at_first = 1;
constexpr std::size_t without_limit = SIZE_MAX;
/// In place of one way to a switch, which may be broken too.
constexpr std::size_t most_ways = 4;
/// Of a question that is lost once the next one may be, too.
constexpr unsigned most_in_vain = 2;
/// What comes back may lack something else. No round begins after this time.
constexpr unsigned most_rounds = 4;
constexpr std::chrono::seconds longest_asking{3};

bool is_outer(const osm_physp_t& port) { return is_switch(*port.p_node) && port.port_num != 0; }

/// Whether the switch is known well enough to ask it for its ports. Otherwise discovering it begins anew.
bool is_there(const osm_node_t& node) { return node.discovery_count != 0 && node.physp_discovered[0] != 0; }

/// The port by which the agent is reached that speaks for `port`.
osm_physp_t* agent_of(osm_physp_t& port) {
  return is_outer(port) ? osm_node_get_physp_ptr(port.p_node, 0) : &port;
}

/// As get_pkey_table() of osm_port_info_rcv.c counts them.
std::uint16_t pkey_blocks(const osm_physp_t& port) {
  const osm_node_t& node = *port.p_node;
  if (is_outer(port) && node.sw == nullptr) return 0;
  const unsigned keys =
      cl_ntoh16(is_outer(port) ? node.sw->switch_info.enforce_cap : node.node_info.partition_cap);
  return static_cast<std::uint16_t>((keys + IB_NUM_PKEY_ELEMENTS_IN_BLOCK - 1) /
                                    IB_NUM_PKEY_ELEMENTS_IN_BLOCK);
}

}  // namespace

void SecondAsking::run(std::span<const LinkRef> off) {
  const std::set<NodeGuid> silent = ask_the_missing();
  has_kept_ = !silent.empty() && !has_kept_ && is_cut_off();
  has_kept_ ? keep(silent) : ask_the_outdated(off);
}

/// Who is missing all the same.
std::set<NodeGuid> SecondAsking::ask_the_missing() {
  const auto began = Clock::now();
  std::map<NodeGuid, Attempts> attempts;
  std::set<NodeGuid> first;
  std::set<NodeGuid> missing;
  for (unsigned round = 0;; ++round) {
    {
      const Lock lock(opensm_.lock);
      missing = incomplete();
      if (round == 0) first = missing;
      judge(missing, attempts);
      const bool is_late = round == most_rounds || Clock::now() - began >= longest_asking;
      if (is_late || ask_again(missing, attempts) == 0) break;
    }
    if (wait_for_pending_transactions(&opensm_.stats) != 0) return {};
  }
  std::erase_if(given_up_, [&](const NodeGuid guid) { return !missing.contains(guid); });
  for (const NodeGuid guid : missing) {
    if (attempts.contains(guid)) given_up_.insert(guid);
  }
  const auto back =
      std::ranges::count_if(first, [&](const NodeGuid guid) { return !missing.contains(guid); });
  if (back != 0) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    log_.info(fmt::format("{} nodes that did not answer at first do now, after {} ms", back, took.count()));
  }
  return missing;
}

/// What the questions of the last round have brought.
void SecondAsking::judge(const std::set<NodeGuid>& missing, std::map<NodeGuid, Attempts>& attempts) const {
  for (auto& [guid, attempt] : attempts) {
    if (!missing.contains(guid) || !std::exchange(attempt.is_under_way, false)) continue;
    const Heard heard = heard_of(node_of(guid));
    const bool is_reached = attempt.is_by_other_route && heard.discoveries > attempt.before.discoveries;
    attempt.was_in_vain = !is_reached && !heard.is_more_than(attempt.before);
    if (attempt.was_in_vain) ++attempt.in_vain;
  }
}

/// How many nodes, of those that are not given up.
std::size_t SecondAsking::ask_again(const std::set<NodeGuid>& missing,
                                    std::map<NodeGuid, Attempts>& attempts) {
  std::vector<osm_node_t*> in_vain;
  for (const auto& [guid, attempt] : attempts) {
    if (missing.contains(guid) && attempt.was_in_vain) in_vain.push_back(&node_of(guid));
  }
  const OtherRoutes routes(opensm_.subn, in_vain);
  std::size_t nodes = 0;
  for (const NodeGuid guid : missing) {
    const auto known = attempts.find(guid);
    const bool is_first = known == attempts.end();
    if (given_up_.contains(guid) || (!is_first && known->second.in_vain == most_in_vain)) continue;
    osm_node_t& node = node_of(guid);
    const bool was_in_vain = !is_first && known->second.was_in_vain;
    const std::size_t sent =
        was_in_vain ? ask_by(routes, node) : ask(node, is_first ? at_first : without_limit);
    if (sent == 0) continue;
    Attempts& attempt = attempts[guid];
    attempt.before = heard_of(node);  // asking puts back what stands for an answer
    attempt.is_under_way = true;
    attempt.is_by_other_route = was_in_vain;
    ++nodes;
  }
  return nodes;
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
    if (next == nullptr || next->p_node->discovery_count == 0 || ask_node_info(*next) == 0) return false;
    discoveries = next->p_node->discovery_count;
  }
  if (wait_for_pending_transactions(&opensm_.stats) != 0) return false;
  const Lock lock(opensm_.lock);
  const osm_physp_t* const next = own_switch();
  return next != nullptr && next->p_node->discovery_count == discoveries;
}

/// As if they had answered. Another heavy sweep follows.
void SecondAsking::keep(const std::set<NodeGuid>& silent) {
  const Lock lock(opensm_.lock);
  for (const NodeGuid guid : silent) {
    osm_node_t& node = node_of(guid);
    if (node.discovery_count == 0) node.discovery_count = 1;
    for_each_port(node, [&](osm_physp_t& port) {
      port.pkeys.rcv_blocks_cnt = 0;
      osm_port_t* const known = osm_get_port_by_guid(&opensm_.subn, osm_physp_get_port_guid(&port));
      if (is_heard(port) || known == nullptr) return;
      node.physp_discovered[port.port_num] = 1;
      ++known->discovery_count;
    });
  }
  opensm_.subn.subnet_initialization_error = TRUE;
  log_.info(fmt::format(
      "the own switch does not answer any more: {} nodes that did not are kept until the next sweep",
      silent.size()));
}

void SecondAsking::ask_the_outdated(std::span<const LinkRef> off) {
  std::size_t sent = 0;
  {
    const Lock lock(opensm_.lock);
    for (osm_physp_t* const port : active_of(off)) ask_port_info(*port);
    for (osm_physp_t* const port : outdated()) sent += ask_port_info(*port);
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
    } else if (is_switch(node) || way_to(port) != nullptr) {
      heard.complete = false;
    }
  });
  heard.complete = heard.complete && heard.lacking_pkeys == 0;
  return heard;
}

/// No more than `most` ports. How many requests were sent. What is asked for has OpenSM ask for what follows
/// from the answer: NodeInfo for SwitchInfo, that for PortInfo, and that for P_Keys where it wants them.
std::size_t SecondAsking::ask(osm_node_t& node, std::size_t most) {
  const bool anew = is_switch(node) && !is_there(node);
  if (anew) most = most_ways;
  std::size_t ports = 0;
  std::size_t sent = 0;
  for_each_port(node, [&](osm_physp_t& port) {
    if (ports >= most) return;
    std::size_t requests = 0;
    if (anew || (!is_switch(node) && !is_heard(port))) {
      requests = ask_node_info(port);
    } else {
      requests = is_heard(port) ? ask_pkeys(port) : ask_port_info(port);
    }
    if (requests != 0) ++ports;
    sent += requests;
  });
  // Only the first answer of a sweep has OpenSM go on with a switch.
  if (anew && sent != 0) node.discovery_count = 0;
  return sent;
}

/// Asks it anew by another route, if there is one. How many requests were sent.
std::size_t SecondAsking::ask_by(const OtherRoutes& routes, osm_node_t& node) {
  const auto route = routes.to(node);
  const bool is_known = !is_switch(node) || is_there(node);
  const std::size_t sent = route && is_known ? 0 : ask(node, at_first);
  if (!route) return sent;
  if (is_switch(node)) node.discovery_count = 0;
  return sent + ask_node_info(*route->last, route->path);
}

/// The port at the other end of its cable, if this sweep has been there, found the link up, and can go on
/// from it.
osm_physp_t* SecondAsking::way_to(const osm_physp_t& port) const {
  osm_physp_t* const peer = osm_physp_get_remote(&port);
  if (peer == nullptr || !osm_physp_is_valid(peer) || !is_heard(*peer)) return nullptr;
  const bool passes =
      is_switch(*peer->p_node) ? is_there(*peer->p_node) : peer->port_guid == opensm_.subn.sm_port_guid;
  return passes && osm_physp_get_port_state(peer) > IB_LINK_DOWN ? peer : nullptr;
}

/// By way of its cable. The answer renews the directed route.
std::size_t SecondAsking::ask_node_info(osm_physp_t& port) {
  osm_physp_t* const peer = way_to(port);
  osm_physp_t* const agent = peer != nullptr ? agent_of(*peer) : nullptr;
  if (agent == nullptr) return 0;
  osm_dr_path_t path = *osm_physp_get_dr_path_ptr(agent);
  return osm_dr_path_extend(&path, peer->port_num) == 0 ? ask_node_info(*peer, path) : 0;
}

/// Of the node at the other end of `last`'s cable.
std::size_t SecondAsking::ask_node_info(const osm_physp_t& last, const osm_dr_path_t& path) {
  osm_madw_context_t context{};
  context.ni_context.node_guid = osm_node_get_node_guid(last.p_node);
  context.ni_context.port_num = last.port_num;
  const auto status =
      osm_req_get(&opensm_.sm, &path, IB_MAD_ATTR_NODE_INFO, 0, TRUE, 0, 0, CL_DISP_MSGID_NONE, &context);
  return status == IB_SUCCESS ? 1 : 0;
}

/// Of an outer port of a switch, as pi_rcv_process_switch_port0() of osm_port_info_rcv.c asks.
std::size_t SecondAsking::ask_port_info(osm_physp_t& port) {
  osm_physp_t* const agent = agent_of(port);
  if (agent == nullptr) return 0;
  osm_madw_context_t context{};
  context.pi_context.node_guid = osm_node_get_node_guid(port.p_node);
  context.pi_context.port_guid = osm_physp_get_port_guid(agent);
  const auto status = osm_req_get(&opensm_.sm, osm_physp_get_dr_path_ptr(agent), IB_MAD_ATTR_PORT_INFO,
                                  cl_hton32(port.port_num), FALSE, ib_port_info_get_m_key(&agent->port_info),
                                  0, CL_DISP_MSGID_NONE, &context);
  return status == IB_SUCCESS ? 1 : 0;
}

/// All blocks of a port of which one is missing, as get_pkey_table() asks: OpenSM counts down how many are to
/// come, does not know which, and goes on below 0.
std::size_t SecondAsking::ask_pkeys(osm_physp_t& port) {
  osm_physp_t* const agent = agent_of(port);
  const std::uint16_t count = port.pkeys.rcv_blocks_cnt != 0 ? pkey_blocks(port) : std::uint16_t{0};
  if (agent == nullptr || count == 0) return 0;
  port.pkeys.rcv_blocks_cnt = count;
  osm_madw_context_t context{};
  context.pkey_context.node_guid = osm_node_get_node_guid(port.p_node);
  context.pkey_context.port_guid = osm_physp_get_port_guid(&port);
  std::size_t sent = 0;
  for (std::uint32_t block = 0; block < count; ++block) {
    const std::uint32_t modifier = is_outer(port) ? block | std::uint32_t{port.port_num} << 16U : block;
    const auto status = osm_req_get(&opensm_.sm, osm_physp_get_dr_path_ptr(&port), IB_MAD_ATTR_P_KEY_TABLE,
                                    cl_hton32(modifier), FALSE, ib_port_info_get_m_key(&agent->port_info), 0,
                                    CL_DISP_MSGID_NONE, &context);
    if (status == IB_SUCCESS) ++sent;
  }
  return sent;
}

}  // namespace heddle::plugin
