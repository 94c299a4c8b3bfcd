#include "load/tick.h"

namespace heddle::load {

Tick TickTable::find(std::uint32_t vendor_id, std::uint16_t device_id) const {
  for (const TickRule& rule : rules) {
    if (rule.vendor_id == vendor_id && (!rule.device_id || *rule.device_id == device_id)) return rule.tick;
  }
  return otherwise;
}

TickTable documented_ticks() {
  constexpr std::uint32_t mellanox = 0x2c9;
  constexpr Tick quantum{8, Tick::Unit::PortBytes};
  constexpr Tick switch_ib{32, Tick::Unit::LaneBytes};
  return {.rules = {{mellanox, 0xd2f0, quantum},     // Quantum
                    {mellanox, 0xd2f2, quantum},     // Quantum-2
                    {mellanox, 0xd2f4, quantum},     // Quantum-3
                    {mellanox, 0xc738, switch_ib},   // SwitchX
                    {mellanox, 0xcb20, switch_ib},   // Switch-IB
                    {mellanox, 0xcf08, switch_ib}},  // Switch-IB 2
          .otherwise = {}};
}

double ticks_per_second(Tick tick, LinkWidth width, LinkSpeed speed) {
  const double bytes = data_rate(width, speed).value() / 8;
  if (tick.length <= 0 || bytes <= 0) return 0;
  switch (tick.unit) {
    case Tick::Unit::Nanoseconds:
      return 1e9 / tick.length;
    case Tick::Unit::PortBytes:
      return bytes / tick.length;
    case Tick::Unit::LaneBytes:
      return bytes / lanes(width) / tick.length;
  }
  return 0;
}

}  // namespace heddle::load
