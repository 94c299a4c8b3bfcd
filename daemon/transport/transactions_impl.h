/// What is inside a TransactionEngine: transactions.cc takes requests and sends them, transaction_endings.cc
/// completes them.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/agent_table.h"
#include "transport/send_window.h"
#include "transport/transaction_slab.h"
#include "transport/transactions.h"
#include "transport/wait_lists.h"

namespace heddle::transport {

class TransactionEngine::Impl {
 public:
  Impl(Transport& transport, const EngineOptions& options)
      : transport_{transport},
        options_{sane(options)},
        window_{options_.least_window, options_.window},
        waiting_{options_.least_timeout, options_.timeout} {}

  Result<void> submit(const Request& request, TransactionClient& client, std::uint64_t context, Instant now);
  void on_packet(const mad::Packet& packet, Instant at, Instant now);
  void on_timer(Instant now);
  void sent_by(Instant began, Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  void stop(Instant now);
  void forgive(AgentKey key);

  Transport& transport_;
  EngineOptions options_;
  SendWindow window_;
  TransactionSlab slab_;
  AgentTable agents_;
  TransactionStatistics statistics_;
  Unsolicited unsolicited_;
  Unsolicited unmatched_;
  WakeUp wake_up_;
  std::size_t queued_ = 0;

 private:
  using Stage = Transaction::Stage;
  using Duration = FabricClock::duration;

  /// Requests that wait after their first attempt do not count against the window; they are at most this many
  /// windows.
  static constexpr std::size_t most_windows_waiting = 16;
  static constexpr std::uint8_t most_probation_doublings = 4;

  /// Values out of range brought into it.
  [[nodiscard]] static EngineOptions sane(EngineOptions options);

  // transactions.cc: until a MAD is in the fabric
  void enqueue(Slot slot);
  void doom(Slot slot, Outcome outcome);
  void make_ready(std::uint32_t agent);
  [[nodiscard]] std::uint32_t cap(const Agent& agent) const;
  void pump(Instant now);
  void send(Slot slot, Instant now);
  [[nodiscard]] Duration patience_of(const Transaction& transaction);
  void announce();

  // transaction_endings.cc: answered, timed out or given up
  void expire(Slot slot, Instant now);
  void give_up(Slot slot, Instant now);
  void put_on_probation(std::uint32_t index, Instant now);
  void answered(Slot slot, const mad::Packet& packet, const mad::Header& header, unsigned attempt, Instant at,
                Instant now);
  void heard_from(Agent& agent, Instant at);
  void complete(Slot slot, Outcome outcome, std::uint16_t status, const mad::Packet* answer, Instant at,
                Instant now);
  void flush_doomed(Instant now);

  WaitLists waiting_;
  TransactionList doomed_;
  std::size_t doomed_count_ = 0;
  std::uint32_t first_ready_ = no_agent;
  std::uint32_t last_ready_ = no_agent;
  std::uint32_t first_attempts_ = 0;  ///< in the fabric, counted against the window
  std::size_t under_way_ = 0;
  std::optional<Instant> paused_until_;  ///< the device took no more
  std::optional<Instant> announced_;
  std::uint16_t generation_ = 0;
  RoundTrip all_;
  bool stopped_ = false;
};

}  // namespace heddle::transport
