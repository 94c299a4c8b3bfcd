/// What every command of the `heddle` program shares: its options for all, its way of printing, its exit
/// status. A command group is one file, `<group>_commands.cc`, with one function that adds its subcommands to
/// the program.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "base/result.h"
#include "fabric/topology.h"

namespace CLI {
class App;
}

namespace heddle::cli {

/// The exit status of the program, the same for all commands.
enum class Status : int { Done = 0, Failed = 1, Usage = 2 };

enum class Format : unsigned char { Text, Json };
enum class Colour : unsigned char { Off, On };
enum class Detail : unsigned char { Brief, Full };

/// Filled in by the command line before a command runs.
struct Context {
  std::string socket = "/run/heddle/control.sock";
  Format format = Format::Text;
  Colour colour = Colour::Off;
  Losses losses = Losses::Refuse;  ///< of nodes and cables, in files that contradict themselves
  Detail detail = Detail::Brief;   ///< of what files have that does not fit
  std::ostream* out = nullptr;     ///< results
  std::ostream* err = nullptr;     ///< errors and remarks
};

/// What a command does. Its error's sentence is printed, and ends the program with Status::Failed.
using Action = std::function<Result<void>()>;

/// What a command that judges does: Done for yes, Failed for no, both without a word; an error ends the
/// program with Status::Usage, so that scripts tell "no" from "cannot say".
using Judgement = std::function<Result<Status>()>;

/// The program: options for all and the command that was chosen.
class Program {
 public:
  Program(std::ostream& out, std::ostream& err);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] CLI::App& app() { return *app_; }
  [[nodiscard]] Context& context() { return context_; }

  /// Runs `action` when `command` (a subcommand without subcommands) is the one that was given.
  static void on(CLI::App& command, Action action);
  static void judge(CLI::App& command, Judgement judgement);

  /// Parses, runs, prints errors. Never throws.
  Status run(int argc, const char* const* argv);

 private:
  Context context_;
  std::unique_ptr<CLI::App> app_;
};

/// One line of JSON, or pretty-printed on a terminal.
void print_json(const boost::json::value& value, Context& context);

/// The command groups. Each adds its subcommands; options live as long as the program.
void add_accept_commands(Program& program);
void add_completion_commands(Program& program);
void add_status_commands(Program& program);
void add_drain_commands(Program& program);
void add_fabric_commands(Program& program);
void add_health_commands(Program& program);
void add_jobs_commands(Program& program);
void add_link_commands(Program& program);
void add_qos_commands(Program& program);
void add_regulation_commands(Program& program);
void add_route_commands(Program& program);
void add_sim_commands(Program& program);
void add_sm_commands(Program& program);
void add_top_commands(Program& program);
void add_report_commands(Program& program);
void add_trace_commands(Program& program);
void add_what_if_commands(Program& program);

}  // namespace heddle::cli
