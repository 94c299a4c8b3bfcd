#include "core/cabling_watch.h"

#include <utility>

#include "cabling/as_cabled.h"
#include "cabling/cable_plan.h"

namespace heddle::core {
namespace {

void compare(CablingFound& found, const std::shared_ptr<const Fabric>& reference) {
  const auto plan = cabling::read_plan(*found.baseline.plan, found.baseline.name);
  const auto check = plan
                         ? cabling::check_cables(*plan, *cabling::as_cabled(reference, found.seen, found.off))
                         : Result<cabling::CableCheck>{fail(plan.error())};
  if (check) {
    found.check = *check;
  } else {
    found.trouble = check.error().message;
  }
}

}  // namespace

std::set<LinkRef> off_on_purpose(const regulation::Memory& memory) {
  std::set<LinkRef> links;
  for (const auto& [link, record] : memory.off) links.insert(link);
  for (const auto& [change, intent] : memory.open) {
    for (const regulation::OffRecord& record : intent.off) links.insert(record.link);
    links.insert(intent.on.begin(), intent.on.end());
  }
  return links;
}

std::shared_ptr<const CablingFound> CablingWatch::found(const regulation::Memory& memory) const {
  const bool stands = found_ && memory.baseline && found_->baseline == *memory.baseline;
  return stands ? found_ : nullptr;
}

void CablingWatch::look(const Desk& desk, const regulation::Memory& memory,
                        const std::shared_ptr<const Fabric>& reference,
                        const std::shared_ptr<const Fabric>& seen) {
  if (looking_ || !seen) return;
  if (!memory.baseline) {
    found_ = nullptr;
    return;
  }
  std::set<LinkRef> off = off_on_purpose(memory);
  if (found_ && found_->baseline == *memory.baseline && found_->seen == seen && found_->off == off) return;
  looking_ = true;
  const auto next = std::make_shared<CablingFound>();
  next->baseline = *memory.baseline;
  next->seen = seen;
  next->off = std::move(off);
  desk.run([next, reference] { compare(*next, reference); },
           [this, next, alive = std::weak_ptr<bool>(alive_)] {
             if (alive.expired()) return;
             looking_ = false;
             found_ = next;
           });
}

}  // namespace heddle::core
