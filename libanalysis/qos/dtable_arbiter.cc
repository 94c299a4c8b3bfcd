#include "qos/dtable_arbiter.h"

#include <algorithm>
#include <utility>

namespace heddle::qos {
namespace {

std::uint64_t credits(std::uint32_t bytes) {
  return (std::uint64_t{bytes} + credit_bytes - 1) / credit_bytes;
}

}  // namespace

DTableArbiter::DTableArbiter(DTable table) : table_{std::move(table)} {
  std::erase_if(table_, [](const DTableEntry& entry) { return entry.lane.raw() >= max_lanes; });
  if (table_.size() > 256) table_.resize(256);
  entry_ = table_.empty() ? 0 : table_.size() - 1;
}

std::optional<Pick> DTableArbiter::select(Heads heads) {
  const bool active = std::any_of(table_.begin(), table_.end(), [heads](const DTableEntry& entry) {
    return entry.weight != 0 && head(heads, entry.lane) != 0;
  });
  if (!active) return std::nullopt;

  Selection selection = Selection::Continued;
  while (!in_turn_ || head(heads, table_[entry_].lane) == 0 ||
         accumulated_ < credits(head(heads, table_[entry_].lane))) {
    if (in_turn_) leave(heads);
    entry_ = entry_ + 1 == table_.size() ? 0 : entry_ + 1;
    const auto& entry = table_[entry_];
    if (entry.weight == 0 || head(heads, entry.lane) == 0) continue;
    accumulated_ = std::uint64_t{deficit_[entry.lane.raw()]} + entry.weight;
    in_turn_ = true;
    selection = Selection::New;
  }
  accumulated_ -= credits(head(heads, table_[entry_].lane));
  return Pick{table_[entry_].lane, Source::Only, static_cast<std::uint8_t>(entry_), selection};
}

void DTableArbiter::leave(Heads heads) {
  const Lane lane = table_[entry_].lane;
  deficit_[lane.raw()] = head(heads, lane) == 0 ? 0 : static_cast<std::uint32_t>(accumulated_);
  accumulated_ = 0;
  in_turn_ = false;
}

}  // namespace heddle::qos
