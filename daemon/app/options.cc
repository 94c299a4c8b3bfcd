#include "app/options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <ostream>
#include <string>

#include "app/agents_key.h"
#include "app/doors.h"
#include "fabric/generators.h"
#include "version/version.h"

namespace heddle::app {

namespace {

/// What it says, the secrets that it names, and the fabric that it has generated: a start needs these too.
Result<void> check_all(const ConfigSource& source) {
  const auto config = source.load();
  if (!config) return fail(config.error());
  if (const auto key = key_of_agents(*config); !key) return fail(key.error());
  if (const auto secrets = read_secrets(*config); !secrets) return fail(secrets.error());
  if (const std::string& spec = config->fabric.generate; !spec.empty()) {
    if (const auto fabric = generate(spec); !fabric) return fail("fabric.generate", fabric.error());
  }
  return {};
}

}  // namespace

Result<Config> ConfigSource::load() const {
  auto config = file.empty() ? Result<Config>{Config{}} : read_config(file);
  if (!config) return config;
  for (const auto& assignment : overrides) {
    if (auto set = override_config(*config, assignment); !set) return fail(set.error());
  }
  if (auto good = check_config(*config); !good) return fail(good.error());
  return config;
}

std::variant<ConfigSource, ReplayAsked, ExitWith> parse_options(int argc, const char* const* argv,
                                                                std::ostream& out, std::ostream& err) {
  ConfigSource source;
  bool check = false;
  bool print = false;
  ReplayAsked replay;
  CLI::App app{"heddled: manages a live InfiniBand fabric. See heddled(8).", "heddled"};
  app.set_version_flag("--version", "heddled " + std::string{version_and_commit()});
  app.add_option("--config", source.file, "Configuration file; without it the defaults hold");
  app.add_option("--set", source.overrides, "Override one key: section.key=value; may be repeated")
      ->take_all()
      ->expected(1);
  app.add_flag("--check-config", check, "Check the configuration and exit");
  app.add_flag("--print-config", print, "Print the default configuration and exit");
  auto* record =
      app.add_option("--record", source.record, "Record the run into this file, which must not exist");
  auto* played = app.add_option("--replay", replay.file, "Play a recording: does this heddled do the same?");
  app.add_flag("--try", replay.another_build, "With --replay: also one that another build recorded")
      ->needs(played);
  played->excludes(record);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return ExitWith{app.exit(done, out, err)};
  } catch (const CLI::ParseError& wrong) {
    err << "heddled: " << wrong.what() << "\nTry 'heddled --help'.\n";
    return ExitWith{2};
  }
  if (print) {
    out << default_config_text();
    return ExitWith{0};
  }
  if (check) {
    const auto good = check_all(source);
    if (good) {
      out << "heddled: the configuration is good\n";
    } else {
      err << "heddled: " << good.error().message << '\n';
    }
    return ExitWith{good ? 0 : 1};
  }
  if (!replay.file.empty()) return replay;
  return source;
}

}  // namespace heddle::app
