#include "sa/directory.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/network_order.h"
#include "fabric/links.h"
#include "sa/components.h"

namespace heddle::sa {
namespace {

/// A GID of this prefix is of every subnet (IBA 4.1.1).
constexpr std::uint64_t link_local_prefix = 0xfe80000000000000;
constexpr std::size_t node_info_size = 40;
constexpr std::size_t description_offset = 44;
constexpr std::uint64_t by_lid = 1;
constexpr std::uint64_t by_capability_mask = 1U << 7U;
constexpr std::size_t capability_mask_offset = 24;

void put_lid(std::span<std::uint8_t> record, Lid lid) { to_network(lid.raw(), record.data()); }

/// Every bit of the query's mask stands in the record's.
bool contains_mask(std::span<const std::uint8_t> query, std::span<const std::uint8_t> record) {
  for (std::size_t i = capability_mask_offset; i < capability_mask_offset + 4; ++i) {
    if ((query[i] & ~unsigned{record[i]}) != 0) return false;
  }
  return true;
}

}  // namespace

Directory::Directory(std::shared_ptr<const Survey> survey,
                     std::shared_ptr<const routing::ForwardingTables> tables, unsigned planes,
                     std::optional<unsigned> idle_plane)
    : survey_{std::move(survey)},
      tables_{std::move(tables)},
      planes_{std::max(planes, 1U)},
      idle_plane_{idle_plane} {
  const Fabric& fabric = *survey_->fabric;
  steps_.resize(fabric.ports().size());
  for (const Port& port : fabric.ports()) lids_ += port.lid == no_lid ? 0 : std::size_t{1} << port.lmc;
  for (const Link& link : fabric.links()) {
    if (!is_active(fabric, link)) continue;
    const Capacity capacity{
        std::min(survey_->port(link.a).info.neighbor_mtu, survey_->port(link.b).info.neighbor_mtu),
        rate_code(link.width, link.speed)};
    steps_[fabric.port_index(link.a).raw()] = {fabric.port_index(link.b), capacity};
    steps_[fabric.port_index(link.b).raw()] = {fabric.port_index(link.a), capacity};
  }
  std::unordered_map<NodeGuid, routing::SwitchIndex> rows;
  for (std::uint32_t row = 0; row < tables_->switch_count(); ++row) {
    rows.emplace(tables_->switches()[row], routing::SwitchIndex{row});
  }
  switches_.assign(fabric.nodes().size(), routing::no_switch);
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    const Node& node = fabric.nodes()[i];
    if (node.type != NodeType::Switch) continue;
    if (const auto row = rows.find(node.guid); row != rows.end()) switches_[i] = row->second;
  }
}

PortIndex Directory::find(const Gid& gid) const {
  const PortIndex port = survey_->fabric->find_port(PortGuid{gid.id});
  if (port == no_port || survey_->fabric->port(port).lid == no_lid) return no_port;
  return gid.prefix == link_local_prefix || gid == this->gid(port) ? port : no_port;
}

Gid Directory::gid(PortIndex port) const {
  const Port& where = survey_->fabric->port(port);
  return {survey_->port({where.node, where.num}).info.gid_prefix, where.guid.raw()};
}

Capacity Directory::capacity(PortIndex port) const {
  const Port& where = survey_->fabric->port(port);
  if (where.num != PortNum{0}) return steps_[port.raw()].capacity;
  // Port 0 has no link of its own: it takes whatever a link of its switch brings.
  constexpr std::uint8_t fastest_code = 24;
  return {survey_->port({where.node, where.num}).info.mtu_cap, fastest_code};
}

std::optional<PortRef> Directory::attached_at(PortIndex port) const {
  const Fabric& fabric = *survey_->fabric;
  const Port& where = fabric.port(port);
  if (where.num == PortNum{0}) return fabric.ref(port);
  const auto peer = fabric.peer({where.node, where.num});
  if (!peer || fabric.node(peer->node).type != NodeType::Switch) return std::nullopt;
  return fabric.ref(*peer);
}

void Directory::each_candidate(std::span<const std::uint8_t> query, std::uint64_t components,
                               const std::function<void(NodeIndex)>& look) const {
  if ((components & by_lid) != 0) {
    const PortIndex port = find(Lid{from_network<std::uint16_t>(query.data())});
    if (port != no_port) look(survey_->fabric->port(port).node);
    return;
  }
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) look(NodeIndex{i});
}

std::size_t Directory::looks(Attribute attribute, std::uint64_t components) const {
  if (attribute == Attribute::NodeRecord || attribute == Attribute::PortInfoRecord)
    return (components & by_lid) != 0 ? 1 : survey_->fabric->ports().size();
  constexpr std::uint64_t from = PathRecord::has_sgid | PathRecord::has_slid;
  constexpr std::uint64_t to = PathRecord::has_dgid | PathRecord::has_dlid;
  // With neither nothing is looked at.
  const bool is_open = ((components & from) != 0) != ((components & to) != 0);
  return attribute == Attribute::PathRecord && is_open ? lids_ : 1;
}

std::vector<Directory::NodeRecord> Directory::nodes(std::span<const std::uint8_t> query,
                                                    std::uint64_t components) const {
  std::vector<NodeRecord> found;
  each_candidate(query, components, [&](NodeIndex index) {
    const SurveyNode& node = survey_->node(index);
    for (std::size_t p = node.is_switch() ? 0 : 1; p < (node.is_switch() ? 1 : node.ports.size()); ++p) {
      const Port& port = survey_->fabric->port(LinkEnd{index, PortNum{static_cast<std::uint8_t>(p)}});
      if (port.lid == no_lid) continue;
      mad::NodeInfo info = node.info;
      info.local_port = port.num;
      info.port_guid = port.guid;
      std::array<std::uint8_t, mad::smp_data_size> bytes{};
      mad::encode(info, mad::SmpData{bytes});
      NodeRecord record{};
      put_lid(record, port.lid);
      std::copy_n(bytes.begin(), node_info_size, record.begin() + 4);
      const std::size_t length = std::min(node.description.size(), mad::smp_data_size);
      std::copy_n(node.description.begin(), length, record.begin() + description_offset);
      if (matches(node_record_fields(), components, query, record)) found.push_back(record);
    }
  });
  return found;
}

std::vector<Directory::PortRecord> Directory::ports(std::span<const std::uint8_t> query,
                                                    std::uint64_t components, Masks masks) const {
  std::vector<PortRecord> found;
  const bool contain = masks == Masks::Contain && (components & by_capability_mask) != 0;
  const std::uint64_t equal = contain ? components & ~by_capability_mask : components;
  // A LID names a port of a channel adapter, but all ports of a switch.
  each_candidate(query, components, [&](NodeIndex index) {
    const SurveyNode& node = survey_->node(index);
    for (std::size_t p = node.is_switch() ? 0 : 1; p < node.ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const Lid lid = survey_->fabric->port(LinkEnd{index, node.is_switch() ? PortNum{0} : num}).lid;
      if (!node.ports[p].known || lid == no_lid) continue;
      mad::PortInfo info = node.ports[p].info;
      info.m_key = 0;
      std::array<std::uint8_t, mad::smp_data_size> bytes{};
      mad::encode(info, mad::SmpData{bytes});
      PortRecord record{};
      put_lid(record, lid);
      record[2] = num.raw();
      std::copy(bytes.begin(), bytes.end(), record.begin() + 4);
      if (matches(port_record_fields(), equal, query, record) && (!contain || contains_mask(query, record))) {
        found.push_back(record);
      }
    }
  });
  return found;
}

}  // namespace heddle::sa
