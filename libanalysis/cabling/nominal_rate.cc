#include <fmt/format.h>

#include <array>
#include <cmath>

#include "cabling/cable_plan.h"

namespace heddle::cabling {
namespace {

struct Lane {
  LinkSpeed speed;
  double gbit;  ///< as marketed: a quarter of what a 4x product is called
};
constexpr std::array lanes_of_products{
    Lane{LinkSpeed::Sdr, 2.5},  Lane{LinkSpeed::Ddr, 5},   Lane{LinkSpeed::Qdr, 10},
    Lane{LinkSpeed::Fdr10, 10}, Lane{LinkSpeed::Fdr, 14},  Lane{LinkSpeed::Edr, 25},
    Lane{LinkSpeed::Hdr, 50},   Lane{LinkSpeed::Ndr, 100}, Lane{LinkSpeed::Xdr, 200},
};

}  // namespace

NominalRate nominal_rate(LinkWidth width, LinkSpeed speed) {
  for (const Lane& lane : lanes_of_products) {
    if (lane.speed == speed) return {lane.gbit * lanes(width)};
  }
  return {};
}

std::string to_string(NominalRate rate) {
  for (const Lane& lane : lanes_of_products) {
    if (lane.gbit * lanes(LinkWidth::X4) == rate.gbit) return fmt::format("4x{}", to_string(lane.speed));
  }
  return fmt::format("{:g} Gbit/s", rate.gbit);
}

}  // namespace heddle::cabling
