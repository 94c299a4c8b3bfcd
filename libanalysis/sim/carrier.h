/// The way of a MAD through the fabric: hop by hop by the programmed forwarding tables, or along a directed
/// route (IBA 14.2.2). A wrong table, a port that is not up, or a dead node loses it.
#pragma once

#include <vector>

#include "mad/header.h"
#include "sim/counters.h"
#include "sim/model.h"
#include "sim/sma.h"

namespace heddle::sim {

class Carrier {
 public:
  /// More than any sane path: a loop in the tables ends here.
  static constexpr int max_hops = 64;

  struct Way {
    bool arrives = false;
    Arrival where;
    Picoseconds wait{0};  ///< in the queues of congested ports
  };

  Carrier(Model& model, Counters& counters) : model_{model}, counters_{counters} {}

  /// SMPs pass ports that are up, GMPs only Active ones. `from`: a port of a channel adapter or port 0.
  [[nodiscard]] Way by_lid(PortIndex from, Lid to, mad::MgmtClass mgmt_class, Sl sl, Picoseconds now);
  /// Either direction. Writes the return path and the hop pointer.
  [[nodiscard]] Way directed(PortIndex from, Lid to, mad::Bytes& smp, Picoseconds now);

  /// by_lid() for GMPs, remembered as long as nothing changes: for ports with clients.
  [[nodiscard]] Way from_client(PortIndex client, Lid to, Sl sl, Picoseconds now);
  [[nodiscard]] Way to_client(PortIndex from, PortIndex client, Lid to, Sl sl, Picoseconds now);

 private:
  struct Known {
    std::uint64_t generation = 0;  ///< 0: not known
    Way way;
  };
  struct KnownBack {
    std::uint64_t generation = 0;
    Lid to;
    bool arrives = false;
  };
  /// Of one port with clients.
  struct Memory {
    PortIndex client;
    std::vector<Known> out;       ///< by LID
    std::vector<KnownBack> back;  ///< by the port that answers
  };

  [[nodiscard]] bool remembers() const {
    return !model_.options.count_management && !model_.options.congested_gmps;
  }
  [[nodiscard]] Memory& memory_of(PortIndex client);
  /// Leaves by a port if it may; the port at the other end, or no_port.
  [[nodiscard]] PortIndex cross(PortIndex out, bool smp);
  [[nodiscard]] Way outward(PortIndex start, mad::Bytes& smp);
  [[nodiscard]] Way homeward(PortIndex from, mad::Bytes& smp, Picoseconds now);

  Model& model_;
  Counters& counters_;
  std::vector<Memory> memories_;  ///< few: one per port with clients
};

}  // namespace heddle::sim
