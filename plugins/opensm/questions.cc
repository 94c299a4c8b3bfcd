#include "questions.h"

#include <optional>
#include <utility>

#include "subnet_reader.h"

namespace heddle::plugin {
namespace {

/// In place of one way to a switch, which may be broken too.
constexpr std::size_t most_ways = 4;

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

bool is_lacking(const osm_physp_t& port) { return !is_heard(port) || port.pkeys.rcv_blocks_cnt != 0; }

}  // namespace

std::vector<osm_dr_path_t> Questions::take_routes() { return std::exchange(routes_, {}); }

/// No more than `most` ports. How many requests were sent. What is asked for has OpenSM ask for what follows
/// from the answer: NodeInfo for SwitchInfo, that for PortInfo, and that for P_Keys where it wants them.
std::size_t Questions::ask(osm_node_t& node, std::size_t most) {
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

/// Asks it anew by other routes, where there are any. How many requests were sent.
std::size_t Questions::ask_by(const OtherRoutes& routes, osm_node_t& node) {
  if (is_switch(node)) {
    const auto route = routes.to(node);
    if (!route) return ask(node, at_first);
    node.discovery_count = 0;
    return ask_node_info(*route->last, route->path);
  }
  std::size_t sent = 0;
  for_each_port(node, [&](osm_physp_t& port) {
    const auto route = is_lacking(port) ? routes.to(port) : std::nullopt;
    if (route) sent += ask_node_info(*route->last, route->path);
  });
  return sent != 0 ? sent : ask(node, at_first);
}

/// The port at the other end of its cable, if this sweep has been there, found the link up, and can go on
/// from it.
osm_physp_t* Questions::way_to(const osm_physp_t& port) const {
  osm_physp_t* const peer = osm_physp_get_remote(&port);
  if (peer == nullptr || !osm_physp_is_valid(peer) || !is_heard(*peer)) return nullptr;
  const bool passes =
      is_switch(*peer->p_node) ? is_there(*peer->p_node) : peer->port_guid == opensm_.subn.sm_port_guid;
  return passes && osm_physp_get_port_state(peer) > IB_LINK_DOWN ? peer : nullptr;
}

/// By way of its cable. The answer renews the directed route.
std::size_t Questions::ask_node_info(osm_physp_t& port) {
  osm_physp_t* const peer = way_to(port);
  return peer != nullptr ? ask_behind(*peer) : 0;
}

std::size_t Questions::ask_behind(osm_physp_t& port) {
  osm_physp_t* const agent = agent_of(port);
  if (agent == nullptr) return 0;
  osm_dr_path_t path = *osm_physp_get_dr_path_ptr(agent);
  return osm_dr_path_extend(&path, port.port_num) == 0 ? ask_node_info(port, path) : 0;
}

/// Of the node at the other end of `last`'s cable.
std::size_t Questions::ask_node_info(const osm_physp_t& last, const osm_dr_path_t& path) {
  osm_madw_context_t context{};
  context.ni_context.node_guid = osm_node_get_node_guid(last.p_node);
  context.ni_context.port_num = last.port_num;
  const auto status =
      osm_req_get(&opensm_.sm, &path, IB_MAD_ATTR_NODE_INFO, 0, TRUE, 0, 0, CL_DISP_MSGID_NONE, &context);
  if (status != IB_SUCCESS) return 0;
  routes_.push_back(path);
  return 1;
}

/// Of an outer port of a switch, as pi_rcv_process_switch_port0() of osm_port_info_rcv.c asks.
std::size_t Questions::ask_port_info(osm_physp_t& port) {
  osm_physp_t* const agent = agent_of(port);
  if (agent == nullptr) return 0;
  osm_madw_context_t context{};
  context.pi_context.node_guid = osm_node_get_node_guid(port.p_node);
  context.pi_context.port_guid = osm_physp_get_port_guid(agent);
  const auto status = osm_req_get(&opensm_.sm, osm_physp_get_dr_path_ptr(agent), IB_MAD_ATTR_PORT_INFO,
                                  cl_hton32(port.port_num), FALSE, ib_port_info_get_m_key(&agent->port_info),
                                  0, CL_DISP_MSGID_NONE, &context);
  if (status != IB_SUCCESS) return 0;
  routes_.push_back(*osm_physp_get_dr_path_ptr(agent));
  return 1;
}

/// All blocks of a port of which one is missing, as get_pkey_table() asks: OpenSM counts down how many are to
/// come, does not know which, and goes on below 0.
std::size_t Questions::ask_pkeys(osm_physp_t& port) {
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
  if (sent != 0) routes_.push_back(*osm_physp_get_dr_path_ptr(&port));
  return sent;
}

}  // namespace heddle::plugin
