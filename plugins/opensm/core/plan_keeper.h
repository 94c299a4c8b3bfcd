/// The plan in force. Reads the file when it has been replaced, in the routing callback, and never waits:
/// what is no plain file is not read, what is too large neither. A wrong or missing file leaves the last good
/// plan in force; where there was none since the start, the one that the daemon replaced last
/// (`<path>.previous`). OpenSM's routing thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "plan/plan.h"

namespace heddle::plugin {

class PlanKeeper {
 public:
  explicit PlanKeeper(std::string path) : path_{std::move(path)} {}

  enum class News { None, Taken, Refused, Missing };
  /// Looks at the file. Refused and Missing are said once per file.
  News look();

  /// Null: there was never a good one.
  [[nodiscard]] const plan::Plan* plan() const { return plan_ ? &*plan_ : nullptr; }
  /// Why the file was refused, or what was taken.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  /// Of a file that was replaced by renaming: another inode, or another time.
  struct Identity {
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t modified_ns = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  Result<plan::Plan> read(const std::string& path, std::optional<Identity>& identity);

  std::string path_;
  std::optional<plan::Plan> plan_;
  std::optional<Identity> seen_;
  bool looked_ = false;
  std::string message_;
};

}  // namespace heddle::plugin
