// heddle-agent: on a host, moves its connections between LID planes on heddled's word.

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <csignal>
#include <iostream>

#include "agent/service.h"
#include "files/descriptor.h"
#include "version/version.h"

namespace {

using namespace heddle;

int stop_descriptor() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return ::signalfd(-1, &signals, SFD_CLOEXEC);
}

int refuse(const Error& error) {
  std::cerr << "heddle-agent: " << error.message << '\n';
  return 1;
}

int serve(const agent::Settings& settings) {
  const Descriptor stop{stop_descriptor()};
  auto service = agent::Service::start(settings);
  if (!service) return refuse(service.error());
  std::cerr << fmt::format("heddle-agent: {} ports\n", (*service)->ports());
  sd_notify(0, "READY=1");
  if (const auto ended = (*service)->run(stop.fd()); !ended) return refuse(ended.error());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app{"Moves the connections of this host between LID planes on heddled's word."};
  std::string config = "/etc/heddle-agent/agent.toml";
  bool check = false;
  app.add_option("--config", config, "Configuration")->capture_default_str();
  app.add_flag("--check-config", check, "Read the configuration and the key, and end");
  app.set_version_flag("--version", "heddle-agent " + std::string{version_and_commit()});
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto settings = agent::read_settings(config);
  if (!settings) return refuse(settings.error());
  if (!check) return serve(*settings);
  const auto key = agent::read_key(settings->key_file);
  return key ? 0 : refuse(key.error());
}
