/// The subnet management agents of all nodes (IBA chapter 14): M_Key checks, attributes, state changes. A
/// request is turned into its answer in place; what it does to links is left to be done after the answer is
/// on its way, as hardware does.
#pragma once

#include <cstdint>
#include <optional>

#include "mad/header.h"
#include "sim/links.h"
#include "sim/model.h"
#include "sim/schedule.h"
#include "sim/traps.h"

namespace heddle::sim {

/// Where an SMP came in: the physical port, or the management port itself for a local one.
struct Arrival {
  PortIndex at = no_port;  ///< port of a channel adapter, port 0 of a switch
  PortNum ingress;
};

/// What a Set of PortInfo asks of the link.
struct LinkOrder {
  enum class What : std::uint8_t { None, Disable, Sleep, Poll, Bounce };
  What what = What::None;
  PortIndex port = no_port;
};

class Sma {
 public:
  Sma(Model& model, Schedule& schedule, Traps& traps) : model_{model}, schedule_{schedule}, traps_{traps} {}

  /// False: discarded in silence. True: `packet.mad` is the answer.
  [[nodiscard]] bool answer(const Arrival& arrival, mad::Packet& packet, LinkOrder& order, Picoseconds now);

  void lease_expired(PortIndex port, std::uint32_t epoch);

 private:
  struct Request {
    mad::Header header;
    Arrival arrival;
    NodeIndex index;
    bool set = false;
    bool key_shown = false;  ///< the M_Key may be read
    mad::SmpData data;
    Picoseconds now;
    LinkOrder& order;
  };

  [[nodiscard]] bool key_fits(const Arrival& arrival, const mad::Packet& packet, const mad::Header& header,
                              Picoseconds now);
  [[nodiscard]] std::uint16_t handle(Request& request);

  // Each turns the data into the answer's and gives the status.
  std::uint16_t node_description(Request& request);
  std::uint16_t node_info(Request& request);
  std::uint16_t switch_info(Request& request);
  std::uint16_t port_info(Request& request);
  std::uint16_t mlnx_ext_port_info(Request& request);
  std::uint16_t guid_info(Request& request);
  std::uint16_t p_key_table(Request& request);
  std::uint16_t sl_to_vl(Request& request);
  std::uint16_t vl_arbitration(Request& request);
  std::uint16_t forwarding_table(Request& request);
  std::uint16_t multicast_table(Request& request);
  std::uint16_t led_info(Request& request);

  std::uint16_t set_port_info(Request& request, PortIndex port);
  [[nodiscard]] std::optional<LinkOrder> order_of(const mad::PortInfo& wanted, PortIndex port) const;
  /// The port that a modifier's number means; no_port if there is none.
  [[nodiscard]] PortIndex meant(const Request& request, unsigned number) const;

  Model& model_;
  Schedule& schedule_;
  Traps& traps_;
  std::unordered_map<PortIndex, std::uint32_t> leases_;  ///< epochs of M_Key leases under way
  std::uint32_t lease_epoch_ = 0;
};

}  // namespace heddle::sim
