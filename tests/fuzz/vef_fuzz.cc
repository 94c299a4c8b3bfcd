// VEF traces, the names of an on-chip trace, and mappings of tasks: what is read holds together.

#include <sstream>

#include "fuzz/fuzz_target.h"
#include "trace/replay.h"
#include "trace/vef.h"

namespace {

/// As "input:12: ...".
void require_file_and_line(const heddle::Error& error) {
  const std::string_view message = error.message;
  heddle::fuzz::require(message.starts_with("input:"), "an error names its file");
  const std::size_t end = message.find_first_not_of("0123456789", 6);
  heddle::fuzz::require(end > 6 && message.substr(end).starts_with(": "), "an error names its line");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  const std::string text{fuzz::text(data, size)};
  std::istringstream trace_text{text};
  if (const auto trace = trace::read_vef(trace_text, "input")) {
    fuzz::require(trace->program.size() == trace->tasks, "each task has a program");
    for (const auto& steps : trace->program) {
      for (const auto& step : steps) {
        const std::size_t most =
            step.kind == trace::Step::Kind::Send ? trace->messages.size() : trace->collectives.size();
        fuzz::require(step.index < most, "a step is about something that is there");
      }
    }
    for (const auto& members : trace->communicators) {
      for (const auto task : members) fuzz::require(task < trace->tasks, "members are tasks");
    }
  } else {
    require_file_and_line(trace.error());
  }
  std::istringstream names_text{text};
  if (const auto names = trace::read_names(names_text, "input")) {
    fuzz::require(names->tiles.size() == names->kinds.size(), "a tile for each device");
  } else {
    require_file_and_line(names.error());
  }
  std::istringstream mapping_text{text};
  if (const auto mapping = trace::read_mapping(mapping_text, "input", 16, 8)) {
    for (const auto port : *mapping) fuzz::require(port < 8, "ports that are there");
  } else {
    require_file_and_line(mapping.error());
  }
  return 0;
}
