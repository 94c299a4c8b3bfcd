// heddle top: the busiest links, and the jobs that send most, live, on a terminal.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <memory>

#include "heddle/client.h"
#include "heddle/command.h"
#include "heddle/raw_terminal.h"
#include "heddle/top_screen.h"

namespace heddle::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct TopOptions {
  std::string sort = "utilization";
  double interval = 1;
};

void ask(TopScreen& screen, const Client& client) {
  auto status = client.get("/v1/status");
  auto rows = status ? client.get(screen.target(RawTerminal::size())) : status;
  if (!rows) return screen.problem(rows.error().message);
  screen.problem("");
  screen.status(std::move(*status));
  screen.rows(std::move(*rows));
}

Result<void> top(const TopOptions& options, Context& context) {
  if (auto terminal = RawTerminal::check(); !terminal) return terminal;
  const Client client{context.socket};
  // What cannot work is said before the screen is taken.
  if (const auto first = client.get("/v1/status"); !first) return fail(first.error());
  const RawTerminal terminal;
  TopScreen screen{options.sort};
  const auto interval = milliseconds{static_cast<long>(options.interval * 1000)};
  for (;;) {
    ask(screen, client);
    const auto until = steady_clock::now() + interval;
    for (;;) {
      RawTerminal::draw(screen.lines(RawTerminal::size()), TopScreen::title_line);
      const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
      if (left <= milliseconds{0}) break;
      const std::string typed = RawTerminal::read(left);
      if (screen.type(typed) == TopScreen::Wish::Leave) return {};
      if (!typed.empty()) ask(screen, client);
    }
  }
}

}  // namespace

void add_top_commands(Program& program) {
  Context& context = program.context();
  const auto options = std::make_shared<TopOptions>();
  auto* command =
      program.app().add_subcommand("top", "The busiest links, live, on a terminal; t shows jobs, q quits");
  command->add_option("--sort", options->sort, "utilization, congestion, rate, errors, ber or name")
      ->check(CLI::IsMember({"utilization", "congestion", "rate", "errors", "ber", "name"}))
      ->option_text("KEY [utilization]");
  command->add_option("--interval", options->interval, "Seconds between two screens")
      ->check(CLI::Range(0.1, 3600.0))
      ->option_text("SECONDS [1]");
  Program::on(*command, [options, &context] { return top(*options, context); });
}

}  // namespace heddle::cli
