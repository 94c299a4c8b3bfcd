/// What the engine remembers of each agent: its queue, what is under way, its round trips, and whether it
/// answers at all. Agents that are idle and have nothing against them are forgotten when the table is full.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "transport/round_trip.h"
#include "transport/transaction_slab.h"

namespace heddle::transport {

inline constexpr std::uint32_t no_agent = 0xffffffffU;

struct Agent {
  AgentKey key;
  TransactionList queue;
  std::uint32_t queued = 0;
  std::uint32_t under_way = 0;        ///< sent and not completed
  std::uint32_t unanswered = 0;       ///< attempts that timed out since the last answer
  std::uint32_t failed_attempts = 0;  ///< attempts of failed transactions since the last answer
  std::uint8_t probations = 0;        ///< since the last answer
  bool in_table = false;
  bool ready = false;  ///< in the list of agents that may send
  std::uint32_t next_ready = no_agent;
  Instant probation_until{};
  Instant last_answer = Instant::min();
  RoundTrip round_trip;

  [[nodiscard]] bool idle() const { return queued == 0 && under_way == 0 && !ready; }
  [[nodiscard]] bool silent(Instant now) const { return probations > 0 && now < probation_until; }
};

class AgentTable {
 public:
  [[nodiscard]] Agent& operator[](std::uint32_t index) { return agents_[index]; }

  /// no_agent if it was not met, or is forgotten.
  [[nodiscard]] std::uint32_t find(AgentKey key) const {
    if (table_.empty()) return no_agent;
    for (std::size_t i = place(key);; i = (i + 1) & (table_.size() - 1)) {
      const std::uint32_t index = table_[i];
      if (index == no_agent || agents_[index].key == key) return index;
    }
  }

  [[nodiscard]] std::uint32_t find_or_add(AgentKey key) {
    const std::uint32_t found = find(key);
    return found != no_agent ? found : add(key);
  }

 private:
  [[nodiscard]] std::size_t place(AgentKey key) const {
    return std::hash<AgentKey>{}(key) & (table_.size() - 1);
  }
  std::uint32_t add(AgentKey key);
  void make_room();
  void enter(std::uint32_t index);

  std::vector<Agent> agents_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> table_;  ///< open addressing; a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace heddle::transport
