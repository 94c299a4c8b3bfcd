/// Reads the forwarding tables of all switches back, round after round, whoever wrote them: for whoever asks
/// what is really in force, the proof and what-if. By directed routes, because what is looked for is that
/// LIDs lead nowhere. As a guest it takes every fourth turn of the pace at most: sweeps go first.
///
/// A round goes on while the fabric changes; a switch that does not answer keeps what it said before, and is
/// named. A state machine on the engine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mad/survey.h"
#include "routing/tables.h"
#include "transport/pace.h"
#include "transport/transactions.h"

namespace heddle::discovery {

/// What switches said within one round. Never changes once it is published.
struct TablesRead {
  std::shared_ptr<const Fabric> before;  ///< the fabric when the round began
  std::shared_ptr<const Fabric> fabric;  ///< when it ended
  routing::ForwardingTables tables;      ///< of the switches of routing::SwitchGraph::make(*fabric)
  Instant began;
  Instant ended;
  std::vector<NodeGuid> unread;  ///< of which something is older, or not known: no_path then
};

struct TableReaderOptions {
  std::uint64_t m_key = 0;
  std::uint32_t guest_smps_per_second = 0;                    ///< see SweepOptions
  std::uint32_t smps_per_second = 4000;                       ///< where there is no pace to keep
  FabricClock::duration interval = std::chrono::minutes{10};  ///< from the end of a round to the next
  /// After the fabric has become another one, and again for ten seconds and as long as tables change: they
  /// follow the fabric. Rounds take no more than a tenth of the time.
  FabricClock::duration settle = std::chrono::seconds{1};
  FabricClock::duration settle_as_guest = std::chrono::seconds{10};
};

class TableReader final : private transport::TransactionClient {
 public:
  /// The pace that is to be kept at present; null for none.
  using PaceOf = std::function<transport::Pace*()>;
  using Done = std::function<void(std::shared_ptr<const TablesRead>)>;

  TableReader(transport::TransactionEngine& engine, TableReaderOptions options, PaceOf pace, Done done);
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  void use(std::shared_ptr<const Survey> survey, Instant now);
  /// The next round begins no later than this.
  void hurry(Instant at);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// The last whole round; null before the first.
  [[nodiscard]] const std::shared_ptr<const TablesRead>& latest() const { return latest_; }

 private:
  struct Block {
    NodeGuid guid;
    std::uint32_t number = 0;
  };
  /// Of a switch: bytes by LID.
  struct Row {
    std::vector<std::uint8_t> ports;
    bool silent = false;  ///< in this round
  };

  void on_completion(const transport::Completion& completion) override;
  void begin(Instant now);
  void feed(Instant now);
  [[nodiscard]] bool may_ask(Instant now);
  void ask(const Block& block, std::uint64_t context, Instant now);
  void finish(Instant now);

  transport::TransactionEngine& engine_;
  TableReaderOptions options_;
  PaceOf pace_;
  transport::Pace guest_pace_;
  transport::Pace owner_pace_;
  Done done_;
  std::shared_ptr<const Survey> survey_;
  std::unordered_map<NodeGuid, Row> rows_;
  std::vector<Block> blocks_;
  std::size_t next_ = 0;
  std::size_t outstanding_ = 0;
  std::uint32_t generation_ = 0;  ///< of the round; answers to an older one are dropped
  bool reading_ = false;
  std::optional<Instant> wake_;        ///< set while the pace is waited for
  transport::Pace::Promise promise_;   ///< of the common pace
  std::optional<Instant> next_round_;  ///< none before the first survey
  Instant began_;
  Instant changed_at_;  ///< the fabric
  std::shared_ptr<const Fabric> before_;
  std::shared_ptr<const TablesRead> latest_;
};

}  // namespace heddle::discovery
