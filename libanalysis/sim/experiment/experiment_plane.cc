// The data plane of an experiment: [plane], what it is based on, and what a variant changes.
#include <array>

#include "sim/experiment/experiment_keys.h"

namespace heddle::packet {
namespace {

constexpr std::array models{Word<SwitchModel>{"infiniband", SwitchModel::InfiniBand},
                            Word<SwitchModel>{"omni-path", SwitchModel::OmniPath}};
constexpr std::array ring_rules{Word<RingRule>{"none", RingRule::None},
                                Word<RingRule>{"bubble", RingRule::Bubble},
                                Word<RingRule>{"date-line", RingRule::DateLine}};
constexpr std::array up_routings{Word<UpRouting>{"programmed", UpRouting::Programmed},
                                 Word<UpRouting>{"valiant", UpRouting::Valiant},
                                 Word<UpRouting>{"adaptive", UpRouting::Adaptive}};
constexpr std::array trunk_routings{Word<TrunkRouting>{"programmed", TrunkRouting::Programmed},
                                    Word<TrunkRouting>{"per-message", TrunkRouting::PerMessage},
                                    Word<TrunkRouting>{"adaptive", TrunkRouting::Adaptive}};
constexpr std::array output_arbiters{Word<OutputArbiter>{"per-crossbar", OutputArbiter::PerCrossbar},
                                     Word<OutputArbiter>{"one", OutputArbiter::One}};
constexpr std::array virtual_allocations{Word<VirtualAllocation>{"ready", VirtualAllocation::Ready},
                                         Word<VirtualAllocation>{"blind", VirtualAllocation::Blind}};
constexpr std::array closed_links{Word<ClosedLink>{"discard", ClosedLink::Discard},
                                  Word<ClosedLink>{"hold", ClosedLink::Hold}};
constexpr std::array disciplines{
    Word<Discipline>{"round-robin", Discipline::RoundRobin}, Word<Discipline>{"iba", Discipline::InfiniBand},
    Word<Discipline>{"sbt", Discipline::SimpleTable}, Word<Discipline>{"dtable", Discipline::DeficitTable}};
constexpr std::array low_grants{Word<qos::LowGrant>{"entry", qos::LowGrant::Entry},
                                Word<qos::LowGrant>{"packet", qos::LowGrant::Packet}};
constexpr std::array roundings{Word<qos::Rounding>{"up", qos::Rounding::Up},
                               Word<qos::Rounding>{"deficit", qos::Rounding::Deficit},
                               Word<qos::Rounding>{"units", qos::Rounding::Units}};
constexpr std::array restores{Word<qos::SbtRestore>{"all-used-up", qos::SbtRestore::AllUsedUp},
                              Word<qos::SbtRestore>{"all-waiting-dry", qos::SbtRestore::AllWaitingDry}};

void read_scheduler(Keys& keys, SchedulerConfig& scheduler) {
  keys.word("discipline", scheduler.discipline, disciplines);
  keys.entries("table", scheduler.high);
  keys.entries("low", scheduler.low);
  keys.integer("high_limit", scheduler.high_limit, 0, 255);
  keys.word("low_grant", scheduler.low_grant, low_grants);
  keys.word("rounding", scheduler.rounding, roundings);
  keys.word("restore", scheduler.restore, restores);
}

void read_delays(Keys& keys, StageDelays& delays) {
  keys.integer("injection", delays.injection, 0, 1'000'000);
  keys.integer("input", delays.input, 0, 1'000'000);
  keys.integer("routing", delays.routing, 0, 1'000'000);
  keys.integer("allocation", delays.allocation, 0, 1'000'000);
  keys.integer("crossbar", delays.crossbar, 0, 1'000'000);
  keys.integer("output", delays.output, 0, 1'000'000);
  keys.integer("flight", delays.flight, 0, 1'000'000);
  keys.integer("credit", delays.credit, 0, 1'000'000);
}

void buffer(Keys& keys, std::string_view key, std::int32_t& flits, int flit_bytes) {
  std::int64_t bytes = std::int64_t{flits} * flit_bytes;
  keys.integer(key, bytes, 1, most_bytes);
  flits = static_cast<std::int32_t>(bytes / flit_bytes);
}

/// Bytes by SL, 0 for what `mtu` says.
void read_sl_mtu(Keys& keys, DataPlane& plane) {
  std::vector<std::int64_t> bytes;
  keys.integers("sl_mtu", bytes, 0, 1'000'000);
  if (bytes.size() > plane.sl_mtu.size()) keys.wrong("sl_mtu", "has more than 32 entries");
  for (std::size_t sl = 0; sl < std::min(bytes.size(), plane.sl_mtu.size()); ++sl) {
    plane.sl_mtu[sl] = in_flits(bytes[sl], plane.flit_bytes);
  }
}

/// SCs of each SL, taken in turn, and the VL of each SC; without sc_to_vl they are the same numbers.
void read_service_channels(Keys& keys, DataPlane& plane) {
  std::vector<std::vector<std::uint8_t>> channels;
  keys.lists("sl_to_sc", channels, 0, 31);
  std::vector<std::uint8_t> vl_of;
  keys.integers("sc_to_vl", vl_of, 0, 31);
  if (channels.empty() && !vl_of.empty()) keys.wrong("sc_to_vl", "needs sl_to_sc");
  if (channels.empty()) return;
  if (channels.size() > plane.sl_to_vl.size()) keys.wrong("sl_to_sc", "has more than 32 entries");
  for (auto& of_sl : channels) {
    for (std::uint8_t& channel : of_sl) {
      if (vl_of.empty()) continue;
      if (channel >= vl_of.size()) {
        keys.wrong("sl_to_sc", fmt::format("SC {} is not in sc_to_vl", channel));
        return;
      }
      channel = vl_of[channel];
    }
  }
  plane.sl_turns = std::move(channels);
}

void read_plane_keys(Keys& keys, DataPlane& plane) {
  keys.word("model", plane.model, models);
  std::int64_t cycle = plane.cycle.count();
  keys.integer("cycle_ps", cycle, 1, 1'000'000'000);
  plane.cycle = Picoseconds{cycle};
  keys.integer("flit_bytes", plane.flit_bytes, 1, 65'536);
  keys.integer("vls", plane.vls, 1, 32);
  std::vector<std::uint8_t> vls;
  keys.integers("sl_to_vl", vls, 0, 31);
  if (vls.size() > plane.sl_to_vl.size()) keys.wrong("sl_to_vl", "has more than 32 entries");
  std::copy_n(vls.begin(), std::min(vls.size(), plane.sl_to_vl.size()), plane.sl_to_vl.begin());
  read_service_channels(keys, plane);
  std::int64_t mtu = std::int64_t{plane.max_packet} * plane.flit_bytes;
  keys.integer("mtu", mtu, 1, 1'000'000);
  plane.max_packet = static_cast<std::int32_t>((mtu + plane.flit_bytes - 1) / plane.flit_bytes);
  keys.integer("allocation_passes", plane.allocation_passes, 1, 64);
  keys.integer("input_lanes", plane.input_lanes, 1, 1024);
  keys.integer("output_lanes", plane.output_lanes, 1, 1024);
  keys.integer("crossbar_speed", plane.crossbar_speed, 1, greatest_speed);
  keys.integer("mport_speed", plane.mport_speed, 1, greatest_speed);
  keys.integer("central_speed", plane.central_speed, 1, greatest_speed);
  keys.word("output_arbiter", plane.output_arbiter, output_arbiters);
  keys.word("virtual_allocation", plane.virtual_allocation, virtual_allocations);
  keys.integer("allocation_retry", plane.allocation_retry, 0, 1'000'000);
  read_sl_mtu(keys, plane);
  keys.word("ring_rule", plane.ring_rule, ring_rules);
  keys.word("up_routing", plane.up_routing, up_routings);
  keys.word("trunk_routing", plane.trunk_routing, trunk_routings);
  keys.word("closed_link", plane.closed_link, closed_links);
  keys.integer("head_lifetime", plane.head_lifetime, 0, most_cycles);
  keys.table("delays", [&](Keys& inner) { read_delays(inner, plane.delays); });
  keys.table("buffers", [&](Keys& inner) {
    buffer(inner, "input", plane.input_flits, plane.flit_bytes);
    buffer(inner, "output", plane.output_flits, plane.flit_bytes);
    buffer(inner, "central", plane.central_flits, plane.flit_bytes);
    buffer(inner, "host", plane.host_flits, plane.flit_bytes);
    inner.number("least", plane.sharing.least, 0, 1);
    inner.number("greatest", plane.sharing.greatest, 0, 1024);
  });
  keys.table("scheduler", [&](Keys& inner) {
    read_scheduler(inner, plane.switch_scheduler);
    plane.host_scheduler = plane.switch_scheduler;
  });
  keys.table("switch_scheduler", [&](Keys& inner) { read_scheduler(inner, plane.switch_scheduler); });
  keys.table("host_scheduler", [&](Keys& inner) { read_scheduler(inner, plane.host_scheduler); });
}

}  // namespace

void read_plane(Keys& keys, DataPlane& plane, const PlaneBases& bases, Complaints& complaints) {
  std::string base;
  keys.text("base", base);
  if (!base.empty()) {
    const auto found = bases.find(base);
    if (found == bases.end()) {
      keys.wrong("base", fmt::format("there is no [planes.{}], here or in what is included", base));
      return;
    }
    Keys inner{*found->second, complaints};
    read_plane_keys(inner, plane);
  }
  read_plane_keys(keys, plane);
}

}  // namespace heddle::packet
