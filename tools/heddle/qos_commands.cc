// heddle qos: what arbitration tables give, and tables that give what is wanted.

#include "heddle/qos_commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace heddle::cli {

void add_qos_commands(Program& program) {
  auto* qos = program.app().add_subcommand("qos", "Arbitration tables: analysis and design");
  qos->require_subcommand(1);
  add_qos_analyze(*qos, program);
  add_qos_dtable(*qos, program);
  add_qos_design(*qos, program);
}

}  // namespace heddle::cli
