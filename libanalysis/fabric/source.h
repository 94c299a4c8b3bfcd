/// A fabric from the words an operator gives: a generator's text form, or the name of a topology file.
#pragma once

#include <string>

#include "fabric/generators.h"
#include "fabric/topology.h"

namespace heddle {

/// A file includes others relative to itself. A generated fabric has no LIDs and no warnings. Not for hot
/// paths: reads files. Errors: Io for a file that cannot be read, besides those of the generators and the
/// reader.
[[nodiscard]] Result<ParsedFabric> load_fabric(const std::string& source, Losses losses = Losses::Refuse);

/// The whole of a regular file, of 1 GiB at most.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

}  // namespace heddle
