/// Parts of one fabric that run side by side, and what they say to each other.
///
/// Whatever happens at a switch or one of its hosts touches the state of that switch and its hosts alone, but
/// for three things: a packet that leaves over a link, room that comes back over one, and the end of a
/// message that another part's host made. Those are written down here while a part runs, and read by the
/// other one before it goes on. The first two take effect no earlier than `look_ahead` cycles later.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/packet/network.h"

namespace heddle::packet {

/// Which part has what. Never changes.
struct Division {
  unsigned parts = 1;
  std::vector<std::uint8_t> of_switch;
  std::vector<std::uint8_t> of_port;  ///< of a host's: that of the switch it hangs on
};

inline constexpr unsigned most_parts = 255;

/// At most as many parts as there are switches, of about the same number of ports, with neighbours together
/// where that is to be had.
[[nodiscard]] Division divide(const Network& network, unsigned parts);

/// Cycles from whatever a part does until another one can notice.
[[nodiscard]] Cycle look_ahead(const DataPlane& plane);

/// From one part to another.
struct Mail {
  struct Leaving {
    Cycle at;  ///< when its header is routed
    Packet packet;
  };
  struct Room {
    Cycle at;
    std::uint32_t pool;
    std::uint32_t data;  ///< as in a credit event
  };
  struct Ended {
    Cycle at;
    std::uint32_t message;
    std::int32_t flits;
    std::uint8_t vl;
    bool whole;
  };
  std::vector<Leaving> packets;
  std::vector<Room> room;
  std::vector<Ended> ended;

  void clear() {
    packets.clear();
    room.clear();
    ended.clear();
  }
};

/// Of one part: what it writes to the others in two turns, so that they can read what it wrote in the last
/// one.
struct Border {
  std::shared_ptr<const Division> division;
  std::vector<Mail> turns[2];  ///< by part
  unsigned turn = 0;
  Cycle earliest = never;  ///< of what was written in this turn

  Mail& to(std::uint8_t part) { return turns[turn][part]; }
};

}  // namespace heddle::packet
