#include "heddle/command.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <utility>

#include "heddle/json_text.h"
#include "heddle/unknown_command.h"
#include "version/version.h"

namespace heddle::cli {
namespace {

/// Carries a command's end that is not Done out of CLI11's callback.
class CommandEnded : public std::exception {
 public:
  CommandEnded(Status status, std::string sentence) : status_{status}, sentence_{std::move(sentence)} {}
  [[nodiscard]] Status status() const { return status_; }
  [[nodiscard]] const std::string& sentence() const { return sentence_; }  ///< empty for none

 private:
  Status status_;
  std::string sentence_;
};

}  // namespace

Program::Program(std::ostream& out, std::ostream& err) : app_{std::make_unique<CLI::App>()} {
  context_.out = &out;
  context_.err = &err;
  if (const char* socket = std::getenv("HEDDLE_SOCKET")) context_.socket = socket;
  if (&out == &std::cout && isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr) {
    context_.colour = Colour::On;
  }

  app_->name("heddle");
  app_->description("Heddle: measures, shows and manages a live InfiniBand fabric.");
  app_->footer("Exit status: 0 done, 1 refused or failed, 2 wrong usage. See also heddle(1), heddled(8).");
  app_->set_version_flag("--version", "heddle " + std::string{version_and_commit()});
  app_->require_subcommand(1);
  app_->fallthrough();
  app_->add_option("--socket", context_.socket, "Control socket of heddled")->capture_default_str();
  app_->add_flag_callback(
      "--json", [this] { context_.format = Format::Json; }, "Print JSON instead of text");
  app_->add_flag_callback(
      "--no-color", [this] { context_.colour = Colour::Off; }, "Never colour the output");
  app_->add_flag_callback(
      "--partial", [this] { context_.losses = Losses::Keep; },
      "Go on with the rest of a topology file that loses nodes or cables because it contradicts itself");
  app_->add_flag_callback(
      "--verbose", [this] { context_.detail = Detail::Full; },
      "Every line of a topology file that does not fit, not one for each kind");
}

Program::~Program() = default;

void Program::on(CLI::App& command, Action action) {
  command.callback([action = std::move(action)] {
    if (auto result = action(); !result) throw CommandEnded{Status::Failed, result.error().message};
  });
}

void Program::judge(CLI::App& command, Judgement judgement) {
  command.callback([judgement = std::move(judgement)] {
    const auto verdict = judgement();
    if (!verdict) throw CommandEnded{Status::Usage, verdict.error().message};
    if (*verdict != Status::Done) throw CommandEnded{*verdict, {}};
  });
}

Status Program::run(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
    context_.out->flush();
    return context_.out->good() ? Status::Done : Status::Failed;
  } catch (const CLI::Success& done) {  // --help, --version
    app_->exit(done, *context_.out, *context_.err);
    return Status::Done;
  } catch (const CLI::ParseError& wrong) {
    const auto unknown = unknown_command(*app_, {argv + 1, argv + argc});
    *context_.err << "heddle: " << unknown.value_or(wrong.what())
                  << "\nTry 'heddle --help', or --help after a command.\n";
    return Status::Usage;
  } catch (const CommandEnded& ended) {
    context_.out->flush();
    if (!ended.sentence().empty()) *context_.err << "heddle: " << ended.sentence() << '\n';
    return ended.status();
  } catch (const std::exception& unforeseen) {
    *context_.err << "heddle: " << unforeseen.what() << '\n';
    return Status::Failed;
  }
}

void print_json(const boost::json::value& value, Context& context) {
  if (context.colour == Colour::On) {
    *context.out << pretty(value) << '\n';
  } else {
    *context.out << boost::json::serialize(value) << '\n';
  }
}

}  // namespace heddle::cli
