/// swarm_world: plays the world of one number into a directory, for the watcher of the wire to judge.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <iostream>

#include "swarm/storm.h"

namespace {

std::string json(const heddle::swarm::Plan& plan, const heddle::swarm::Outcome& outcome, std::size_t count) {
  boost::json::object steps;
  for (const auto& [what, times] : outcome.done) steps[what] = times;
  return boost::json::serialize(
      boost::json::object{{"seed", plan.seed},
                          {"world", describe(plan)},
                          {"instants", outcome.instants},
                          {"lasted_s", heddle::seconds(outcome.lasted)},
                          {"steps", steps},
                          {"step_count", count},
                          {"packet_life_us", plan.world.governor.packet_life.count() / 1000},
                          {"judged", plan.is_judged()},
                          {"recorded", plan.is_recorded()},
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
  app.add_option("--directory", directory, "For recordings, commands and the fabric; must be there");
  std::vector<std::size_t> only;
  bool calm = false;
  const auto* some =
      app.add_option("--only", only, "Of the steps of its storm, those with these numbers; in the same time")
          ->delimiter(',');
  app.add_flag("--calm", calm, "No MADs are lost or late");
  bool describes = false;
  app.add_flag("--describe", describes, "Say what world it is, and play nothing");
  app.footer("Prints a line of JSON. Exit status: 0 all well, 1 something was wrong.");
  CLI11_PARSE(app, argc, argv);
  heddle::swarm::Plan plan = heddle::swarm::plan_of(seed);
  if (describes) {
    std::cout << describe(plan) << '\n';
    return 0;
  }
  if (directory.empty()) return app.exit(CLI::RequiredError{"--directory"});
  const std::chrono::milliseconds length{static_cast<std::int64_t>(seconds * 1e3)};
  heddle::swarm::Outcome outcome;
  std::size_t count = 0;
  if (some->count() == 0 && !calm) {
    heddle::swarm::Storm storm{plan, directory};
    outcome = storm.run(length);
    count = storm.steps().size();
  } else {
    // What a step is comes out of the whole storm only.
    const std::string apart = directory + "/whole";
    std::filesystem::create_directory(apart);
    heddle::swarm::Storm whole{plan, apart};
    (void)whole.run(length);
    std::filesystem::remove_all(apart);
    if (calm) plan.lossy = false;
    count = whole.steps().size();
    std::set<std::size_t> kept(only.begin(), only.end());
    for (std::size_t i = 0; some->count() == 0 && i < count; ++i) kept.insert(i);
    heddle::swarm::Storm storm{plan, directory};
    outcome = storm.repeat(whole.steps(), kept);
  }
  std::cout << json(plan, outcome, count) << '\n';
  return outcome.wrong.empty() ? 0 : 1;
}
