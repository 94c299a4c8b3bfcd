#include "app/program.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <utility>

#include "app/heddled.h"
#include "app/options.h"
#include "app/recorded_run.h"

namespace heddle::app {
namespace {

/// To standard error; the journal adds time and name where it listens.
void set_up_log() {
  auto logger = spdlog::stderr_logger_mt("heddled");
  logger->set_pattern(std::getenv("JOURNAL_STREAM") == nullptr ? "%Y-%m-%d %H:%M:%S.%e %l: %v" : "%l: %v");
  spdlog::set_default_logger(logger);
}

/// A daemon's life, from its start to its end. Signals count from before it says that it is ready.
class Life {
 public:
  Result<void> start(const ConfigSource& source) {
    auto daemon = Heddled::start(io_, source);
    if (!daemon) return fail(daemon.error());
    daemon_ = *std::move(daemon);
    await_reload();
    await_end();
    return {};
  }
  void run() { io_.run(); }
  [[nodiscard]] bool starts_anew() const { return daemon_->starts_anew(); }

 private:
  void await_reload() {
    reload_.async_wait([this](const boost::system::error_code& wrong, int) {
      if (wrong) return;
      daemon_->reload();
      await_reload();
    });
  }
  void await_end() {
    end_.async_wait([this](const boost::system::error_code& wrong, int) {
      if (wrong) return;
      daemon_->stop();
      await_end();
    });
  }

  boost::asio::io_context io_{1};
  boost::asio::signal_set reload_{io_, SIGHUP};
  boost::asio::signal_set end_{io_, SIGINT, SIGTERM};
  std::unique_ptr<Heddled> daemon_;
};

int run(ConfigSource source) {
  set_up_log();
  for (auto life = std::make_unique<Life>();;) {
    if (auto started = life->start(source); !started) {
      std::cerr << "heddled: " << started.error().message << '\n';
      return 1;
    }
    life->run();
    if (!life->starts_anew()) return 0;
    source.record.clear();  // it was of that life
    // The next one hears signals before this one is deaf.
    auto next = std::make_unique<Life>();
    life = std::move(next);
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const auto options = parse_options(argc, argv, std::cout, std::cerr);
    if (const auto* done = std::get_if<ExitWith>(&options)) return done->status;
    if (const auto* asked = std::get_if<ReplayAsked>(&options)) {
      spdlog::set_level(spdlog::level::off);  // what the core says is on standard output
      return replay(*asked, std::cout, std::cerr);
    }
    return run(std::get<ConfigSource>(options));
  } catch (const std::exception& unforeseen) {
    std::cerr << "heddled: " << unforeseen.what() << '\n';
    return 1;
  }
}

}  // namespace heddle::app
