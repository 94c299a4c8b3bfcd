#include "sim/packet/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace heddle::packet {
namespace {

Result<void> in_range(std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return fail(ErrorCode::Invalid, fmt::format("{} = {}: must be {} to {}", key, value, least, most));
}

Result<void> check_delays(const StageDelays& d) {
  const std::array<std::pair<std::string_view, int>, 8> stages{{{"injection", d.injection},
                                                                {"input", d.input},
                                                                {"routing", d.routing},
                                                                {"allocation", d.allocation},
                                                                {"crossbar", d.crossbar},
                                                                {"output", d.output},
                                                                {"flight", d.flight},
                                                                {"credit", d.credit}}};
  for (const auto& [name, cycles] : stages) {
    if (auto ok = in_range(fmt::format("delays.{}", name), cycles, 0, 1'000'000); !ok) return ok;
  }
  if (d.allocation + d.crossbar < 1) {
    return fail(ErrorCode::Invalid,
                "delays.allocation and delays.crossbar are both 0: one of them must be 1 or more");
  }
  if (d.flight + d.input + d.routing < 1 || d.flight < 1) {
    return fail(ErrorCode::Invalid, "delays.flight = 0: a link takes at least one cycle");
  }
  if (d.credit < 1) return fail(ErrorCode::Invalid, "delays.credit = 0: a credit takes at least one cycle");
  return {};
}

/// Room that one VL can count on in a buffer: the greatest packet must fit there, or it would wait for ever.
Result<void> check_buffer(std::string_view key, std::int32_t flits, const DataPlane& plane,
                          std::int32_t packets) {
  if (auto ok = in_range(key, flits, 1, 100'000'000); !ok) return ok;
  const double greatest = std::min<double>(flits, flits * plane.sharing.greatest / plane.vls);
  const auto room = static_cast<std::int32_t>(greatest);
  const std::int32_t largest = plane.largest_packet();
  if (room < std::int64_t{packets} * largest) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("{} = {} flits leaves {} for each of {} VLs: too little for {} packet(s) of {} flits",
                    key, flits, room, plane.vls, packets, largest));
  }
  return {};
}

/// One arbiter counts the inputs of a switch, its ports' and the centre's, in 8 bits.
Result<void> check_places(const DataPlane& plane, const Fabric& fabric) {
  constexpr int most_ports = 168;  // and 84 central buffers
  if (plane.output_arbiter == OutputArbiter::PerCrossbar) return {};
  for (const Node& node : fabric.nodes()) {
    if (node.type != NodeType::Switch || node.port_count <= most_ports) continue;
    return fail(ErrorCode::Invalid,
                fmt::format("output_arbiter = \"one\": a switch has {} ports, it is for {} at most",
                            node.port_count, most_ports));
  }
  return {};
}

/// A speed of the other model would be ignored, so it is refused.
Result<void> check_speeds(const DataPlane& plane) {
  struct Speed {
    std::string_view key;
    int value;
    SwitchModel model;
  };
  for (const Speed& speed : {Speed{"crossbar_speed", plane.crossbar_speed, SwitchModel::InfiniBand},
                             Speed{"mport_speed", plane.mport_speed, SwitchModel::OmniPath},
                             Speed{"central_speed", plane.central_speed, SwitchModel::OmniPath}}) {
    if (auto ok = in_range(speed.key, speed.value, 1, greatest_speed); !ok) return ok;
    if (speed.value == 1 || speed.model == plane.model) continue;
    return fail(ErrorCode::Invalid,
                fmt::format("{} = {}: model \"{}\" has no such crossbar", speed.key, speed.value,
                            plane.model == SwitchModel::InfiniBand ? "infiniband" : "omni-path"));
  }
  return {};
}

}  // namespace

