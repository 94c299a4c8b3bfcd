#include "authority/plan_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/plan_file.h"

namespace heddle::opensm {

PlanStore::File PlanStore::File::on_disk() { return {read_plan, write_plan}; }

PlanStore::PlanStore(std::string path, Desk desk, File file)
    : path_{std::move(path)}, desk_{std::move(desk)}, file_{std::move(file)} {
  if (auto read = file_.read(path_)) {
    plan_ = *std::move(read);
    return;
  } else if (read.error().code != ErrorCode::NotFound) {
    knows_routing_ = knows_qos_ = false;
    trouble_ = fmt::format("the plan for OpenSM's plugin cannot be read: {}", read.error().message);
  }
  if (const auto before = file_.read(path_ + ".previous")) plan_.epoch = before->epoch + 1;
}

void PlanStore::saw(std::uint64_t epoch) { plan_.epoch = std::max(plan_.epoch, epoch); }

void PlanStore::take(plan::Plan plan) {
  plan_ = std::move(plan);
  knows_routing_ = knows_qos_ = true;
  trouble_.clear();
}

void PlanStore::update(Part part, const std::function<void(plan::Plan&)>& change, Stored stored) {
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
    return stored(fail(ErrorCode::Refused, trouble_), desk_.now());
  }
  ++plan_.epoch;
  const auto written = std::make_shared<Result<void>>();
  desk_.run(
      [write = file_.write, path = path_, plan = plan_, written] { *written = write(path, plan); },
      [this, alive = std::weak_ptr(alive_), on_disk = plan_.epoch, written, stored = std::move(stored)] {
        if (alive.expired()) return;
        wrote(*written);
        stored(*written ? Result<std::uint64_t>{on_disk} : fail(written->error()), desk_.now());
      });
}

void PlanStore::wrote(const Result<void>& written) {
  trouble_ = written ? "" : "the plan for OpenSM's plugin cannot be written: " + written.error().message;
}

}  // namespace heddle::opensm
