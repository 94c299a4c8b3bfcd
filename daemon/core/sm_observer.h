/// What the daemon knows of a subnet manager other than itself, and what it says in the log when that
/// changes. Never acts. On the engine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/outside.h"
#include "discovery/sm_watch.h"
#include "transport/transactions.h"
#include "transport/transport.h"

namespace heddle::core {

class SmObserver {
 public:
  /// The fabric has another master than before: LIDs and routes may have changed.
  using Moved = std::function<void(Instant now)>;

  SmObserver(transport::TransactionEngine& engine, transport::Transport& transport, std::uint64_t m_key,
             Moved moved, Say say);

  void look(Instant now);
  /// None before the first look has ended.
  [[nodiscard]] const std::optional<discovery::SmSight>& sight() const { return sight_; }
  /// Times that mastership moved.
  [[nodiscard]] std::uint64_t moves() const { return moves_; }

 private:
  void looked(const discovery::SmSight& seen, Instant now);

  transport::Transport& transport_;
  Moved moved_;
  Say say_;
  discovery::SmWatch watch_;
  std::optional<discovery::SmSight> sight_;
  std::uint64_t moves_ = 0;
};

}  // namespace heddle::core
