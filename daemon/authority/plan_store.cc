#include "authority/plan_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/plan_file.h"

namespace heddle::opensm {

PlanStore::PlanStore(std::string path) : path_{std::move(path)} {
  if (auto read = read_plan(path_)) {
    plan_ = *std::move(read);
    return;
  } else if (read.error().code != ErrorCode::NotFound) {
    knows_routing_ = knows_qos_ = false;
    trouble_ = fmt::format("the plan for OpenSM's plugin cannot be read: {}", read.error().message);
  }
  if (const auto before = read_plan(path_ + ".previous")) plan_.epoch = before->epoch + 1;
}

void PlanStore::saw(std::uint64_t epoch) { plan_.epoch = std::max(plan_.epoch, epoch); }

Result<std::uint64_t> PlanStore::update(Part part, const std::function<void(plan::Plan&)>& change) {
  const std::uint64_t epoch = plan_.epoch;
  change(plan_);
  plan_.epoch = epoch;
  (part == Part::Routing ? knows_routing_ : knows_qos_) = true;
  if (!knows_routing_ || !knows_qos_) {
    const char* lost = knows_routing_ ? "the QoS tables in it would be lost: push them again, or forget them "
                                        "(`heddle qos push`, `heddle qos forget`)"
                                      : "the order of the switches and the links that are off in it would be "
                                        "lost: wait for the regulation to say them again";
    trouble_ = fmt::format("{} cannot be read, and {}; or take the file away", path_, lost);
    return fail(ErrorCode::Refused, trouble_);
  }
  ++plan_.epoch;
  if (auto written = write_plan(path_, plan_); !written) {
    trouble_ = "the plan for OpenSM's plugin cannot be written: " + written.error().message;
    return fail(written.error());
  }
  trouble_.clear();
  return plan_.epoch;
}

}  // namespace heddle::opensm
