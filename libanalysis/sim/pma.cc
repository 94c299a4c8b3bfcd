#include "sim/pma.h"

#include <algorithm>

#include "mad/phy_counters.h"
#include "sim/counter_fields.h"

namespace heddle::sim {

using mad::Method;
using mad::PmAttr;
namespace status = mad::status;

namespace {

using VlCounter = std::array<std::uint64_t, 16> VlTotals::*;

/// Null for what is always zero here.
VlCounter vl_counter(PmAttr attribute) {
  switch (attribute) {
    case PmAttr::PortVlOpPackets:
      return &VlTotals::xmit_packets;
    case PmAttr::PortVlOpData:
      return &VlTotals::xmit_data;
    case PmAttr::PortVlXmitWaitCounters:
      return &VlTotals::xmit_wait;
    default:
      return nullptr;
  }
}

}  // namespace

std::uint16_t Pma::answer(const mad::Header& request, PortIndex at, std::uint32_t qp, mad::Bytes& mad,
                          Picoseconds now) {
  const NodeState& node = model_.node_of(at);
  if (request.method != Method::Get && request.method != Method::Set) return status::bad_method;
  const auto attribute = static_cast<PmAttr>(request.attribute);
  if (node.redirect && qp == mad::gsi_qp && attribute != PmAttr::ClassPortInfo) {
    static_cast<void>(class_port_info(node, mad));
    return status::redirect;
  }
  if (attribute == mad::port_extended_speeds) return extended_speeds(request.method, node, at, mad, now);
  switch (attribute) {
    case PmAttr::ClassPortInfo:
      return request.method == Method::Get ? class_port_info(node, mad) : status::bad_method_attribute;
    case PmAttr::PortCounters:
      return port_counters(request.method, node, at, mad, now);
    case PmAttr::PortCountersExtended:
      return extended_counters(request.method, node, at, mad, now);
    case PmAttr::PortSamplesControl:
      return samples_control(request.method, node, at, mad, now);
    case PmAttr::PortSamplesResult:
      return request.method == Method::Get ? samples_result(node, at, mad) : status::bad_method_attribute;
    case PmAttr::PortVlOpPackets:
    case PmAttr::PortVlOpData:
    case PmAttr::PortVlXmitFlowCtlUpdateErrors:
    case PmAttr::PortVlXmitWaitCounters:
    case PmAttr::SwPortVlCongestion:
      return per_vl(request, node, at, mad, now);
    case PmAttr::PortRcvErrorDetails:
    case PmAttr::PortXmitDiscardDetails:
    case PmAttr::PortOpRcvCounters:
    case PmAttr::PortFlowCtlCounters:
      return details(request, node, at, mad, now);
  }
  return status::bad_method_attribute;
}

Pma::Selection Pma::select(const NodeState& node, PortIndex at, PortNum wanted) const {
  if (node.type != NodeType::Switch) {
    return wanted == model_.wires[at.raw()].num ? Selection{at, 1} : Selection{};
  }
  if (wanted == PortNum{255}) {
    if (!node.traits.all_ports) return {};
    return {PortIndex{node.first_port.raw() + 1}, node.port_count};
  }
  return wanted.raw() <= node.port_count ? Selection{model_.port_of(node, wanted), 1} : Selection{};
}

std::uint16_t Pma::class_port_info(const NodeState& node, mad::Bytes& mad) const {
  namespace cap = mad::pm_cap;
  mad::ClassPortInfo info;
  const NodeTraits& traits = node.traits;
  unsigned mask = 0;
  if (traits.all_ports && node.type == NodeType::Switch) mask |= cap::all_port_select;
  if (traits.extended_counters) {
    mask |= traits.ietf_counters ? cap::extended_width : cap::extended_width_no_ietf;
  }
  if (traits.xmit_wait) mask |= cap::xmit_wait;
  if (traits.phy_counters && traits.rs_fec) mask |= cap::rs_fec;
  info.capability_mask = static_cast<std::uint16_t>(mask);
  if (traits.extended_counters && traits.extended_errors) info.capability_mask2 = cap::extended_errors;
  info.resp_time_value = 18;
  if (node.redirect) {
    const PortIndex target = node.redirect->target;
    info.redirect_lid = model_.info(model_.management_port(target)).lid;
    info.redirect_qp = node.redirect->qp;
    info.redirect_qkey = mad::gsi_qkey;
    info.redirect_pkey = 0xffff;
  }
  encode_gmp(info, mad::gmp_data(mad));
  return status::ok;
}

std::uint16_t Pma::port_counters(Method method, const NodeState& node, PortIndex at, mad::Bytes& mad,
                                 Picoseconds now) {
  const auto data = mad::gmp_data(mad);
  const PortNum wanted{data[1]};
  const Selection selected = select(node, at, wanted);
  if (selected.count == 0) return status::bad_field;
  mad::PortCounters shown;
  if (method == Method::Set) {
    const auto given = mad::decode_gmp<mad::PortCounters>(data);
    for (unsigned i = 0; i < selected.count; ++i) {
      write_selected(given, PortIndex{selected.first.raw() + i}, counters_, now);
    }
  }
  PortTotals sum;
  Counters::Errors errors{};
  for (unsigned i = 0; i < selected.count; ++i) {
    const PortIndex port{selected.first.raw() + i};
    const PortTotals value = counters_.read(port, Counters::Set::Narrow, now);
    if (node.faults.stuck_counters) continue;
    add_saturating(sum, value);
    add_saturating(errors, counters_.errors(port, value, now));
  }
  shown.port_select = wanted;
  show(sum, errors, node.traits, shown);
  encode_gmp(shown, data);
  return status::ok;
}

std::uint16_t Pma::extended_counters(Method method, const NodeState& node, PortIndex at, mad::Bytes& mad,
                                     Picoseconds now) {
  if (!node.traits.extended_counters) return status::bad_method_attribute;
  const auto data = mad::gmp_data(mad);
  const PortNum wanted{data[1]};
  const Selection selected = select(node, at, wanted);
  if (selected.count == 0) return status::bad_field;
  if (method == Method::Set) {
    const auto given = mad::decode_gmp<mad::PortCountersExtended>(data);
    for (unsigned i = 0; i < selected.count; ++i) {
      write_selected(given, PortIndex{selected.first.raw() + i}, counters_, now);
    }
  }
  mad::PortCountersExtended shown;
  shown.port_select = wanted;
  for (unsigned i = 0; i < selected.count; ++i) {
    const PortIndex port{selected.first.raw() + i};
    const PortTotals value = counters_.read(port, Counters::Set::Wide, now);
    if (node.faults.stuck_counters) continue;
    add(value, counters_.errors(port, value, now), node.traits, shown);
  }
  encode_gmp(shown, data);
  return status::ok;
}

std::uint16_t Pma::extended_speeds(Method method, const NodeState& node, PortIndex at, mad::Bytes& mad,
                                   Picoseconds now) {
  if (!node.traits.phy_counters) return status::bad_method_attribute;
  const auto data = mad::gmp_data(mad);
  const PortNum wanted{data[1]};
  const Selection selected = select(node, at, wanted);
  if (selected.count != 1) return status::bad_field;
  const mad::PortInfo& info = model_.info(selected.first);
  const LinkWidth width = mad::active_width(info);
  const LinkSpeed speed = mad::active_speed(info);
  if (method == Method::Set) counters_.phy().reset(selected.first, width, speed, now);
  const PhyTotals totals = counters_.phy().read(selected.first, width, speed, now);
  const auto limited = [](std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xffffffffU));
  };
  const auto of_lane = [&](std::uint64_t total, std::size_t lane) {
    const auto all = static_cast<std::uint64_t>(std::max(lanes(width), 1));
    return lane < all ? limited(total / all + (lane < total % all ? 1 : 0)) : 0U;
  };
  if (speed >= LinkSpeed::Hdr || (speed >= LinkSpeed::Edr && node.traits.rs_fec)) {
    mad::RsFecSpeedsCounters shown;
    shown.port_select = wanted;
    for (std::size_t lane = 0; lane < mad::most_lanes; ++lane) {
      shown.corrected_symbols[lane] = of_lane(totals.corrected, lane);
    }
    shown.port_corrected_symbols = shown.port_corrected_blocks = limited(totals.corrected);
    shown.port_uncorrectable_blocks = limited(totals.uncorrectable);
    encode_gmp(shown, data);
    return status::ok;
  }
  mad::LaneSpeedsCounters shown;
  shown.port_select = wanted;
  for (std::size_t lane = 0; lane < mad::most_lanes; ++lane) {
    shown.corrected_blocks[lane] = of_lane(totals.corrected, lane);
    shown.uncorrectable_blocks[lane] = of_lane(totals.uncorrectable, lane);
  }
  encode_gmp(shown, data);
  return status::ok;
}

