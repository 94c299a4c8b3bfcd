#include "trace/trace_summary.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "trace/replay.h"

namespace heddle::trace {
namespace {

constexpr std::size_t most_pairs_shown = 10;

/// All tasks on one port: every message arrives a tick later, and none enters a network.
void replay_alone(const Trace& trace, TraceSummary& summary) {
  ReplayOptions options;
  options.port_of_task.assign(trace.tasks, 0);
  Replay replay{trace, std::move(options)};
  std::vector<Outgoing> out;
  while (replay.next() != Replay::never) replay.take(replay.next(), out);
  summary.messages_of_collectives = replay.summary().messages - summary.messages;
  summary.bytes_of_collectives = replay.summary().bytes - summary.bytes;
  if (replay.finished()) {
    summary.ticks_alone = replay.summary().finish;
  } else {
    summary.stuck_line = replay.stuck_line();
    summary.messages_of_collectives = 0;
    summary.bytes_of_collectives = 0;
  }
}

void find_heaviest(const Trace& trace, TraceSummary& summary) {
  std::unordered_map<std::uint64_t, PairTraffic> by_pair;
  for (const Message& message : trace.messages) {
    PairTraffic& pair = by_pair[std::uint64_t{message.source} * trace.tasks + message.target];
    pair.source = message.source;
    pair.target = message.target;
    ++pair.messages;
    pair.bytes += message.bytes;
  }
  summary.pairs = by_pair.size();
  for (const auto& [key, pair] : by_pair) summary.heaviest.push_back(pair);
  std::ranges::sort(summary.heaviest, [](const PairTraffic& a, const PairTraffic& b) {
    return std::pair{b.bytes, std::pair{a.source, a.target}} <
           std::pair{a.bytes, std::pair{b.source, b.target}};
  });
  summary.heaviest.resize(std::min(summary.heaviest.size(), most_pairs_shown));
}

}  // namespace

TraceSummary summarize(const Trace& trace) {
  TraceSummary summary;
  std::vector<bool> waited_for(trace.messages.size());
  for (const auto& program : trace.program) {
    for (const Step& step : program) {
      ++summary.by_dependency.at(static_cast<std::size_t>(step.when.dependency));
      if (step.when.dependency == Dependency::AfterReceive) waited_for[step.when.after] = true;
    }
  }
  summary.messages = trace.messages.size();
  for (std::size_t i = 0; i < trace.messages.size(); ++i) {
    const Message& message = trace.messages[i];
    summary.bytes += message.bytes;
    summary.largest = std::max(summary.largest, message.bytes);
    summary.triggers += message.trigger ? 1 : 0;
    summary.idle_triggers += message.trigger && !waited_for[i] ? 1 : 0;
  }
  for (const Collective& collective : trace.collectives) {
    ++summary.by_collective.at(static_cast<std::size_t>(collective.kind));
  }
  find_heaviest(trace, summary);
  replay_alone(trace, summary);
  return summary;
}

}  // namespace heddle::trace
