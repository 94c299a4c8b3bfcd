#include "subnet_reader.h"

namespace heddle::plugin {
namespace {

NodeType type_of(const osm_node_t& node) {
  switch (osm_node_get_type(&node)) {
    case IB_NODE_TYPE_SWITCH:
      return NodeType::Switch;
    case IB_NODE_TYPE_ROUTER:
      return NodeType::Router;
    default:
      return NodeType::ChannelAdapter;
  }
}

/// A switch without forwarding tables of its own is nothing to route through.
bool is_routable(const osm_node_t& node) { return !is_switch(node) || node.sw != nullptr; }

bool is_active(const osm_physp_t& port) {
  return ib_port_info_get_port_state(&port.port_info) == IB_LINK_ACTIVE;
}

Node node_record(const osm_node_t& node) {
  Node record;
  record.guid = guid_of(node);
  record.type = type_of(node);
  record.port_count = node.node_info.num_ports;
  record.device_id = cl_ntoh16(node.node_info.device_id);
  record.vendor_id = cl_ntoh32(ib_node_info_get_vendor_id(&node.node_info));
  // SHARP aggregation nodes sit inside switches and are no hosts.
  constexpr std::uint32_t mellanox = 0x2c9;
  constexpr std::uint16_t aggregation_device = 0xcf09;
  record.aggregation = record.type == NodeType::ChannelAdapter &&
                       ((record.vendor_id == mellanox && record.device_id == aggregation_device) ||
                        std::strstr(node.print_desc, "Aggregation Node") != nullptr);
  return record;
}

void add_cables(osm_node_t& node, planned::SubnetRecords& records) {
  for (unsigned p = 1; p < osm_node_get_num_physp(&node); ++p) {
    osm_physp_t* port = osm_node_get_physp_ptr(&node, p);
    osm_physp_t* peer = port != nullptr ? osm_physp_get_remote(port) : nullptr;
    if (node.sw != nullptr && port != nullptr && osm_physp_is_valid(port) && peer == nullptr &&
        is_active(*port))
      records.open.push_back(ref_of(*port));
    if (peer == nullptr || !osm_physp_is_valid(peer) || !is_routable(*peer->p_node)) continue;
    const PortRef a = ref_of(*port);
    const PortRef b = ref_of(*peer);
    if (!(a < b)) continue;  // once per cable; a cable back into its own port is none
    const bool switches = node.sw != nullptr && peer->p_node->sw != nullptr;
    const bool active = is_active(*port) && is_active(*peer) && osm_link_is_healthy(port) != 0;
    records.cables.push_back({{a, b}, active, switches});
  }
}

}  // namespace

NodeGuid guid_of(const osm_node_t& node) { return NodeGuid{cl_ntoh64(node.node_info.node_guid)}; }

PortRef ref_of(const osm_physp_t& port) { return {guid_of(*port.p_node), PortNum{port.port_num}}; }

planned::SubnetRecords read_subnet(osm_subn_t& subnet) {
  planned::SubnetRecords records;
  const osm_port_t* own = osm_get_port_by_guid(&subnet, subnet.sm_port_guid);
  if (own != nullptr && own->p_physp != nullptr) records.manager = ref_of(*own->p_physp);
  for_each<osm_node_t>(subnet.node_guid_tbl, [&](osm_node_t& node) {
    if (!is_routable(node)) return;
    records.nodes.push_back(node_record(node));
    add_cables(node, records);
  });
  for_each<osm_port_t>(subnet.port_guid_tbl, [&](osm_port_t& port) {
    if (port.p_physp == nullptr) return;
    std::uint16_t least = 0;
    std::uint16_t most = 0;
    osm_port_get_lid_range_ho(&port, &least, &most);
    std::uint8_t lmc = 0;
    while ((1U << lmc) < most - least + 1U) ++lmc;
    records.lids.push_back({ref_of(*port.p_physp), PortGuid{cl_ntoh64(port.guid)}, Lid{least}, lmc});
  });
  return records;
}

}  // namespace heddle::plugin
