#include "transport/agent_table.h"

#include <algorithm>

namespace heddle::transport {

std::uint32_t AgentTable::add(AgentKey key) {
  if (2 * (used_ + 1) > table_.size()) make_room();
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(agents_.size());
    agents_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
    agents_[index] = Agent{};
  }
  agents_[index].key = key;
  agents_[index].in_table = true;
  enter(index);
  ++used_;
  return index;
}

void AgentTable::enter(std::uint32_t index) {
  std::size_t i = place(agents_[index].key);
  while (table_[i] != no_agent) i = (i + 1) & (table_.size() - 1);
  table_[i] = index;
}

void AgentTable::make_room() {
  constexpr std::size_t worth_forgetting = 65536;
  if (used_ >= worth_forgetting) {
    for (std::uint32_t i = 0; i < agents_.size(); ++i) {
      Agent& agent = agents_[i];
      if (!agent.in_table || !agent.idle() || agent.probations > 0) continue;
      agent.in_table = false;
      free_.push_back(i);
      --used_;
    }
  }
  std::size_t size = std::max<std::size_t>(table_.size(), 256);
  while (size < 4 * (used_ + 1)) size *= 2;
  table_.assign(size, no_agent);
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    if (agents_[i].in_table) enter(i);
  }
}

}  // namespace heddle::transport
