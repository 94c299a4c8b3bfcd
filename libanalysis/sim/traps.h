/// The notices that nodes send to their subnet manager: each is repeated until a TrapRepress names it
/// (IBA 13.4.9, 14.3).
#pragma once

#include <functional>
#include <vector>

#include "mad/attributes.h"
#include "sim/model.h"
#include "sim/schedule.h"

namespace heddle::sim {

class Traps {
 public:
  /// Sends a MAD from a port, to be routed.
  using Emit = std::function<void(PortIndex from, const mad::Packet&, Picoseconds)>;

  Traps(Model& model, Schedule& schedule, Emit emit)
      : model_{model}, schedule_{schedule}, emit_{std::move(emit)} {}

  /// A port's link changed state: the change bit, and trap 128 of a switch.
  void link_changed(PortIndex port, Picoseconds now);
  /// Trap 144: capabilities, width or speed, description.
  void local_change(PortIndex port, std::uint8_t change_flags, Picoseconds now);
  /// Traps 129, 130, 131: `data` names LID and port.
  void threshold(PortIndex port, std::uint16_t number, Picoseconds now);
  /// Trap 256: a Set or Get with the wrong M_Key.
  void bad_m_key(PortIndex port, const mad::Packet& offender, Picoseconds now);
  /// Any notice; the issuer is filled in. `port`: a port of a channel adapter, port 0 of a switch.
  void raise(PortIndex port, const mad::Notice& notice, Picoseconds now);

  void repressed(PortIndex port, const mad::Notice& notice, Picoseconds now);
  void repeat(std::uint32_t trap, std::uint32_t epoch, Picoseconds now);
  void forget(NodeIndex node);

  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  struct Pending {
    PortIndex port = no_port;  ///< no_port: free
    mad::Notice notice;
    std::uint32_t tid = 0;
    std::uint32_t epoch = 0;
    bool again = false;  ///< happened again since it was sent
  };

  void send(std::uint32_t trap, Picoseconds now);

  Model& model_;
  Schedule& schedule_;
  Emit emit_;
  std::vector<Pending> pending_;
  std::uint64_t sent_ = 0;
};

}  // namespace heddle::sim
