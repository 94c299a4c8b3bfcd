#include "qos/iba_arbiter.h"

#include <algorithm>
#include <utility>

namespace heddle::qos {
namespace {

Lane lane_of(const ArbEntry& entry) { return Lane{entry.vl.raw()}; }

bool waits(const ArbEntry& entry, Heads heads) {
  return entry.weight != 0 && head(heads, lane_of(entry)) != 0;
}

bool any_waits(const ArbTable& table, Heads heads) {
  return std::any_of(table.begin(), table.end(),
                     [heads](const ArbEntry& entry) { return waits(entry, heads); });
}

}  // namespace

IbaArbiter::IbaArbiter(VlArbitration tables, LowGrant grant, Rounding rounding)
    : tables_{std::move(tables)}, grant_{grant}, rounding_{rounding} {
  tables_.high.resize(std::min(tables_.high.size(), max_entries));
  tables_.low.resize(std::min(tables_.low.size(), max_entries));
  const auto last = [](const ArbTable& table) {
    return static_cast<std::uint8_t>(table.empty() ? 0 : table.size() - 1);
  };
  state_.high.entry = last(tables_.high);
  state_.low.entry = last(tables_.low);
}

std::optional<Pick> IbaArbiter::select(Heads heads) {
  const bool high = any_waits(tables_.high, heads);
  const bool low = any_waits(tables_.low, heads);
  if (state_.grant_open) {
    const auto& entry = tables_.low[state_.low.entry];
    state_.grant_open = state_.low.left > 0 && waits(entry, heads);
    if (!state_.grant_open) state_.low.left = 0;  // a grant is the entry's whole turn
  }
  if (state_.grant_open) return serve(tables_.low, state_.low, Source::Low, heads);

  const bool due = low && limit_reached();
  if (high && !due) {
    const Pick pick = serve(tables_.high, state_.high, Source::High, heads);
    // Saturates: a chance that nobody can take stays open.
    state_.since_low = std::min(state_.since_low + cost(head(heads, pick.lane)), 1U << 24U);
    return pick;
  }
  if (!low) return std::nullopt;
  Pick pick = serve(tables_.low, state_.low, Source::Low, heads);
  if (due) pick.selection = Selection::New;
  state_.grant_open = due && grant_ == LowGrant::Entry;
  if (due || grant_ == LowGrant::Packet) state_.since_low = 0;
  return pick;
}

Pick IbaArbiter::serve(const ArbTable& table, Cursor& cursor, Source source, Heads heads) const {
  Selection selection = Selection::Continued;
  if (cursor.left <= 0 || !waits(table[cursor.entry], heads)) {
    selection = Selection::New;
    do {
      cursor.entry = static_cast<std::uint8_t>(cursor.entry + 1U == table.size() ? 0 : cursor.entry + 1);
      const auto& entry = table[cursor.entry];
      if (!waits(entry, heads)) continue;
      auto& overdraft = cursor.overdraft[cursor.entry];
      cursor.left = static_cast<std::int32_t>(entry.weight * weight_unit_bytes) - overdraft;
      overdraft = std::max(0, -cursor.left);
    } while (cursor.left <= 0 || !waits(table[cursor.entry], heads));
  }
  const Lane lane = lane_of(table[cursor.entry]);
  cursor.left -= static_cast<std::int32_t>(cost(head(heads, lane)));
  if (rounding_ == Rounding::Deficit && cursor.left < 0) cursor.overdraft[cursor.entry] = -cursor.left;
  if (cursor.left < 0) cursor.left = 0;
  return {lane, source, cursor.entry, selection};
}

bool IbaArbiter::limit_reached() const {
  return tables_.limit != no_limit && state_.since_low > 0 &&
         state_.since_low >= tables_.limit.raw() * limit_unit_bytes;
}

std::uint32_t IbaArbiter::cost(std::uint32_t bytes) const {
  return rounding_ == Rounding::Units ? weight_unit_bytes : bytes;
}

}  // namespace heddle::qos
