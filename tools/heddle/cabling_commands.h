/// heddle fabric verify, baseline, forget: is a fabric cabled as planned? fabric_commands.cc puts the group
/// together.
#pragma once

#include "heddle/command.h"

namespace heddle::cli {

void add_fabric_verify(Program& program, CLI::App& group);
void add_fabric_baseline(Program& program, CLI::App& group);
void add_fabric_forget(Program& program, CLI::App& group);

}  // namespace heddle::cli
