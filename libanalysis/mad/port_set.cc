#include "mad/port_set.h"

namespace heddle::mad {

PortInfo unchanged(const PortInfo& has, std::uint64_t m_key) {
  PortInfo info = has;
  info.m_key = m_key;
  info.state = PortState::NoChange;
  info.physical = PhysState::NoChange;
  info.link_down_default = 0;
  info.link_width_enabled = 0;
  info.link_speed_enabled = 0;
  info.link_speed_ext_enabled = 0;
  info.client_reregister = 0;
  return info;
}

std::uint32_t modifier_for(const Survey& survey, LinkEnd end) {
  const SurveyNode& node = survey.node(end.node);
  const SurveyPort& spokesman = node.is_switch() ? node.ports[0] : node.ports[end.port.raw()];
  const bool extended = (spokesman.info.capability_mask & port_cap::extended_speeds) != 0;
  return end.port.raw() | (extended ? knows_extended_speeds : 0U);
}

}  // namespace heddle::mad
