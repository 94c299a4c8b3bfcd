/// The packet-level part of the `heddle sim` group.
#pragma once

#include "heddle/command.h"

namespace heddle::cli {

void add_sim_packet_commands(CLI::App& sim, Program& program);

}  // namespace heddle::cli
