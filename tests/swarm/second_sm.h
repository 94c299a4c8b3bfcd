/// Another subnet manager at a port of a world's fabric: it says that it is there, answers when it is asked
/// who it is, takes the fabric when it is handed over, and changes nothing.
#pragma once

#include <cstdint>

#include "mad/header.h"
#include "mad/packet.h"
#include "support/regulated_world.h"

namespace heddle::swarm {

class SecondSm {
 public:
  enum class Way : std::uint8_t {
    Waits,   ///< stands by, and is master when it is asked to be
    Claims,  ///< is master from the start
    Silent,  ///< says of its port that it is there, and answers nobody
  };
  SecondSm(test::RegulatedWorld& world, PortIndex seat, std::uint8_t priority, Way way);
  ~SecondSm();
  SecondSm(const SecondSm&) = delete;
  SecondSm& operator=(const SecondSm&) = delete;

  [[nodiscard]] bool is_master() const { return state_ == mad::SmInfo::State::Master; }

 private:
  void hear(const mad::Packet& packet);
  void answer(const mad::Packet& packet, mad::Header header);

  test::RegulatedWorld& world_;
  PortIndex seat_;
  std::uint8_t priority_;
  Way way_;
  mad::SmInfo::State state_;
  sim::ClientId client_;
};

}  // namespace heddle::swarm
