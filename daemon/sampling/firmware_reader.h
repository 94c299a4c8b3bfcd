/// Asks every device of a vendor that has GeneralInfo which firmware it runs (mad/firmware.h): one MAD a node
/// and round, a few at a time. A device that refuses is not asked again, one that is silent not for a while.
///
/// A state machine on the engine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "health/peers.h"
#include "mad/firmware.h"
#include "sampling/attribute_holders.h"
#include "sampling/round.h"
#include "transport/transactions.h"

namespace heddle::sampling {

using health::Firmwares;

struct FirmwareReaderOptions {
  FabricClock::duration interval = std::chrono::hours{1};   ///< from round to round
  FabricClock::duration settle = std::chrono::seconds{20};  ///< after the fabric has become another one
  std::size_t outstanding = 8;                              ///< MADs at a time: the sampler goes first
  FabricClock::duration silence = std::chrono::hours{24};   ///< before a silent device is asked again
};

class FirmwareReader final {
 public:
  /// Of all that have ever answered and are still there.
  using Done = std::function<void(std::shared_ptr<const Firmwares>)>;

  /// The engine must outlive the reader, or be stopped before.
  FirmwareReader(transport::TransactionEngine& engine, FirmwareReaderOptions options, Done done);
  FirmwareReader(const FirmwareReader&) = delete;
  FirmwareReader& operator=(const FirmwareReader&) = delete;

  /// A round begins soon where it has nodes that the one before had not.
  void use(std::shared_ptr<const Fabric> fabric, Instant now);
  void on_timer(Instant now);
  /// None while a round is under way.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  struct Target {
    NodeGuid guid;
    Lid lid;
  };

  void choose(Instant now);
  void heard(std::size_t nth, const transport::Completion& completion);

  FirmwareReaderOptions options_;
  Done done_;
  AttributeHolders holders_;
  std::shared_ptr<const Fabric> fabric_;
  Firmwares known_;
  std::vector<Target> targets_;
  Round asking_;
  std::optional<Instant> next_round_;  ///< none before the first fabric
};

}  // namespace heddle::sampling
