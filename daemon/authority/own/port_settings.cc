#include "authority/own/port_settings.h"

#include <algorithm>

namespace heddle::provision {
namespace {

bool carries_lid(const Survey& survey, LinkEnd end) {
  return survey.node(end.node).is_switch() == (end.port == PortNum{0});
}

}  // namespace

mad::PortInfo settings(const Survey& survey, LinkEnd end, const LidsByPort& lids, Lid sm_lid,
                       const PortPolicy& policy) {
  const mad::PortInfo& has = survey.port(end).info;
  mad::PortInfo info = unchanged(has, policy.m_key);
  if (carries_lid(survey, end)) {
    const auto lid = lids.find({survey.node(end.node).guid(), end.port});
    if (lid != lids.end()) info.lid = lid->second;
    info.lmc = end.port == PortNum{0} ? std::uint8_t{0} : policy.lmc;
    info.master_sm_lid = sm_lid;
    info.master_sm_sl = Sl{0};
    info.gid_prefix = policy.gid_prefix;
    info.subnet_timeout = policy.subnet_timeout;
  }
  const auto peer = survey.fabric->peer(end);
  if (end.port != PortNum{0} && peer && survey.port(*peer).known) {
    const mad::PortInfo& other = survey.port(*peer).info;
    const auto least = [](std::uint8_t a, std::uint8_t b, std::uint8_t most) {
      return std::max<std::uint8_t>(std::min({a, b, most}), 1);
    };
    info.neighbor_mtu = least(has.mtu_cap, other.mtu_cap, policy.mtu);
    info.operational_vls = least(has.vl_cap, other.vl_cap, policy.vls);
  }
  return info;
}

bool accepted(const mad::PortInfo& got, const mad::PortInfo& wanted, LinkEnd end, const Survey& survey) {
  return !carries_lid(survey, end) ||
         (got.lid == wanted.lid && got.lmc == wanted.lmc && got.master_sm_lid == wanted.master_sm_lid);
}

// The M_Key is not looked at: a port that hides it answers 0. Nor is what some agents do not keep.
bool fulfilled(const mad::PortInfo& has, const mad::PortInfo& wanted, LinkEnd end, const Survey& survey) {
  if (!accepted(has, wanted, end, survey)) return false;
  if (carries_lid(survey, end) && has.gid_prefix != wanted.gid_prefix) return false;
  return end.port == PortNum{0} ||
         (has.neighbor_mtu == wanted.neighbor_mtu && has.operational_vls == wanted.operational_vls);
}

}  // namespace heddle::provision
