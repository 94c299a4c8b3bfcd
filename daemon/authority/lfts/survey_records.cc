#include "authority/lfts/survey_records.h"

namespace heddle::lfts {
namespace {

bool is_active(const Survey& survey, LinkEnd end) { return survey.port(end).info.state == PortState::Active; }

/// Active, and nobody answers behind it.
void add_open(const SurveyNode& node, planned::SubnetRecords& records) {
  if (!node.is_switch()) return;
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    const SurveyPort& port = node.ports[p];
    if (port.silent && port.info.state == PortState::Active) {
      records.open.push_back({node.guid(), PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
}

}  // namespace

planned::SubnetRecords records_of(const Survey& survey, const std::set<LinkRef>& routed) {
  planned::SubnetRecords records;
  const Fabric& fabric = *survey.fabric;
  records.nodes.assign(fabric.nodes().begin(), fabric.nodes().end());
  for (const SurveyNode& node : survey.nodes) add_open(node, records);
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    const Port& port = fabric.ports()[i];
    if (port.lid != no_lid) records.lids.push_back({fabric.ref(PortIndex{i}), port.guid, port.lid, port.lmc});
  }
  for (const Link& link : fabric.links()) {
    const bool switches = fabric.node(link.a.node).type == NodeType::Switch &&
                          fabric.node(link.b.node).type == NodeType::Switch;
    const LinkRef ref = link_ref(fabric, link);
    const bool active = (is_active(survey, link.a) && is_active(survey, link.b)) || routed.contains(ref);
    records.cables.push_back({ref, active, switches});
  }
  return records;
}

}  // namespace heddle::lfts
