/// Fabrics from the words of the command line, for all commands that take one.
#pragma once

#include <memory>
#include <string>

#include "heddle/command.h"

namespace heddle::cli {

/// A topology file or a generator. Warnings go to standard error, one for each kind unless --verbose; a file
/// that loses nodes or cables is an error unless --partial.
[[nodiscard]] Result<std::shared_ptr<const Fabric>> read_fabric(const std::string& source,
                                                                const Context& context);

/// The same, "-" for standard input, and the running fabric if the source is empty. Reads what a daemon sends
/// as it would read a file.
[[nodiscard]] Result<std::shared_ptr<const Fabric>> obtain_fabric(const std::string& source,
                                                                  const Context& context);

/// A text that was read from elsewhere; `name` is what messages call it.
[[nodiscard]] Result<std::shared_ptr<const Fabric>> read_fabric_text(const std::string& text,
                                                                     const std::string& name,
                                                                     const Context& context);

}  // namespace heddle::cli