Result<void> check(const DataPlane& plane, const Fabric& fabric, const Programming& programming) {
  if (auto ok = in_range("cycle_ps", plane.cycle.count(), 1, 1'000'000'000); !ok) return ok;
  if (auto ok = in_range("flit_bytes", plane.flit_bytes, 1, 65'536); !ok) return ok;
  if (auto ok = in_range("vls", plane.vls, 1, 32); !ok) return ok;
  if (auto ok = in_range("max_packet", plane.max_packet, 1, 32'767); !ok) return ok;
  if (auto ok = in_range("sl_mtu", plane.largest_packet(), 1, 32'767); !ok) return ok;
  if (auto ok = in_range("allocation_retry", plane.allocation_retry, 0, 1'000'000); !ok) return ok;
  if (auto ok = in_range("input_lanes", plane.input_lanes, 1, 255); !ok) return ok;
  if (auto ok = check_speeds(plane); !ok) return ok;
  if (auto ok = in_range("output_lanes", plane.output_lanes, 1, 1024); !ok) return ok;
  if (auto ok = in_range("allocation_passes", plane.allocation_passes, 1, 64); !ok) return ok;
  if (auto ok = in_range("head_lifetime", plane.head_lifetime, 0, 1'000'000'000'000); !ok) return ok;
  if (auto ok = check_delays(plane.delays); !ok) return ok;
  if (!(plane.sharing.least >= 0 && plane.sharing.least <= 1)) {
    return fail(ErrorCode::Invalid, "sharing.least: must be 0 to 1, in equal shares");
  }
  if (!(plane.sharing.greatest >= plane.sharing.least && plane.sharing.greatest <= 1024)) {
    return fail(ErrorCode::Invalid, "sharing.greatest: must be sharing.least or more, in equal shares");
  }
  const std::int32_t entering = plane.ring_rule == RingRule::Bubble ? 2 : 1;
  if (auto ok = check_buffer("buffers.input", plane.input_flits, plane, 1); !ok) return ok;
  if (auto ok = check_buffer("buffers.output", plane.output_flits, plane, entering); !ok) return ok;
  if (auto ok = check_buffer("buffers.host", plane.host_flits, plane, 1); !ok) return ok;
  if (plane.model == SwitchModel::OmniPath) {
    if (auto ok = check_places(plane, fabric); !ok) return ok;
    if (auto ok = check_buffer("buffers.central", plane.central_flits / 2, plane, 1); !ok) return ok;
  }
  const int base_vls = plane.ring_rule == RingRule::DateLine ? plane.vls / 2 : plane.vls;
  if (base_vls < 1) return fail(ErrorCode::Invalid, "ring_rule = \"date-line\" needs vls = 2 or more");
  for (std::size_t sl = 0; sl < plane.sl_to_vl.size(); ++sl) {
    if (plane.sl_to_vl[sl] >= base_vls && plane.sl_to_vl[sl] != 15) {
      return fail(ErrorCode::Invalid, fmt::format("sl_to_vl[{}] = {}: there are {} VLs to choose from", sl,
                                                  plane.sl_to_vl[sl], base_vls));
    }
  }
  for (std::size_t sl = 0; sl < plane.sl_turns.size(); ++sl) {
    for (const std::uint8_t vl : plane.sl_turns[sl]) {
      if (vl < base_vls) continue;
      return fail(ErrorCode::Invalid,
                  fmt::format("sc_to_vl: SL {} has VL {}: there are {} to choose from", sl, vl, base_vls));
    }
  }
  if (plane.ring_rule != RingRule::None && programming.rings.empty()) {
    return fail(ErrorCode::Invalid, "ring_rule: the fabric is not known to be a torus, so it has no rings");
  }
  if (!programming.rings.empty() && programming.rings.size() != fabric.ports().size()) {
    return fail(ErrorCode::Invalid, "rings: must name every port of the fabric");
  }
  if (!programming.sl2vl.empty() && programming.sl2vl.size() != fabric.nodes().size()) {
    return fail(ErrorCode::Invalid, "sl2vl: must have a table, or an empty one, for every node");
  }
  return {};
}

}  // namespace heddle::packet
