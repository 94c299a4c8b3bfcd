// heddle qos: what arbitration tables give, tables that give what is wanted, and tables in the fabric.

#include "heddle/qos_commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace heddle::cli {

void add_qos_commands(Program& program) {
  auto* qos =
      program.app().add_subcommand("qos", "Arbitration tables: analysis, design, and what the fabric has");
  qos->require_subcommand(1);
  add_qos_analyze(*qos, program);
  add_qos_dtable(*qos, program);
  add_qos_design(*qos, program);
  add_qos_push(*qos, program);
  add_qos_test(*qos, program);
}

}  // namespace heddle::cli
