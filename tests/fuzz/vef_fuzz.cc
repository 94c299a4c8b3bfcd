// VEF traces, the names of an on-chip trace, and mappings of tasks: what is read holds together. A small
// trace is replayed as well, on a network and without one, is written and read again, stripped and scaled.

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_set>

#include "fuzz/fuzz_target.h"
#include "trace/replay.h"
#include "trace/trace_summary.h"
#include "trace/vef.h"
#include "trace/write_vef.h"

namespace {

using namespace heddle;
using fuzz::require;
using trace::Tick;
using trace::Trace;

/// What is played: a record makes as many messages as its communicator has pairs.
constexpr std::uint32_t most_tasks_played = 64;
constexpr std::size_t most_messages_played = 20'000;

/// As "input:12: ...".
void require_file_and_line(const Error& error) {
  const std::string_view message = error.message;
  require(message.starts_with("input:"), "an error names its file");
  const std::size_t end = message.find_first_not_of("0123456789", 6);
  require(end > 6 && message.substr(end).starts_with(": "), "an error names its line");
}

void require_whole(const Trace& trace) {
  require(trace.program.size() == trace.tasks, "each task has a program");
  for (const auto& steps : trace.program) {
    std::unordered_set<std::uint32_t> entered;
    for (const auto& step : steps) {
      const bool sends = step.kind == trace::Step::Kind::Send;
      require(step.index < (sends ? trace.messages.size() : trace.collectives.size()),
              "a step is about something that is there");
      require(sends || entered.insert(step.index).second, "a task enters a collective once");
    }
  }
  for (const auto& members : trace.communicators) {
    for (const auto task : members) require(task < trace.tasks, "members are tasks");
  }
}

bool is_small(const Trace& trace) {
  std::size_t messages = trace.messages.size();
  for (const auto& collective : trace.collectives) {
    const std::size_t members = trace.communicators[collective.communicator].size();
    messages += members * members;
  }
  return trace.tasks <= most_tasks_played && messages <= most_messages_played;
}

/// On a network in which a message takes the longer the more it has to say.
trace::ReplaySummary play(const Trace& trace, std::vector<std::uint32_t> port_of_task, bool finishes) {
  trace::ReplayOptions options;
  options.port_of_task = port_of_task;
  options.local_bytes_per_tick = 64;
  options.pair_ticks = {{0, 3}, {1, 2}};
  trace::Replay replay{trace, std::move(options)};
  require(replay.trace().tasks == trace.tasks, "a replay is of its trace");
  std::multimap<Tick, std::uint64_t> under_way;
  std::vector<trace::Outgoing> out;
  Tick now = 0;
  for (;;) {
    const Tick arrival = under_way.empty() ? trace::Replay::never : under_way.begin()->first;
    const Tick next = std::min(replay.next(), arrival);
    if (next == trace::Replay::never) break;
    require(next >= now, "no message leaves or arrives before one that came earlier");
    now = next;
    if (arrival <= replay.next()) {
      const std::uint64_t handle = under_way.begin()->second;
      under_way.erase(under_way.begin());
      replay.received(handle, now);
      continue;
    }
    out.clear();
    replay.take(now, out);
    for (const auto& message : out) {
      require(message.at == now, "a message leaves at its tick");
      require(port_of_task[message.source] != port_of_task[message.target], "what is local stays there");
      const Tick latency = 1 + message.bytes % 1000;
      under_way.emplace(now < trace::Replay::never - 2000 ? now + latency : now, message.handle);
    }
  }
  require(replay.finished() == finishes && replay.stuck() != finishes,
          "a network decides when messages leave, and not whether");
  require(finishes == (replay.stuck_line() == 0), "a replay that is stuck says at which line");
  return replay.summary();
}

std::string written(const Trace& trace) {
  std::ostringstream out;
  write_vef(trace, out);
  return out.str();
}

Trace read_again(const std::string& text) {
  std::istringstream in{text};
  auto trace = trace::read_vef(in, "input");
  require(trace.has_value(), "what is written can be read");
  return *std::move(trace);
}

void use(const Trace& trace) {
  const auto summary = summarize(trace);
  const auto ports = trace::round_robin(trace.tasks, 3);
  const bool finishes = summary.ticks_alone.has_value();
  const auto played = play(trace, ports, finishes);
  if (finishes) {
    require(played.messages == summary.messages + summary.messages_of_collectives, "all messages leave");
    require(play(trace, trace::in_blocks(trace.tasks, 2), true).messages == played.messages,
            "where tasks run does not change what they send");
  }

  const std::string text = written(trace);
  const Trace again = read_again(text);
  require(written(again) == text, "what is read of a written trace is this trace");
  const auto same_as_played = [&](const Trace& other) {
    const auto replayed = play(other, ports, finishes);
    return replayed.finish == played.finish && replayed.messages == played.messages &&
           replayed.bytes == played.bytes;
  };
  require(same_as_played(again), "a written trace sends the same messages at the same ticks");
  require(same_as_played(read_again(written(strip(trace)))), "and so does one without triggers");
  if (const auto longer = scale(trace, {3, 0.5})) read_again(written(*longer));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{fuzz::text(data, size)};
  std::istringstream trace_text{text};
  if (const auto trace = trace::read_vef(trace_text, "input")) {
    require_whole(*trace);
    if (is_small(*trace)) use(*trace);
  } else {
    require_file_and_line(trace.error());
  }
  std::istringstream names_text{text};
  if (const auto names = trace::read_names(names_text, "input")) {
    require(names->tiles.size() == names->kinds.size(), "a tile for each device");
  } else {
    require_file_and_line(names.error());
  }
  std::istringstream mapping_text{text};
  if (const auto mapping = trace::read_mapping(mapping_text, "input", 16, 8)) {
    for (const auto port : *mapping) require(port < 8, "ports that are there");
  } else {
    require_file_and_line(mapping.error());
  }
  return 0;
}
