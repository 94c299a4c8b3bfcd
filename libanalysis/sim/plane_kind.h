/// At which level a simulated fabric carries its traffic.
#pragma once

#include <cstdint>

namespace heddle::sim {

enum class PlaneKind : std::uint8_t {
  Flow,    ///< rates: any fabric, real time
  Packet,  ///< every packet: small fabrics, slowed-down time
};

}  // namespace heddle::sim
