#include "qos/iba_arbiter.h"

#include <algorithm>
#include <utility>

namespace heddle::qos {
namespace {

Lane lane_of(const ArbEntry& entry) { return Lane{entry.vl.raw()}; }

LaneSet bit_of(const ArbEntry& entry) {
  return entry.weight != 0 && entry.vl.raw() < max_lanes ? LaneSet{1} << entry.vl.raw() : 0;
}

LaneSet lanes_of(const ArbTable& table) {
  LaneSet set = 0;
  for (const ArbEntry& entry : table) set |= bit_of(entry);
  return set;
}

/// Before the first turn: that of the first entry is next.
std::uint8_t last(const ArbTable& table) {
  return static_cast<std::uint8_t>(table.empty() ? 0 : table.size() - 1);
}

}  // namespace

IbaArbiter::IbaArbiter(VlArbitration tables, LowGrant grant, Rounding rounding) {
  tables.high.resize(std::min(tables.high.size(), max_entries));
  tables.low.resize(std::min(tables.low.size(), max_entries));
  state_.high.entry = last(tables.high);
  state_.low.entry = last(tables.low);
  if (rounding == Rounding::Deficit) state_.overdraft.resize(tables.high.size() + tables.low.size());
  const LaneSet high = lanes_of(tables.high);
  const LaneSet low = lanes_of(tables.low);
  settings_ = std::make_shared<const Settings>(Settings{std::move(tables), high, low, grant, rounding});
}

std::optional<Pick> IbaArbiter::select(Heads heads, LaneSet waiting) {
  const VlArbitration& tables = settings_->tables;
  const bool high = (waiting & settings_->high) != 0;
  const bool low = (waiting & settings_->low) != 0;
  if (state_.grant_open) {
    const auto& entry = tables.low[state_.low.entry];
    state_.grant_open = state_.low.left > 0 && (waiting & bit_of(entry)) != 0;
    if (!state_.grant_open) state_.low.left = 0;  // a grant is the entry's whole turn
  }
  if (state_.grant_open) return serve(Source::Low, heads, waiting);

  const bool due = low && limit_reached();
  if (high && !due) {
    const Pick pick = serve(Source::High, heads, waiting);
    // Saturates: a chance that nobody can take stays open.
    state_.since_low = std::min(state_.since_low + cost(head(heads, pick.lane)), 1U << 24U);
    return pick;
  }
  if (!low) return std::nullopt;
  Pick pick = serve(Source::Low, heads, waiting);
  if (due) pick.selection = Selection::New;
  state_.grant_open = due && settings_->grant == LowGrant::Entry;
  if (due || settings_->grant == LowGrant::Packet) state_.since_low = 0;
  return pick;
}

Pick IbaArbiter::serve(Source source, Heads heads, LaneSet waiting) {
  const bool is_high = source == Source::High;
  const ArbTable& table = is_high ? settings_->tables.high : settings_->tables.low;
  Cursor& cursor = is_high ? state_.high : state_.low;
  const std::size_t first = is_high ? 0 : settings_->tables.high.size();
  const auto waits = [waiting](const ArbEntry& entry) { return (waiting & bit_of(entry)) != 0; };
  Selection selection = Selection::Continued;
  if (cursor.left <= 0 || !waits(table[cursor.entry])) {
    selection = Selection::New;
    do {
      cursor.entry = static_cast<std::uint8_t>(cursor.entry + 1U == table.size() ? 0 : cursor.entry + 1);
      const auto& entry = table[cursor.entry];
      if (!waits(entry)) continue;
      cursor.left = static_cast<std::int32_t>(entry.weight * weight_unit_bytes);
      if (state_.overdraft.empty()) continue;
      auto& overdraft = state_.overdraft[first + cursor.entry];
      cursor.left -= overdraft;
      overdraft = std::max(0, -cursor.left);
    } while (cursor.left <= 0 || !waits(table[cursor.entry]));
  }
  const Lane lane = lane_of(table[cursor.entry]);
  cursor.left -= static_cast<std::int32_t>(cost(head(heads, lane)));
  if (!state_.overdraft.empty() && cursor.left < 0) state_.overdraft[first + cursor.entry] = -cursor.left;
  if (cursor.left < 0) cursor.left = 0;
  return {lane, source, cursor.entry, selection};
}

bool IbaArbiter::limit_reached() const {
  const HighLimit limit = settings_->tables.limit;
  return limit != no_limit && state_.since_low > 0 && state_.since_low >= limit.raw() * limit_unit_bytes;
}

std::uint32_t IbaArbiter::cost(std::uint32_t bytes) const {
  return settings_->rounding == Rounding::Units ? weight_unit_bytes : bytes;
}

}  // namespace heddle::qos
