// heddle regulate, plan, link, energy, restore, events: links that are turned off to save power.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <memory>
#include <ostream>
#include <thread>

#include "base/json_access.h"
#include "heddle/client.h"
#include "heddle/command.h"
#include "heddle/orders.h"
#include "heddle/regulation_output.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

using boost::json::object;
using boost::json::value;

template <class Print>
Result<void> show_view(Context& context, const std::string& target, Print print) {
  const auto answer = Client{context.socket}.get(target);
  if (!answer) return fail(answer.error());
  if (context.format == Format::Json) {
    print_json(*answer, context);
  } else {
    print(*answer, context);
  }
  return {};
}

struct LinkOptions {
  std::string link;
  std::string reason;
  std::string length;
  bool force = false;
};

void add_link_wish(CLI::App& parent, Context& context, const std::string& wish, const std::string& help) {
  auto* command = parent.add_subcommand(wish, help);
  auto options = std::make_shared<LinkOptions>();
  command
      ->add_option("LINK", options->link, "One end, as leaf-0-3/12, or both, as \"leaf-0-3/12 -- spine-1/4\"")
      ->required();
  command->add_option("--reason", options->reason, "Why, for the log of decisions");
  if (wish != "auto") {
    command->add_option("--for", options->length, "For so long, as 90s, 30min, 2h or 1d; then auto again")
        ->check(wrong_length);
  }
  if (wish == "off") {
    command->add_flag("--force", options->force, "Also when hosts are cut off by it");
  }
  Program::on(*command, [&context, options, wish]() -> Result<void> {
    object body{{"link", options->link}, {"wish", wish}, {"reason", options->reason}};
    if (options->force) body["force"] = true;
    if (!options->length.empty()) {
      const auto length = length_from(options->length);
      if (!length) return fail(length.error());
      body["for_seconds"] = *length;
    }
    return give_order(context, "/v1/link", std::move(body));
  });
}

void add_forget(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("forget", "Learn anew how long it takes to come back");
  auto link = std::make_shared<std::string>();
  command->add_option("LINK", *link, "As of the others")->required();
  Program::on(*command, [&context, link] {
    return give_order(context, "/v1/link/forget", object{{"link", *link}});
  });
}

void add_regulate(Program& program) {
  Context& context = program.context();
  auto* command = program.app().add_subcommand(
      "regulate", "Show, or set, whether links are turned off when they are not needed");
  auto mode = std::make_shared<std::string>();
  command->add_option("MODE", *mode, "off, advise (say what would be done) or enforce (do it)")
      ->check(CLI::IsMember({"off", "advise", "enforce"}));
  Program::on(*command, [&context, mode]() -> Result<void> {
    if (mode->empty()) return show_view(context, "/v1/regulation", print_regulation);
    return give_order(context, "/v1/regulation", {{"mode", *mode}});
  });
}

Result<void> follow_events(Context& context, std::uint64_t most, bool follow) {
  std::uint64_t after = 0;
  for (;;) {
    const auto answer = Client{context.socket}.get(fmt::format("/v1/events?after={}&most={}", after, most));
    if (!answer) return fail(answer.error());
    if (context.format == Format::Json) {
      // One event a line, as they come.
      for (const auto& event : array_at(*answer, "events")) print_json(event, context);
    } else {
      print_events(*answer, context);
    }
    context.out->flush();
    if (!follow) return {};
    after = static_cast<std::uint64_t>(count_at(*answer, "last"));
    most = 1000;
    std::this_thread::sleep_for(std::chrono::seconds{1});
  }
}

void add_events(Program& program) {
  Context& context = program.context();
  auto* command = program.app().add_subcommand("events", "The log of decisions, with their reasons");
  auto follow = std::make_shared<bool>(false);
  auto most = std::make_shared<std::uint64_t>(50);
  command->add_flag("-f,--follow", *follow, "Go on with what comes, until interrupted");
  command->add_option("-n,--last", *most, "The last so many of what is there")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}))
      ->capture_default_str();
  Program::on(*command, [&context, follow, most] { return follow_events(context, *most, *follow); });
}

}  // namespace

void add_regulation_commands(Program& program) {
  Context& context = program.context();
  add_regulate(program);
  auto* plan =
      program.app().add_subcommand("plan", "What the regulation would change, why, and what it saves");
  Program::on(*plan, [&context] { return show_view(context, "/v1/plan", print_plan); });
  auto* link =
      program.app().add_subcommand("link", "Force a link off or on, or give it back to the regulation");
  link->require_subcommand(1);
  add_link_wish(*link, context, "off", "Turn it off, and leave it off");
  add_link_wish(*link, context, "on", "Leave it on");
  add_link_wish(*link, context, "auto", "Let the regulation decide again");
  add_link_wish(*link, context, "pin", "Leave it on, in full width and speed");
  add_forget(*link, context);
  auto* energy = program.app().add_subcommand("energy", "What was spent and saved, by switch and by link");
  Program::on(*energy, [&context] { return show_view(context, "/v1/energy", print_energy); });
  auto* restore = program.app().add_subcommand(
      "restore", "Bring everything back on, take wishes for off away, and only advise from here on");
  auto adopt = std::make_shared<bool>(false);
  restore->add_flag(
      "--adopt", *adopt,
      "Enable also the ports of switches that are disabled, and not by the daemon as far as it knows");
  Program::on(*restore, [&context, adopt] {
    object body;
    if (*adopt) body["adopt"] = true;
    return give_order(context, "/v1/restore", std::move(body));
  });
  add_events(program);
}

}  // namespace heddle::cli
