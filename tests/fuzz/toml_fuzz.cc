// Everything that is written in TOML: configuration, scenarios, phases, experiments, power models. Each is
// read or refused with the file's name; a configuration that is good stays what it is when no key is changed,
// and what a scenario says becomes traffic between hosts of a fabric.
//
// The input: TOML. Comments "#--set section.key=value" change a configuration that was read; what follows a
// line "#--include" is the file that an experiment includes.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "app/config.h"
#include "app/config_reload.h"
#include "base/random.h"
#include "fabric/generators.h"
#include "fuzz/fuzz_target.h"
#include "power/power_model.h"
#include "sim/experiment/experiment.h"
#include "sim/scenario.h"
#include "sim/scenario_hosts.h"
#include "sim/scenario_patterns.h"

namespace {

using namespace heddle;
using fuzz::require;

constexpr std::size_t most_phases = 16;
constexpr std::array effects{app::Effect::AtStart, app::Effect::AtOnce, app::Effect::ByStart};

void names_its_file(const Error& error) {
  require(error.message.find("input") != std::string::npos, "an error names its file");
}

bool same(const app::Config& a, const app::Config& b) {
  return std::ranges::all_of(effects, [&](app::Effect effect) { return app::changed(a, b, effect).empty(); });
}

/// The rest of each line that begins so.
template <class F>
void for_each_comment(std::string_view text, std::string_view begin, F&& use) {
  for (std::size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at + 1)) {
    const std::string_view rest = text.substr(at + begin.size());
    use(std::string{rest.substr(0, rest.find('\n'))});
  }
}

void require_good_defaults() {
  const auto config = app::parse_config(app::default_config_text(), "input");
  require(config.has_value() && app::check_config(*config).has_value(), "the file of defaults is good");
}

void use_config(app::Config& config, std::string_view text) {
  (void)app::check_config(config);
  (void)app::governor_options(config);
  (void)app::etcd_options(config);
  require(!app::shares_state(config) || !config.fabric.read_only, "who only reads owns nothing");
  require(same(config, config), "a configuration equals itself");
  for (const auto& reading : config.power.measured) {
    require(std::isfinite(reading.watts.value()), "what was measured is a number");
  }
  for_each_comment(text, "#--set ", [&](const std::string& assignment) {
    if (const auto set = app::override_config(config, assignment)) {
      require(config.given.contains(assignment.substr(0, assignment.find('='))), "what is set is given");
    } else {
      require(set.error().message.starts_with("--set "), "an error says which setting is wrong");
    }
  });
}

void require_good(const std::vector<power::DeviceModel>& models) {
  for (const auto& model : models) {
    require(std::isfinite(model.base.value()) && std::isfinite(model.port_off.value()), "power is a number");
    if (const auto& range = model.origin.range) {
      require(std::isfinite(range->second.value()) && range->first <= range->second, "a range is a range");
    }
  }
}

/// Who sends to whom, and that it is no more than they have.
void use_phase(const sim::Phase& phase) {
  static const auto fabric = *generate("tree:k=3,n=2");
  for (const PortIndex port : sim::host_ports(*fabric)) {
    const std::string& name = fabric->node(fabric->port(port).node).description;
    for (const auto& flow : phase.flows) {
      require(!sim::host_name_matches(flow.from, name) || !flow.from.empty(), "no pattern, no host");
    }
  }
  const double factor = phase.curve.at(phase.start);
  require(factor >= 0 && factor <= 1000, "a curve stays between its points");
  Random random{phase.seed};
  const auto senders = sim::select_hosts(*fabric, phase.hosts, random);
  const auto receivers = phase.to ? sim::select_hosts(*fabric, *phase.to, random) : senders;
  for (const auto* selected : {&senders, &receivers}) {
    if (!*selected) {
      require(!selected->error().message.empty(), "it is said why there are no hosts");
      return;
    }
    require(!(*selected)->empty() && std::ranges::is_sorted(**selected), "hosts in order");
  }
  struct Sent {
    unsigned pairs = 0;
    double share = 0;
  };
  std::map<PortIndex, Sent> sent;
  for (const auto& pair : sim::make_pairs(phase, *senders, *receivers, random)) {
    require(pair.from != pair.to, "nobody sends to itself");
    require(std::ranges::binary_search(*senders, pair.from), "senders send");
    Sent& by_host = sent[pair.from];
    require(++by_host.pairs <= phase.destinations + 1, "no more pairs than destinations, and one");
    require(pair.share > 0 && (by_host.share += pair.share) <= 1.000001, "shares of what a host sends");
  }
}

void use_experiment(std::string_view text) {
  const std::string_view mark = "\n#--include\n";
  const std::size_t end = std::min(text.find(mark), text.size());
  std::string included_file = "input";
  const auto included = [&](const std::string& file) -> Result<std::string> {
    included_file = file;
    if (end == text.size()) return fail(ErrorCode::NotFound, "there is no such file");
    return std::string{text.substr(end + mark.size())};
  };
  const auto experiment = packet::read_experiment(text.substr(0, end), "input", included);
  if (experiment) {
    require(experiment->points() > 0, "an experiment has something to run");
  } else {
    const std::string& message = experiment.error().message;
    require(message.find("input") != std::string::npos || message.find(included_file) != std::string::npos,
            "an error names its file, or the one that is included");
  }
  if (const auto alone = packet::read_experiment(text.substr(0, end), "input")) {
    require(experiment.has_value() && alone->points() == experiment->points(),
            "what needs no other file is the same without one");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  [[maybe_unused]] static const bool once = (require_good_defaults(), true);
  const auto text = fuzz::text(data, size);
  if (auto config = app::parse_config(text, "input")) {
    use_config(*config, text);
  } else {
    names_its_file(config.error());
  }
  if (const auto models = power::read_models(text, "input")) {
    require_good(*models);
  } else {
    names_its_file(models.error());
  }
  if (const auto scenario = sim::parse_scenario(text, "input")) {
    const std::size_t count = std::min(scenario->phases.size(), most_phases);
    std::for_each_n(scenario->phases.begin(), count, use_phase);
  } else {
    names_its_file(scenario.error());
  }
  if (const auto phase = sim::parse_phase(text, "input")) {
    use_phase(*phase);
  } else {
    names_its_file(phase.error());
  }
  use_experiment(text);
  return 0;
}
