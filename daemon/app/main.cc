/// heddled: starts, waits for signals, ends. The daemon itself is wired in heddled.cc.

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>

#include "app/heddled.h"
#include "app/options.h"

namespace {

using namespace heddle::app;

/// To standard error; the journal adds time and name where it listens.
void set_up_log() {
  auto logger = spdlog::stderr_logger_mt("heddled");
  logger->set_pattern(std::getenv("JOURNAL_STREAM") == nullptr ? "%Y-%m-%d %H:%M:%S.%e %l: %v" : "%l: %v");
  spdlog::set_default_logger(logger);
}

int run(const ConfigSource& source) {
  set_up_log();
  boost::asio::io_context io{1};
  // Before the daemon says that it is ready: from then on signals may come.
  boost::asio::signal_set reload{io, SIGHUP};
  boost::asio::signal_set end{io, SIGINT, SIGTERM};
  const auto daemon = Heddled::start(io, source);
  if (!daemon) {
    std::cerr << "heddled: " << daemon.error().message << '\n';
    return 1;
  }
  std::function<void()> await_reload = [&] {
    reload.async_wait([&](const boost::system::error_code& wrong, int) {
      if (wrong) return;
      (*daemon)->reload();
      await_reload();
    });
  };
  await_reload();
  end.async_wait([&](const boost::system::error_code& wrong, int) {
    if (wrong) return;
    reload.cancel();
    (*daemon)->stop();
  });
  io.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const auto options = parse_options(argc, argv, std::cout, std::cerr);
    if (const auto* done = std::get_if<ExitWith>(&options)) return done->status;
    return run(std::get<ConfigSource>(options));
  } catch (const std::exception& unforeseen) {
    std::cerr << "heddled: " << unforeseen.what() << '\n';
    return 1;
  }
}
