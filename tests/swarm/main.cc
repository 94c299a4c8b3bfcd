/// swarm_world: plays the world of one number into a directory, for the watcher of the wire to judge.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <iostream>

#include "swarm/storm.h"

namespace {

std::string json(const heddle::swarm::Plan& plan, const heddle::swarm::Outcome& outcome) {
  boost::json::object steps;
  for (const auto& [what, times] : outcome.done) steps[what] = times;
  return boost::json::serialize(
      boost::json::object{{"seed", plan.seed},
                          {"world", describe(plan)},
                          {"instants", outcome.instants},
                          {"steps", steps},
                          {"packet_life_us", plan.world.governor.packet_life.count() / 1000},
                          {"wrong", boost::json::value_from(outcome.wrong)}});
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Plays the world of one number; the same number is the same world"};
  std::uint64_t seed = 1;
  double seconds = 20;
  std::string directory;
  app.add_option("--seed", seed, "Which world")->required();
  app.add_option("--seconds", seconds, "How long the storm lasts, of the world's time");
  app.add_option("--directory", directory, "For recordings, commands and the fabric; must be there")
      ->required();
  app.footer("Prints a line of JSON. Exit status: 0 all well, 1 something was wrong.");
  CLI11_PARSE(app, argc, argv);
  const heddle::swarm::Plan plan = heddle::swarm::plan_of(seed);
  heddle::swarm::Storm storm{plan, directory};
  const auto outcome = storm.run(std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1e3)});
  std::cout << json(plan, outcome) << '\n';
  return outcome.wrong.empty() ? 0 : 1;
}
