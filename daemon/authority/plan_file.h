/// The plan on disk, as the OpenSM plugin finds it: always a whole one, the one before or this one, whatever
/// happens meanwhile to this program or to the machine. Blocks for the disk; any thread, one writer.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/plan.h"

namespace heddle::opensm {

/// Where plugin and daemon look unless told otherwise.
inline constexpr const char* default_plan_path = "/var/lib/heddle/plan.json";

/// Written beside `path`, made durable, then renamed over it. The plan before stays as `path`.previous, for a
/// plugin that starts when `path` has been damaged. Error: Io, with the step that failed.
[[nodiscard]] Result<void> write_plan(const std::string& path, const plan::Plan& plan);

/// Errors: NotFound without a file, Io, and those of plan::parse. Reads no more than plan::max_bytes.
[[nodiscard]] Result<plan::Plan> read_plan(const std::string& path);

}  // namespace heddle::opensm
