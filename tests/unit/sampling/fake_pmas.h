/// A transport with performance management agents behind it that do what a test tells them. Nothing is
/// delivered before deliver().
#pragma once

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "mad/counters.h"
#include "mad/header.h"
#include "transport/transport.h"

namespace heddle::sampling {

struct FakePort {
  mad::PortCountersExtended wide;
  mad::PortCounters narrow;
};

struct FakePma {
  mad::ClassPortInfo info;
  std::map<PortNum, FakePort> ports;
  bool dead = false;
  bool refuses_wide = false;
  bool refuses_set = false;
  bool wrong_port = false;
  Lid redirects_to;  ///< all but ClassPortInfo; ClassPortInfo says so itself if `info` does
};

class FakePmas final : public transport::Transport {
 public:
  std::map<Lid, FakePma> agents;
  std::vector<mad::Header> log;  ///< of all requests
  std::vector<mad::PortCounters> resets;
  bool read_only = false;

  void receive_with(Receiver receiver) override { receiver_ = std::move(receiver); }
  transport::LocalPort local() const override { return {}; }

  Result<void> send(const mad::Packet& packet) override {
    const mad::Header header = mad::read_header(packet.mad);
    if (read_only && header.method == mad::Method::Set) return fail(ErrorCode::Refused, "read-only");
    log.push_back(header);
    const auto agent = agents.find(packet.address.dlid);
    if (agent == agents.end() || agent->second.dead) return {};
    answers_.push_back(answer(agent->second, header, packet));
    return {};
  }

  [[nodiscard]] bool idle() const { return answers_.empty(); }
  void deliver(Instant at) {
    while (!answers_.empty()) {
      const mad::Packet packet = answers_.front();
      answers_.pop_front();
      receiver_(packet, at);
    }
  }

  [[nodiscard]] std::size_t asked(mad::PmAttr attribute) const {
    std::size_t count = 0;
    for (const auto& header : log) count += header.attribute == static_cast<std::uint16_t>(attribute) ? 1 : 0;
    return count;
  }

 private:
  mad::Packet answer(FakePma& pma, mad::Header header, const mad::Packet& request) {
    mad::Packet packet = request;
    std::swap(packet.address.dlid, packet.address.slid);
    const auto data = mad::gmp_data(packet.mad);
    const PortNum wanted{data[1]};
    const auto method = header.method;
    header.method = mad::Method::GetResp;
    const auto attribute = static_cast<mad::PmAttr>(header.attribute);
    const auto port = pma.ports.find(wanted);
    if (attribute == mad::PmAttr::ClassPortInfo) {
      encode_gmp(pma.info, data);
    } else if (pma.redirects_to != no_lid) {
      mad::ClassPortInfo info = pma.info;
      info.redirect_lid = pma.redirects_to;
      encode_gmp(info, data);
      header.status = mad::status::redirect;
    } else if (attribute == mad::PmAttr::PortCountersExtended && !pma.refuses_wide &&
               port != pma.ports.end()) {
      port->second.wide.port_select = pma.wrong_port ? PortNum{99} : wanted;
      encode_gmp(port->second.wide, data);
    } else if (attribute == mad::PmAttr::PortCounters && port != pma.ports.end() &&
               (method == mad::Method::Get || !pma.refuses_set)) {
      auto& counters = port->second.narrow;
      if (method == mad::Method::Set) {
        const auto reset = mad::decode_gmp<mad::PortCounters>(data);
        resets.push_back(reset);
        if ((reset.counter_select & 0x1000U) != 0) counters.xmit_data = 0;
        if ((reset.counter_select & 0x2000U) != 0) counters.rcv_data = 0;
        if ((reset.counter_select & 0x4000U) != 0) counters.xmit_packets = 0;
        if ((reset.counter_select & 0x8000U) != 0) counters.rcv_packets = 0;
        if ((reset.counter_select2 & 1U) != 0) counters.xmit_wait = 0;
      }
      counters.port_select = wanted;
      encode_gmp(counters, data);
    } else {
      header.status = mad::status::bad_method_attribute;
    }
    mad::write_header(header, packet.mad);
    return packet;
  }

  Receiver receiver_;
  std::deque<mad::Packet> answers_;
};

}  // namespace heddle::sampling
