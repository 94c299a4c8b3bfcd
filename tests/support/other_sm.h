/// Another subnet manager at a port of a simulated fabric: it says that it is there, answers when it is asked
/// who it is, and takes the fabric when it is handed over. By itself it sends nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "mad/header.h"
#include "mad/packet.h"
#include "mad/port_set.h"
#include "sim/simulated_fabric.h"
#include "transport/requests.h"

namespace heddle::test {

class OtherSm {
 public:
  using State = mad::SmInfo::State;
  using Clock = std::function<Picoseconds()>;

  OtherSm(sim::SimulatedFabric& fabric, PortIndex seat, Clock now, State begins, std::uint8_t priority = 15)
      : fabric_{fabric},
        now_{std::move(now)},
        client_{*fabric.attach(seat, [this](const mad::Packet& packet, Picoseconds) { hear(packet); })} {
    info.guid = fabric.port_guid(seat);
    info.priority = priority;
    info.state = begins;
    (void)fabric_.set_is_sm(client_, sim::IsSm::Yes, now_());
  }
  ~OtherSm() { fabric_.detach(client_); }
  OtherSm(const OtherSm&) = delete;
  OtherSm& operator=(const OtherSm&) = delete;

  mad::SmInfo info;
  bool silent = false;
  bool takes = true;  ///< the fabric, when it is handed over; else it does not answer that
  std::vector<std::uint32_t> asked_by_set;              ///< AttributeModifiers
  std::function<void(const mad::SmInfo&)> on_handover;  ///< just before it is master

  // As a subnet manager does.

  /// From time to time, while it stands by.
  void ask(Lid master) { send(transport::lid_smp({.attribute = mad::SmAttr::SmInfo}, master)); }
  /// One that is master: to any port.
  void set_master_of(PortIndex port, Lid master) {
    const mad::PortInfo has = fabric_.port_info(port);
    mad::PortInfo info_of_port = mad::unchanged(has, 0);
    info_of_port.master_sm_lid = master;
    mad::Packet set =
        transport::lid_smp({.method = mad::Method::Set, .attribute = mad::SmAttr::PortInfo}, has.lid);
    mad::encode(info_of_port, mad::smp_data(set.mad));
    send(set);
  }
  /// One that has its own tables.
  void clear_first_block(Lid of_switch) {
    mad::Packet set = transport::lid_smp(
        {.method = mad::Method::Set, .attribute = mad::SmAttr::LinearForwardingTable}, of_switch);
    std::ranges::fill(mad::smp_data(set.mad), std::uint8_t{255});
    send(set);
  }

 private:
  void send(const mad::Packet& packet) { fabric_.send(now_(), client_, packet); }

  void hear(const mad::Packet& packet) {
    const mad::Header header = mad::read_header(packet.mad);
    const bool asks = header.method == mad::Method::Get || header.method == mad::Method::Set;
    if (silent || !asks || mad::SmAttr{header.attribute} != mad::SmAttr::SmInfo) return;
    if (header.method == mad::Method::Set) {
      asked_by_set.push_back(header.modifier);
      if (!takes) return;
      if (on_handover) on_handover(mad::decode<mad::SmInfo>(mad::smp_data(packet.mad)));
      // The first of what an SMInfo may be set to (IBA 14.4.1.5).
      constexpr std::uint32_t handover = 1;
      if (header.modifier == handover) info.state = State::Master;
    }
    answer(packet, header);
  }

  void answer(const mad::Packet& packet, mad::Header header) {
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
    mad::encode(info, mad::smp_data(answer.mad));
    send(answer);
  }

  sim::SimulatedFabric& fabric_;
  Clock now_;
  sim::ClientId client_;
};

}  // namespace heddle::test
