/// The source of a twin as commands get it: the running fabric from heddled (`/v1/twin`), others from a file.
#pragma once

#include <string>

#include "heddle/command.h"
#include "twin/source.h"

namespace heddle::cli {

/// The running fabric if `source` is empty, else a topology file, a generator or "-". Errors: of
/// obtain_fabric() and of the daemon.
[[nodiscard]] Result<twin::Source> obtain_twin(const std::string& source, const Context& context);

}  // namespace heddle::cli
