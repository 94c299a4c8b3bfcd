/// Which LIDs ports have: whoever is remembered gets his back only if nobody else has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "planned/subnet.h"

namespace heddle::planned {

class TakenLids {
 public:
  explicit TakenLids(std::span<const PortLids> lids) : taken_(last_unicast_lid.raw() + 1U) {
    for (const PortLids& each : lids) take(each);
  }

  void take(const PortLids& lids) {
    const std::size_t end = std::min(end_of(lids), taken_.size());
    for (std::size_t lid = lids.base.raw(); lid < end; ++lid) taken_[lid] = true;
  }
  /// All of them are LIDs, and nobody's.
  [[nodiscard]] bool are_free(const PortLids& lids) const {
    if (!are_lids(lids)) return false;
    const auto first = taken_.begin() + lids.base.raw();
    const auto end = taken_.begin() + static_cast<std::ptrdiff_t>(end_of(lids));
    return std::find(first, end, true) == end;
  }
  [[nodiscard]] static bool are_lids(const PortLids& lids) {
    return lids.lmc <= 7 && lids.base != no_lid && end_of(lids) <= last_unicast_lid.raw() + 1U;
  }

 private:
  static std::size_t end_of(const PortLids& lids) {
    return lids.base.raw() + (std::size_t{1} << std::min<unsigned>(lids.lmc, 7));
  }

  std::vector<bool> taken_;
};

}  // namespace heddle::planned
