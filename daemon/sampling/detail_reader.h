/// Asks ports of which health tells why packets came in broken, or were thrown away: PortRcvErrorDetails and
/// PortXmitDiscardDetails, two MADs a port and round, a few at a time. ClassPortInfo has no bit for either;
/// until an agent has answered to one it is asked for one port of it a round (attribute_holders.h).
///
/// A state machine on the engine's thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/units.h"
#include "health/error_details.h"
#include "sampling/attribute_holders.h"
#include "sampling/pma_agents.h"
#include "sampling/round.h"
#include "transport/transactions.h"

namespace heddle::sampling {

struct DetailReaderOptions {
  FabricClock::duration interval = std::chrono::minutes{1};  ///< from round to round
  std::size_t outstanding = 8;                               ///< MADs at a time: the sampler goes first
  std::size_t ports = 256;                                   ///< at most, a round
  FabricClock::duration silence = std::chrono::hours{1};     ///< before a silent agent is asked again
};

class DetailReader final {
 public:
  /// Which ports health tells of.
  using Wanted = std::function<std::set<PortRef>()>;
  using Done = std::function<void(const health::DetailRound&)>;

  /// The engine must outlive the reader, or be stopped before.
  DetailReader(transport::TransactionEngine& engine, DetailReaderOptions options, Wanted wanted, Done done);
  DetailReader(const DetailReader&) = delete;
  DetailReader& operator=(const DetailReader&) = delete;

  /// Begins a round if it is time. One under way goes on, unless the snapshot is another one.
  void on_timer(Instant now, const std::shared_ptr<const Fabric>& fabric, const PmaAgents& agents);
  /// None while a round is under way.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  struct Target {
    PortRef agent;
    transport::PmaAddress address;
    std::size_t at = 0;         ///< in round_.ports
    std::size_t attribute = 0;  ///< in attributes
  };
  static constexpr std::array attributes{mad::PmAttr::PortRcvErrorDetails,
                                         mad::PmAttr::PortXmitDiscardDetails};

  void choose(const PmaAgents& agents, Instant now);
  [[nodiscard]] Round::Question question(std::size_t nth) const;
  void heard(std::size_t nth, const transport::Completion& completion);
  void take(const Target& target, const transport::Completion& completion);

  DetailReaderOptions options_;
  Wanted wanted_;
  Done done_;
  std::array<AttributeHolders, 2> holders_;
  std::vector<Target> targets_;
  Round asking_;
  Instant next_round_{};
  health::DetailRound round_;
};

}  // namespace heddle::sampling
