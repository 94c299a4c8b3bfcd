/// The plan for OpenSM's plugin, of which several change a part each: held in memory, and written as a whole
/// by nobody else. The epoch is its own, and only grows: whatever part has changed, a report of the plugin
/// names a plan that has it, and no later report is taken for an earlier plan.
///
/// A file that is there and cannot be read has parts that nobody knows. Nothing is written over them: a plan
/// goes to disk when each of them has been said again.
///
/// Blocks for the disk. The io_context thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "plan/plan.h"

namespace heddle::opensm {

class PlanStore {
 public:
  /// Of a plan: who says it.
  enum class Part : std::uint8_t {
    Routing,  ///< ranks, links that are off, planes, packet life: the regulation
    Qos,      ///< the QoS tables
  };

  /// Reads what is at `path`; what cannot be read is in trouble().
  explicit PlanStore(std::string path);
  PlanStore(const PlanStore&) = delete;
  PlanStore& operator=(const PlanStore&) = delete;

  [[nodiscard]] const plan::Plan& plan() const { return plan_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether this part is that of the file, or was said since.
  [[nodiscard]] bool knows(Part part) const { return part == Part::Routing ? knows_routing_ : knows_qos_; }

  /// `change` says its part anew, and leaves the others and the epoch alone. The epoch of what is on disk
  /// then. Errors: Io, with the step that failed; Refused where another part of the file could not be read,
  /// and would be lost. After an error the part is kept, and is written with the next one.
  Result<std::uint64_t> update(Part part, const std::function<void(plan::Plan&)>& change);
  /// Somebody has seen a plan of this epoch: the next one is above it.
  void saw(std::uint64_t epoch);

  /// Why the plan on disk is not the one that is meant; empty if it is.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  std::string path_;
  plan::Plan plan_;
  bool knows_routing_ = true;
  bool knows_qos_ = true;
  std::string trouble_;
};

}  // namespace heddle::opensm
