/// Keys must not leave the site in a recording. Each is replaced by a number of the same length that stands
/// for it, everywhere the same: whoever compares keys finds equal what was equal. No key (0) stays none.
#pragma once

#include <cstdint>
#include <map>

#include "mad/packet.h"

namespace heddle::record {

class StandIns {
 public:
  [[nodiscard]] std::uint64_t of(std::uint64_t key);
  /// The packet, with stand-ins where the standard has keys: the M_Key of SMPs, of PortInfo and of the trap
  /// for a bad one, the SM_Key of SMInfo and of the subnet administration.
  [[nodiscard]] mad::Packet in(const mad::Packet& packet);

 private:
  void replace(mad::Bytes& bytes, std::size_t at);

  std::map<std::uint64_t, std::uint64_t> known_;
};

}  // namespace heddle::record
