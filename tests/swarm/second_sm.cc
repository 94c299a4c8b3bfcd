#include "swarm/second_sm.h"

namespace heddle::swarm {

using State = mad::SmInfo::State;

SecondSm::SecondSm(test::RegulatedWorld& world, PortIndex seat, std::uint8_t priority, Way way)
    : world_{world},
      seat_{seat},
      priority_{priority},
      way_{way},
      state_{way == Way::Claims ? State::Master : State::Standby},
      client_{*world.fabric.attach(seat,
                                   [this](const mad::Packet& packet, Picoseconds /*at*/) { hear(packet); })} {
  (void)world_.fabric.set_is_sm(client_, sim::IsSm::Yes, world_.ps());
}

SecondSm::~SecondSm() { world_.fabric.detach(client_); }

void SecondSm::hear(const mad::Packet& packet) {
  const mad::Header header = mad::read_header(packet.mad);
  const bool asks = header.method == mad::Method::Get || header.method == mad::Method::Set;
  const bool of_manager = mad::SmAttr{header.attribute} == mad::SmAttr::SmInfo;
  if (way_ == Way::Silent || !asks || !of_manager) return;
  // Handed over (IBA 14.4.1.5): the first of what an SMInfo may be set to.
  constexpr std::uint32_t handover = 1;
  if (header.method == mad::Method::Set && header.modifier == handover) state_ = State::Master;
  answer(packet, header);
}

void SecondSm::answer(const mad::Packet& packet, mad::Header header) {
  mad::Packet answer = packet;
  answer.address.dlid = packet.address.slid;
  answer.address.slid = packet.address.dlid;
  header.method = mad::Method::GetResp;
  if (header.mgmt_class == mad::MgmtClass::SubnDirected) {
    mad::DirectedRoute route = mad::read_directed_route(packet.mad);
    route.returning = true;
    mad::write_directed_route(route, answer.mad);
  }
  mad::write_header(header, answer.mad);
  mad::SmInfo info;
  info.guid = world_.fabric.port_guid(seat_);
  info.priority = priority_;
  info.state = state_;
  mad::encode(info, mad::smp_data(answer.mad));
  world_.fabric.send(world_.ps(), client_, answer);
}

}  // namespace heddle::swarm
