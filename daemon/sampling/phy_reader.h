/// Reads what the physical layers of all ports corrected and could not, port by port and at leisure: one MAD
/// a port and round, a few at a time. (The counters of traffic and errors are the sampler's.) Below FDR there
/// is nothing to read. No capability bit says whether an agent has the attribute: of one that has not
/// answered it yet, one port is asked for. An agent that refuses is not asked again, one that is silent not
/// for an hour; nor does the sampler take it for silent because of that.
///
/// A state machine on the engine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/units.h"
#include "health/phy_reading.h"
#include "sampling/attribute_holders.h"
#include "sampling/pma_agents.h"
#include "sampling/round.h"
#include "transport/transactions.h"

namespace heddle::sampling {

struct PhyReaderOptions {
  FabricClock::duration interval = std::chrono::minutes{1};  ///< from round to round
  std::size_t outstanding = 16;                              ///< MADs at a time: the sampler goes first
  FabricClock::duration silence = std::chrono::hours{1};     ///< before a silent agent is asked again
};

class PhyReader final {
 public:
  using Done = std::function<void(const health::PhyRound&)>;

  /// The engine must outlive the reader, or be stopped before.
  PhyReader(transport::TransactionEngine& engine, PhyReaderOptions options, Done done);
  PhyReader(const PhyReader&) = delete;
  PhyReader& operator=(const PhyReader&) = delete;

  /// Begins a round if it is time, over this snapshot and its agents. One under way goes on, unless the
  /// snapshot is another one.
  void on_timer(Instant now, const std::shared_ptr<const Fabric>& fabric, const PmaAgents& agents);
  /// None while a round is under way.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  struct Target {
    PortIndex port;
    PortRef agent;
    transport::PmaAddress address;
    std::uint16_t capability_mask = 0;
  };

  void choose(const PmaAgents& agents, Instant now);
  [[nodiscard]] Round::Question question(std::size_t nth) const;
  void heard(std::size_t nth, const transport::Completion& completion);
  void answered(const PortRef& agent);
  void take(const Target& target, const transport::Completion& completion);
  void end(Instant now);

  PhyReaderOptions options_;
  Done done_;
  AttributeHolders holders_;
  std::map<PortRef, std::vector<Target>> later_;  ///< this round's, of agents that have not answered yet
  std::vector<Target> targets_;
  Round asking_;
  Instant next_round_{};
  health::PhyRound round_;
};

}  // namespace heddle::sampling
