/// The state machine of links: what a Set, a cut cable or a dead node does to both ends, training, and what a
/// switch has to say about it (IBA 7.2, 14.2.5.6).
#pragma once

#include <functional>
#include <vector>

#include "sim/model.h"
#include "sim/schedule.h"

namespace heddle::sim {

class Links {
 public:
  /// Told of an alive port whose logical state changed by the link's own doing (not by a Set).
  using Noticed = std::function<void(PortIndex, Picoseconds)>;
  /// Told of a port whose link was up and went down.
  using Downed = std::function<void(PortIndex)>;

  Links(Model& model, Schedule& schedule, Noticed noticed, Downed downed)
      : model_{model}, schedule_{schedule}, noticed_{std::move(noticed)}, downed_{std::move(downed)} {}

  // By a Set of PortInfo.
  void disable(PortIndex port, PhysState to, Picoseconds now);  ///< to Disabled or Sleep
  void poll(PortIndex port, Picoseconds now);                   ///< to Polling: trains, or trains again
  void bounce(PortIndex port, Picoseconds now);  ///< PortState Down: to LinkDownDefaultState, then trains

  // By fate.
  void cut(LinkIndex link, Picoseconds now);
  void mend(LinkIndex link, Picoseconds now);
  void kill(NodeIndex node, Picoseconds now);
  void revive(NodeIndex node, Picoseconds now);
  void flap(LinkIndex link, const Flap& flap, Picoseconds now);
  void limit(LinkIndex link, const CableLimit& limit, Picoseconds now);  ///< and trains again

  // When due.
  void trained(LinkIndex link, std::uint32_t epoch, Picoseconds now);
  void flap_due(std::uint32_t flap, Picoseconds now);

 private:
  struct Flapping {
    LinkIndex link;
    Flap flap;
    bool down = false;
  };

  [[nodiscard]] LinkState* link_of(PortIndex port, LinkIndex& index);
  [[nodiscard]] bool wants_up(PortIndex port) const;
  /// Takes the link down if it is not. `by_set`: the port whose Set does it, or no_port.
  void drop(LinkState& link, PortIndex by_set, Picoseconds now);
  void train_if_possible(LinkIndex index, Picoseconds now);
  void negotiate(const LinkState& link);

  Model& model_;
  Schedule& schedule_;
  Noticed noticed_;
  Downed downed_;
  std::vector<Flapping> flaps_;
};

}  // namespace heddle::sim
