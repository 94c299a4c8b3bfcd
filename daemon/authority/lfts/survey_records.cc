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
  const Fabric& fabric = *survey.fabric;
  planned::SubnetRecords records = planned::records_of(fabric);
  // OpenSM shares the daemon's port.
  if (survey.local != no_node) records.manager = fabric.ref(survey.own_port());
  for (const SurveyNode& node : survey.nodes) add_open(node, records);
  for (std::size_t i = 0; i < records.cables.size(); ++i) {
    const Link& link = fabric.links()[i];
    planned::Cable& cable = records.cables[i];
    cable.active = (is_active(survey, link.a) && is_active(survey, link.b)) || routed.contains(cable.link);
  }
  return records;
}

}  // namespace heddle::lfts
