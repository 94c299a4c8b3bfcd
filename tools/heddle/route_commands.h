/// The route commands, a file each; route_commands.cc puts the group together.
#pragma once

#include "heddle/command.h"

namespace heddle::cli {

void add_route_compute(Program& program, CLI::App& group);
void add_route_check(Program& program, CLI::App& group);
void add_route_compare(Program& program, CLI::App& group);

inline constexpr const char* route_fabric_help =
    "A topology file, or a generator as in tree:k=18,n=3,full; LIDs are assigned where it has none";

}  // namespace heddle::cli
