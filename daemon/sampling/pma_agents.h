/// Who answers for the counters of which port: one performance management agent per switch (at port 0) and
/// one per port of a channel adapter. What they can do is asked once, and outlives a change of the fabric.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "fabric/fabric.h"
#include "load/counter.h"
#include "mad/counters.h"
#include "transport/requests.h"
#include "transport/transactions.h"

namespace heddle::sampling {

/// From ClassPortInfo.
struct PmaCapabilities {
  bool wide = false;                  ///< PortCountersExtended
  bool casts = false;                 ///< unicast and multicast packets in it
  bool wide_errors = false;           ///< errors and XmitWait in it
  bool wait = false;                  ///< XmitWait at all
  std::uint16_t capability_mask = 0;  ///< as it stands there
};
[[nodiscard]] PmaCapabilities capabilities(const mad::ClassPortInfo& info);

/// Counters that each of the two attributes is read for. Empty: it need not be asked for.
[[nodiscard]] load::CounterMask wanted_of_extended(const PmaCapabilities& pma);
[[nodiscard]] load::CounterMask wanted_of_basic(const PmaCapabilities& pma);

struct PmaAgent {
  enum class State : std::uint8_t {
    Unknown,  ///< its ClassPortInfo has not been asked for
    Asking,
    Known,
    Failed,  ///< asked in this sweep without success
  };

  PortRef home;  ///< port 0 of a switch, or the port of a channel adapter
  Lid home_lid;
  transport::PmaAddress address;  ///< where requests go: elsewhere after a redirection
  State state = State::Unknown;
  PmaCapabilities pma;
  bool refuses_wide = false;   ///< said that it has PortCountersExtended and does not answer to it
  bool refuses_reset = false;  ///< or the transport does
  std::uint8_t redirections = 0;

  [[nodiscard]] transport::AgentKey key() const { return transport::agent_of(address.dlid); }
};

using AgentIndex = Id<struct PmaAgentIndexTag, std::uint32_t>;
inline constexpr AgentIndex no_agent{0xffffffffU};

/// The agents of one Fabric snapshot.
class PmaAgents {
 public:
  PmaAgents() = default;
  /// What `before` knows of agents with the same home is kept.
  PmaAgents(const Fabric& fabric, const PmaAgents& before);

  [[nodiscard]] std::size_t size() const { return agents_.size(); }
  [[nodiscard]] PmaAgent& operator[](AgentIndex i) { return agents_[i.raw()]; }
  [[nodiscard]] const PmaAgent& operator[](AgentIndex i) const { return agents_[i.raw()]; }
  /// no_agent for a port without counters, or on a node without a LID.
  [[nodiscard]] AgentIndex of(PortIndex port) const { return of_port_[port.raw()]; }
  /// Ports that have counters, in an order that spreads over the agents what goes out at the same time, and
  /// stays among neighbours in memory all the same.
  [[nodiscard]] const std::vector<PortIndex>& ports() const { return ports_; }

  /// A failed agent gets another chance.
  void begin_sweep();

 private:
  AgentIndex add(PortRef home, Lid lid);
  void order(const Fabric& fabric);

  std::vector<PmaAgent> agents_;
  std::vector<AgentIndex> of_port_;
  std::vector<PortIndex> ports_;
};

}  // namespace heddle::sampling
