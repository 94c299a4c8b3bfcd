/// The parts of the `heddle qos` group, one file each.
#pragma once

#include "heddle/command.h"

namespace heddle::cli {

void add_qos_analyze(CLI::App& qos, Program& program);
void add_qos_dtable(CLI::App& qos, Program& program);
void add_qos_design(CLI::App& qos, Program& program);
void add_qos_push(CLI::App& qos, Program& program);
void add_qos_test(CLI::App& qos, Program& program);

}  // namespace heddle::cli
