// Everything that is written in TOML: configuration, scenarios, phases, experiments, power models. Each is
// read or refused with the file's name; a configuration that is good stays what it is when no key is changed.

#include "app/config.h"
#include "app/config_reload.h"
#include "fuzz/fuzz_target.h"
#include "power/power_model.h"
#include "sim/experiment/experiment.h"
#include "sim/scenario.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const auto text = fuzz::text(data, size);
  const auto names_its_file = [](const Error& error) {
    fuzz::require(error.message.find("input") != std::string::npos, "an error names its file");
  };
  if (auto config = app::parse_config(text, "input")) {
    (void)app::check_config(*config);
    (void)app::governor_options(*config);
    for (const auto effect : {app::Effect::AtStart, app::Effect::AtOnce, app::Effect::ByStart}) {
      fuzz::require(app::changed(*config, *config, effect).empty(), "a configuration equals itself");
    }
    (void)app::override_config(*config, std::string{text.substr(0, 200)});
  } else {
    names_its_file(config.error());
  }
  if (const auto models = power::read_models(text, "input"); !models) names_its_file(models.error());
  if (const auto scenario = sim::parse_scenario(text, "input"); !scenario) names_its_file(scenario.error());
  if (const auto phase = sim::parse_phase(text, "input"); !phase) names_its_file(phase.error());
  if (const auto experiment = packet::read_experiment(text, "input"); !experiment) {
    names_its_file(experiment.error());
  }
  return 0;
}
