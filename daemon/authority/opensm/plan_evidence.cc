#include "authority/opensm/plan_evidence.h"

#include <algorithm>
#include <bit>

namespace heddle::opensm {
namespace {

const mad::PortInfo* info_of(const Survey& survey, const PortRef& ref) {
  const PortIndex index = survey.fabric->find_port(ref);
  if (index == no_port) return nullptr;
  const Port& port = survey.fabric->port(index);
  const SurveyPort& found = survey.port({port.node, port.num});
  return found.known ? &found.info : nullptr;
}

/// Of masks in which each bit is more than the one before.
std::uint8_t highest(std::uint8_t mask) { return std::bit_floor(mask); }

/// 2x is the highest bit and no wider than 4x (IBA 14.2.5.6, LinkWidthSupported).
std::uint8_t widest(std::uint8_t mask) {
  constexpr std::uint8_t two = 16;
  const auto others = static_cast<std::uint8_t>(mask & ~two);
  return others > 1 ? highest(others) : (mask & two) != 0 ? two : others;
}

power::LinkMode best_of(const mad::PortInfo& near, const mad::PortInfo* far) {
  const auto both = [&](std::uint8_t mad::PortInfo::*mask) {
    return static_cast<std::uint8_t>(near.*mask & (far != nullptr ? far->*mask : 0xff));
  };
  mad::PortInfo best;
  best.link_width_active = widest(both(&mad::PortInfo::link_width_supported));
  best.link_speed_active = highest(both(&mad::PortInfo::link_speed_supported));
  best.link_speed_ext_active = highest(both(&mad::PortInfo::link_speed_ext_supported));
  best.link_speed_ext2_active = highest(both(&mad::PortInfo::link_speed_ext2_supported));
  return {mad::active_width(best), mad::active_speed(best)};
}

}  // namespace

std::vector<regulation::OffRecord> off_by_plan(std::span<const LinkRef> off, const Survey& survey,
                                               Instant now) {
  std::vector<regulation::OffRecord> records;
  for (const LinkRef& link : off) {
    for (const PortRef& port : {link.a, link.b}) {
      const mad::PortInfo* near = info_of(survey, port);
      if (near == nullptr || near->physical != PhysState::Disabled) continue;
      const mad::PortInfo* far = info_of(survey, port == link.a ? link.b : link.a);
      records.push_back({link, port, best_of(*near, far), power::off_mode, regulation::Cause::Regulation, now,
                         "off by the plan for OpenSM's plugin; the journal was lost"});
      break;
    }
  }
  return records;
}

}  // namespace heddle::opensm
