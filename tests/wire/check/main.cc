/// wire_check: was the fabric sound at every instant? Judges what recorder.cc recorded. docs/testing.md
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

#include "check/multicast.h"
#include "check/report.h"
#include "check/unicast.h"

namespace wire {
namespace {

struct Options {
  std::string fabric;
  std::string recordings;
  std::string commands;
  double lag_us = 0;
  double late_us = 0;
  double flight_us = static_cast<double>(Timing{}.flight) / 1e3;
  double back_within_s = 0;
  std::string ignored;
};

void ignore(const std::string& list, Report& report) {
  std::istringstream words(list);
  std::string word;
  while (std::getline(words, word, ',')) {
    bool known = false;
    for (std::size_t i = 0; i < kinds_of_wrong; ++i) {
      if (word != name_of(static_cast<Wrong>(i))) continue;
      report.ignore(static_cast<Wrong>(i));
      known = true;
    }
    if (!known) throw std::runtime_error("--ignore: there is no kind " + word);
  }
}

class Check {
 public:
  Check(const Topology& topology, const Options& options)
      : world_{topology,
               {static_cast<Time>(options.lag_us * 1e3), static_cast<Time>(options.late_us * 1e3),
                static_cast<Time>(options.flight_us * 1e3)}},
        rules_{.back_within = static_cast<Time>(options.back_within_s * 1e9)},
        report_{world_},
        unicast_{world_, rules_, report_},
        multicast_{world_, rules_, report_} {
    ignore(options.ignored, report_);
  }

  const Report& run(const std::vector<Record>& records, const std::vector<Command>& commands) {
    auto command = commands.begin();
    Time now = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      for (; command != commands.end() && command->begin <= records[i].time; ++command) {
        pass_time(command->begin, i);
        world_.begin(*command);
        settle(i, command->begin);
      }
      now = records[i].time;
      pass_time(now, i);
      world_.apply(i, records[i]);
      settle(i, now);
    }
    pass_time(now, records.size() - 1);
    report_.at(records.size() - 1, now);
    unicast_.finish();
    return report_;
  }

 private:
  /// What happens by itself until then.
  void pass_time(Time until, std::size_t index) {
    while (true) {
      const Time expiry = world_.next_expiry();
      const Time lasting = must_be_back_;
      const Time next = expiry != 0 && (lasting == 0 || expiry <= lasting) ? expiry : lasting;
      if (next == 0 || next > until) return;
      if (next == expiry) {
        world_.expire(next);
        settle(index, next);
      } else {
        must_be_back_ = 0;
        report_.at(index, next);
        unicast_.check_lasting();
      }
    }
  }

  void settle(std::size_t index, Time now) {
    const Changes changes = world_.take_changes();
    if (changes.faults && rules_.back_within > 0) must_be_back_ = now + rules_.back_within;
    if (!changes.any()) return;
    report_.at(index, now);
    report_.instant();
    unicast_.check(changes, now);
    multicast_.check(changes, now);
  }

  World world_;
  Rules rules_;
  Report report_;
  Unicast unicast_;
  Multicast multicast_;
  Time must_be_back_ = 0;
};

int run(int argc, char** argv) {
  CLI::App app{"Judges recorded MADs: was every packet led to where it should go, at every instant?"};
  Options options;
  app.add_option("--fabric", options.fabric, "The cables, as ibnetdiscover prints them")->required();
  app.add_option("--recordings", options.recordings, "Directory of what the recorder wrote")->required();
  app.add_option("--commands", options.commands, "What was cut and mended meanwhile");
  app.add_option("--lag", options.lag_us,
                 "How long packets live that were queued under old entries, in microseconds");
  app.add_option(
      "--late", options.late_us,
      "How late a MAD can be that its program has sent again, in microseconds; 0: as late as it likes");
  app.add_option("--flight", options.flight_us,
                 "How late a MAD can be of which nobody heard again, in microseconds");
  app.add_option("--back-within", options.back_within_s,
                 "In how many seconds what a cut broke must be back where cables allow it");
  app.add_option("--ignore", options.ignored, "Kinds that do not count, separated by commas");
  app.footer("Exit status: 0 sound, 1 violations, 2 nothing could be judged.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Topology topology = Topology::read(options.fabric);
  const Recordings recordings = read_recordings(options.recordings);
  if (recordings.records.empty()) throw std::runtime_error("the recordings are empty");
  const auto commands = options.commands.empty() ? std::vector<Command>{} : read_commands(options.commands);
  Check check(topology, options);
  const Report& report = check.run(recordings.records, commands);
  report.print(std::cout, recordings.records.front().time, recordings.records);
  report.print_counts(std::cout);
  return report.is_clean() ? 0 : 1;
}

}  // namespace
}  // namespace wire

int main(int argc, char** argv) {
  try {
    return wire::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "wire_check: " << error.what() << '\n';
    return 2;
  }
}
