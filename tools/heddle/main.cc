/// heddle: the operator's command line. Each command group adds itself below; the rest is in command.h.

#include <iostream>

#include "heddle/command.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  heddle::cli::Program program{std::cout, std::cerr};
  heddle::cli::add_status_commands(program);
  heddle::cli::add_health_commands(program);
  heddle::cli::add_accept_commands(program);
  heddle::cli::add_link_commands(program);
  heddle::cli::add_jobs_commands(program);
  heddle::cli::add_regulation_commands(program);
  heddle::cli::add_drain_commands(program);
  heddle::cli::add_top_commands(program);
  heddle::cli::add_report_commands(program);
  heddle::cli::add_qos_commands(program);
  heddle::cli::add_fabric_commands(program);
  heddle::cli::add_route_commands(program);
  heddle::cli::add_what_if_commands(program);
  heddle::cli::add_sim_commands(program);
  heddle::cli::add_sm_commands(program);
  heddle::cli::add_trace_commands(program);
  heddle::cli::add_completion_commands(program);
  return static_cast<int>(program.run(argc, argv));
}