std::uint16_t Pma::per_vl(const mad::Header& request, const NodeState& node, PortIndex at, mad::Bytes& mad,
                          Picoseconds now) {
  const auto data = mad::gmp_data(mad);
  const PortNum wanted{data[1]};
  const Selection selected = select(node, at, wanted);
  if (selected.count == 0) return status::bad_field;
  const auto attribute = static_cast<PmAttr>(request.attribute);
  const bool wide = attribute == PmAttr::PortVlOpPackets || attribute == PmAttr::PortVlOpData;
  const auto width = wide ? mad::CounterWidth::Bits32 : mad::CounterWidth::Bits16;
  const std::uint16_t reset =
      request.method == Method::Set ? decode_per_vl(data, width).counter_select : std::uint16_t{0};

  mad::PerVlCounters shown;
  shown.port_select = wanted;
  const auto counter = vl_counter(attribute);
  for (unsigned i = 0; i < selected.count && counter != nullptr && counters_.source() != nullptr; ++i) {
    const PortIndex port{selected.first.raw() + i};
    const VlTotals totals = counters_.source()->read_vls(port, now);
    for (std::size_t vl = 0; vl < 16 && reset != 0; ++vl) {
      if ((reset >> vl & 1U) != 0) (vl_bases_[port].*counter)[vl] = (totals.*counter)[vl];
    }
    const auto base = vl_bases_.find(port);
    const std::uint64_t limit = wide ? 0xffffffffU : 0xffffU;
    for (std::size_t vl = 0; vl < 16; ++vl) {
      const std::uint64_t since = base == vl_bases_.end() ? 0 : (base->second.*counter)[vl];
      const std::uint64_t sum = shown.value[vl] + ((totals.*counter)[vl] - since);
      shown.value[vl] = static_cast<std::uint32_t>(std::min(limit, sum));
    }
  }
  encode_per_vl(shown, width, data);
  return status::ok;
}

