#include "regulation/memory.h"

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
};

}  // namespace

void apply(Memory& memory, const Record& record) { std::visit(Applier{memory}, record); }

}  // namespace heddle::regulation
