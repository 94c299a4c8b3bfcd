// heddle route: forwarding tables computed, proved, compared.

#include "heddle/route_commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace heddle::cli {

void add_route_commands(Program& program) {
  auto* group = program.app().add_subcommand("route", "Compute, prove and compare forwarding tables");
  group->require_subcommand(1);
  add_route_compute(program, *group);
  add_route_check(program, *group);
  add_route_compare(program, *group);
}

}  // namespace heddle::cli
