/// Data planes by chance, for properties that must hold with any of them.
#pragma once

#include <rapidcheck.h>

#include "support/packet_plant.h"

namespace heddle::packet::testing_support {

inline SchedulerConfig any_scheduler(int vls) {
  SchedulerConfig config;
  config.discipline = *rc::gen::element(Discipline::RoundRobin, Discipline::InfiniBand,
                                        Discipline::SimpleTable, Discipline::DeficitTable);
  for (int vl = 0; vl < vls; ++vl) {
    config.high.push_back({static_cast<std::uint8_t>(vl), *rc::gen::inRange<std::uint32_t>(1, 20)});
    config.low.push_back({static_cast<std::uint8_t>(vl), *rc::gen::inRange<std::uint32_t>(1, 20)});
  }
  config.high_limit = *rc::gen::element<std::uint8_t>(0, 1, 255);
  return config;
}

inline DataPlane any_plane() {
  const int vls = *rc::gen::inRange(1, 5);
  const std::int32_t largest = *rc::gen::inRange(1, 20);
  DataPlane with = plane(vls, largest, largest * *rc::gen::inRange(1, 4) + 3);
  with.model = *rc::gen::element(SwitchModel::InfiniBand, SwitchModel::OmniPath);
  with.delays = {.injection = *rc::gen::inRange(0, 3),
                 .input = *rc::gen::inRange(0, 5),
                 .routing = *rc::gen::inRange(0, 5),
                 .allocation = *rc::gen::inRange(0, 3),
                 .crossbar = *rc::gen::inRange(1, 4),
                 .output = *rc::gen::inRange(0, 4),
                 .flight = *rc::gen::inRange(1, 9),
                 .credit = *rc::gen::inRange(1, 9)};
  with.allocation_passes = *rc::gen::inRange(1, 4);
  with.input_lanes = *rc::gen::element(1, 1, 2, 3);
  with.output_lanes = *rc::gen::inRange(1, 4);
  with.output_arbiter = *rc::gen::element(OutputArbiter::PerCrossbar, OutputArbiter::One);
  with.virtual_allocation = *rc::gen::element(VirtualAllocation::Ready, VirtualAllocation::Blind);
  with.allocation_retry = *rc::gen::element<Cycle>(0, 1, 16);
  if (*rc::gen::arbitrary<bool>()) with.sharing = {.least = 0.25, .greatest = 2.5};
  with.switch_scheduler = any_scheduler(vls);
  with.host_scheduler = any_scheduler(vls);
  return with;
}

}  // namespace heddle::packet::testing_support
