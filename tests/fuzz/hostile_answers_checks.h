/// What is promised of sweeps, tables that were read back and samples, whatever the nodes answered. For the
/// fuzz target hostile_answers.
#pragma once

#include <algorithm>
#include <vector>

#include "discovery/discovery.h"
#include "discovery/table_reader.h"
#include "fuzz/survey_checks.h"
#include "load/sample.h"

namespace heddle::fuzz {

inline void check(const discovery::SweepReport& report) {
  if (report.survey) check(*report.survey);
  require(report.survey || report.failure, "a sweep finds something, or says why not");
  require(!to_string(report.kind).empty() && report.ended >= report.begun, "a sweep says what it was");
  for (const discovery::Problem& problem : report.problems) {
    require(to_string(problem.kind) != "unknown", "a problem has a name");
    const bool prints = std::ranges::none_of(problem.text, [](unsigned char c) { return c < 0x20; });
    require(prints, "what is logged can be printed");
  }
}

inline void check(const discovery::TablesRead& read) {
  const auto switches =
      static_cast<std::size_t>(std::ranges::count(read.fabric->nodes(), NodeType::Switch, &Node::type));
  require(read.tables.switch_count() == switches, "a table of each switch");
  require(read.unread.size() <= switches, "what is not known is named once");
}

/// `asked`: ports that have counters.
inline void check(const load::Sample& sample, const std::vector<PortIndex>& asked) {
  require(sample.ports.size() == sample.fabric->ports().size(), "a figure of each port");
  for (const load::SampleFailure& failure : sample.failures)
    require(failure.port.raw() < sample.ports.size(), "what failed is a port");
  for (const PortIndex port : asked)
    require(sample.port(port).status != load::PortStatus::NotSampled, "what is asked is read, or fails");
}

}  // namespace heddle::fuzz