std::uint16_t Pma::details(const mad::Header& request, const NodeState& node, PortIndex at, mad::Bytes& mad,
                           Picoseconds now) {
  if (!node.traits.error_details) return status::bad_method_attribute;
  const auto data = mad::gmp_data(mad);
  const PortNum wanted{data[1]};
  const Selection selected = select(node, at, wanted);
  if (selected.count == 0) return status::bad_field;
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  data[1] = wanted.raw();
  PortTotals sum;
  Counters::Errors errors{};
  Counters::Details known{};
  for (unsigned i = 0; i < selected.count; ++i) {
    const PortIndex port{selected.first.raw() + i};
    const PortTotals value = counters_.read(port, Counters::Set::Narrow, now);
    add_saturating(sum, value);
    add_saturating(errors, counters_.errors(port, value, now));
    const Counters::Details own = counters_.details(port);
    for (std::size_t k = 0; k < known.size(); ++k) known[k] += own[k];
  }
  const auto error = [&](ErrorCounter counter) { return errors[static_cast<std::size_t>(counter)]; };
  const auto detail = [&](ErrorDetail which) { return known[static_cast<std::size_t>(which)]; };
  const auto limited = [](std::uint64_t value) {
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(value, 0xffff));
  };
  // What a reset of the counters took is in the details still.
  const auto rest = [](std::uint64_t all, std::uint64_t told) { return all > told ? all - told : 0; };
  if (request.attribute == static_cast<std::uint16_t>(PmAttr::PortXmitDiscardDetails)) {
    mad::PortXmitDiscardDetails shown;
    shown.port_select = wanted;
    const std::uint64_t inactive = sum.inactive_discards + detail(ErrorDetail::Inactive);
    const std::uint64_t told = inactive + detail(ErrorDetail::NeighborMtu) + detail(ErrorDetail::Lifetime);
    shown.inactive = limited(inactive);
    shown.neighbor_mtu = limited(detail(ErrorDetail::NeighborMtu));
    shown.lifetime_limit = limited(detail(ErrorDetail::Lifetime));
    shown.hoq_lifetime_limit = limited(rest(error(ErrorCounter::XmitDiscards), told));
    encode_gmp(shown, data);
  } else if (request.attribute == static_cast<std::uint16_t>(PmAttr::PortRcvErrorDetails)) {
    mad::PortRcvErrorDetails shown;
    shown.port_select = wanted;
    const std::uint64_t told = detail(ErrorDetail::Malformed) + detail(ErrorDetail::BufferOverrun);
    shown.local_physical = limited(rest(error(ErrorCounter::RcvErrors), told));
    shown.malformed = limited(detail(ErrorDetail::Malformed));
    shown.buffer_overrun =
        limited(detail(ErrorDetail::BufferOverrun) + error(ErrorCounter::ExcessiveBufferOverrun));
    encode_gmp(shown, data);
  }
  return status::ok;
}

}  // namespace heddle::sim
