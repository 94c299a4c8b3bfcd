#include "regulation/memory.h"

#include <utility>

namespace heddle::regulation {
namespace {

struct Applier {
  Memory& memory;

  void operator()(const Intent& intent) const {
    memory.open[intent.change] = intent;
    if (memory.last < intent.change) memory.last = intent.change;
  }
  void operator()(const Outcome& outcome) const {
    memory.open.erase(outcome.change);
    for (const LinkRef& link : outcome.on) memory.off.erase(link);
    for (const OffRecord& off : outcome.off) memory.off[off.link] = off;
  }
  void operator()(const OverrideRecord& record) const {
    if (record.value.wish == Wish::Auto) {
      memory.overrides.erase(record.link);
    } else {
      memory.overrides[record.link] = record.value;
    }
  }
  void operator()(const ModeRecord& record) const { memory.mode = record.mode; }
  void operator()(const PlaneRecord& record) const { memory.plane = record.plane; }
  void operator()(const DrainRecord& record) const {
    if (record.drain) {
      memory.drains[record.what] = *record.drain;
    } else {
      memory.drains.erase(record.what);
    }
  }
  void operator()(const BaselineRecord& record) const { memory.baseline = record.baseline; }
  void operator()(const WakeRecord& record) const {
    for (const WakeHistory& each : record.links) {
      if (each.took.empty()) {
        memory.wakes.erase(each.link);
      } else {
        memory.wakes[each.link] = each.took;
      }
    }
  }
};

void add_wakes(std::vector<Record>& records, const Memory& before, const Memory& after) {
  WakeRecord record;
  const auto add = [&](const LinkRef& link, const Wakes& took) {
    record.links.push_back({link, took});
    if (record.links.size() == most_links) records.emplace_back(std::exchange(record, {}));
  };
  for (const auto& [link, took] : before.wakes) {
    if (!after.wakes.contains(link)) add(link, {});
  }
  for (const auto& [link, took] : after.wakes) {
    const auto known = before.wakes.find(link);
    if (known == before.wakes.end() || known->second != took) add(link, took);
  }
  if (!record.links.empty()) records.emplace_back(std::move(record));
}

/// Outcomes of no change that is under way.
void add_links(std::vector<Record>& records, const Memory& before, const Memory& after) {
  Outcome outcome;
  const auto hand_over = [&] {
    if (!outcome.off.empty() || !outcome.on.empty()) records.emplace_back(std::exchange(outcome, {}));
  };
  for (const auto& [link, off] : before.off) {
    if (after.off.contains(link)) continue;
    outcome.on.push_back(link);
    if (outcome.on.size() == most_links) hand_over();
  }
  hand_over();
  for (const auto& [link, off] : after.off) {
    const auto known = before.off.find(link);
    if (known != before.off.end() && known->second == off) continue;
    outcome.off.push_back(off);
    if (outcome.off.size() == most_links) hand_over();
  }
  hand_over();
}

void add_changes(std::vector<Record>& records, const Memory& before, const Memory& after) {
  for (const auto& [change, intent] : before.open) {
    if (!after.open.contains(change)) records.emplace_back(Outcome{change, intent.at, {}, {}, {}});
  }
  if (before.last < after.last && !after.open.contains(after.last)) {
    records.emplace_back(Intent{after.last, {}, {}, {}});
    records.emplace_back(Outcome{after.last, {}, {}, {}, {}});
  }
  for (const auto& [change, intent] : after.open) {
    const auto known = before.open.find(change);
    if (known == before.open.end() || known->second != intent) records.emplace_back(intent);
  }
}

void add_orders(std::vector<Record>& records, const Memory& before, const Memory& after) {
  for (const auto& [link, value] : before.overrides) {
    if (!after.overrides.contains(link)) records.emplace_back(OverrideRecord{link, {}});
  }
  for (const auto& [link, value] : after.overrides) {
    const auto known = before.overrides.find(link);
    if (known == before.overrides.end() || known->second != value)
      records.emplace_back(OverrideRecord{link, value});
  }
  for (const auto& [what, drain] : before.drains) {
    if (!after.drains.contains(what)) records.emplace_back(DrainRecord{what, std::nullopt});
  }
  for (const auto& [what, drain] : after.drains) {
    const auto known = before.drains.find(what);
    if (known == before.drains.end() || known->second != drain)
      records.emplace_back(DrainRecord{what, drain});
  }
}

}  // namespace

std::vector<Record> records_between(const Memory& before, const Memory& after) {
  std::vector<Record> records;
  if (after.mode && after.mode != before.mode) records.emplace_back(ModeRecord{*after.mode, {}});
  if (after.plane != before.plane) records.emplace_back(PlaneRecord{after.plane});
  if (after.baseline != before.baseline) records.emplace_back(BaselineRecord{after.baseline});
  add_orders(records, before, after);
  add_wakes(records, before, after);
  add_links(records, before, after);
  add_changes(records, before, after);
  return records;
}

void apply(Memory& memory, const Record& record) { std::visit(Applier{memory}, record); }

}  // namespace heddle::regulation
