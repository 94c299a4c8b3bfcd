/// The plan for OpenSM's plugin, of which several change a part each: held in memory, and written as a whole
/// by nobody else. The epoch is its own, and only grows: whatever part has changed, a report of the plugin
/// names a plan that has it, and no later report is taken for an earlier plan.
///
/// A file that is there and cannot be read has parts that nobody knows. Nothing is written over them: a plan
/// goes to disk when each of them has been said again.
///
/// The io_context thread; what waits for the disk is done at a desk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/desk.h"
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

  /// How plans are read and written; waits for the disk.
  struct File {
    std::function<Result<plan::Plan>(const std::string& path)> read;
    std::function<Result<void>(const std::string& path, const plan::Plan&)> write;
    [[nodiscard]] static File on_disk();
  };

  /// The epoch of what is on disk then, or why it is not there.
  using Stored = std::function<void(const Result<std::uint64_t>& epoch, Instant now)>;

  /// Reads what is at `path`, and waits for that; what cannot be read is in trouble().
  PlanStore(std::string path, Desk desk, File file = File::on_disk());
  PlanStore(const PlanStore&) = delete;
  PlanStore& operator=(const PlanStore&) = delete;

  /// As it was said; perhaps the disk has it not yet.
  [[nodiscard]] const plan::Plan& plan() const { return plan_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether this part is that of the file, or was said since.
  [[nodiscard]] bool knows(Part part) const { return part == Part::Routing ? knows_routing_ : knows_qos_; }

  /// `change`, called from within, says its part anew, and leaves the others and the epoch alone. `stored` is
  /// called once, perhaps from within, and not after the end of the store; whoever reads the file may see the
  /// plan before that. Errors: Io, with the step that failed; Refused where another part of the file could
  /// not be read, and would be lost. After an error the part is kept, and is written with the next one.
  void update(Part part, const std::function<void(plan::Plan&)>& change, Stored stored);
  /// Somebody has seen a plan of this epoch: the next one is above it.
  void saw(std::uint64_t epoch);

  /// This is the plan in force, and on disk: another daemon has said it, and somebody has written it down.
  void take(plan::Plan plan);

  /// Why the plan on disk is not the one that is meant; empty if it is.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  void wrote(const Result<void>& written);

  std::string path_;
  Desk desk_;
  File file_;
  plan::Plan plan_;
  bool knows_routing_ = true;
  bool knows_qos_ = true;
  std::string trouble_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heddle::opensm
