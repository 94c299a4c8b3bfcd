/// Service levels of paths and SL to VL tables of switches, for engines that need several virtual lanes to be
/// free of deadlock (IBA 7.6.6, 14.2.5.8). Owns its bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

class VlTables {
 public:
  static constexpr std::size_t levels = 16;

  /// Every path on SL 0, every SL on VL 0. `ports`: the largest port count of any switch.
  VlTables(std::size_t switches, std::size_t ports)
      : switches_{switches},
        ports_{ports + 1},
        path_sl_(switches * switches, 0),
        vl_(switches * ports_ * ports_ * levels, 0) {}

  /// What a path record says for hosts at `from` that send to LIDs behind `to`.
  [[nodiscard]] Sl path_sl(SwitchIndex from, SwitchIndex to) const {
    return Sl{path_sl_[from.raw() * switches_ + to.raw()]};
  }
  void set_path_sl(SwitchIndex from, SwitchIndex to, Sl sl) {
    path_sl_[from.raw() * switches_ + to.raw()] = sl.raw();
  }

  /// Port 0 as `in`: what the switch itself sends.
  [[nodiscard]] Vl vl(SwitchIndex s, PortNum in, PortNum out, Sl sl) const {
    return Vl{vl_[slot(s, in, out) + sl.raw()]};
  }
  void set_vl(SwitchIndex s, PortNum in, PortNum out, Sl sl, Vl vl) {
    vl_[slot(s, in, out) + sl.raw()] = vl.raw();
  }
  /// VL per SL: one SLtoVLMappingTable.
  [[nodiscard]] std::span<const std::uint8_t> table(SwitchIndex s, PortNum in, PortNum out) const {
    return std::span(vl_).subspan(slot(s, in, out), levels);
  }

  /// Data VLs in use: one more than the largest.
  [[nodiscard]] unsigned vl_count() const {
    return vl_.empty() ? 1U : 1U + *std::max_element(vl_.begin(), vl_.end());
  }

 private:
  [[nodiscard]] std::size_t slot(SwitchIndex s, PortNum in, PortNum out) const {
    return ((s.raw() * ports_ + in.raw()) * ports_ + out.raw()) * levels;
  }

  std::size_t switches_;
  std::size_t ports_;
  std::vector<std::uint8_t> path_sl_;
  std::vector<std::uint8_t> vl_;
};

}  // namespace heddle::routing
