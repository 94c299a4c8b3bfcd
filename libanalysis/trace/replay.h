/// Replays a trace on any network: says when each task sends, from what arrives.
///
/// A state machine without a network or a clock: `take` hands out the messages that leave up to a tick,
/// `received` tells it of an arrival. Messages between tasks on one end port never come out: they arrive by
/// themselves. Only the arrival of a trigger is looked at. Units: ticks of the trace. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "trace/collectives.h"
#include "trace/vef.h"

namespace heddle::trace {

struct ReplayOptions {
  std::vector<std::uint32_t> port_of_task;  ///< the end port that a task runs at
  Tick start = 0;                           ///< added to the instants of the trace
  Tick local_ticks = 1;                     ///< between tasks on one port
  double local_bytes_per_tick = 0;          ///< and its bandwidth; 0: without limit
  /// Latency of a pair of tasks on one port, in place of local_ticks, by source x tasks + target.
  std::unordered_map<std::uint64_t, Tick> pair_ticks{};
};

/// Task t at port t modulo ports.
[[nodiscard]] std::vector<std::uint32_t> round_robin(std::uint32_t tasks, std::uint32_t ports);
/// Equal runs of tasks at each port.
[[nodiscard]] std::vector<std::uint32_t> in_blocks(std::uint32_t tasks, std::uint32_t ports);
/// One port a line, by task. Errors: Invalid with file and line.
[[nodiscard]] Result<std::vector<std::uint32_t>> read_mapping(std::istream& in, std::string_view name,
                                                              std::uint32_t tasks, std::uint32_t ports);

struct Outgoing {
  std::uint64_t handle = 0;  ///< to be given to received()
  std::uint32_t source = 0;  ///< tasks
  std::uint32_t target = 0;
  std::uint64_t bytes = 0;
  Tick at = 0;
};

struct ReplaySummary {
  Tick finish = 0;  ///< of the last arrival or step
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t local_messages = 0;
  double latency_sum = 0;  ///< ticks, of messages over the network
  Tick latency_max = 0;

  [[nodiscard]] double mean_latency() const {
    const auto remote = messages - local_messages;
    return remote == 0 ? 0 : latency_sum / static_cast<double>(remote);
  }
};

class Replay {
 public:
  /// Precondition: a port for every task.
  Replay(Trace trace, ReplayOptions options);

  /// The earliest tick at which something leaves or arrives by itself; `never` if all wait for the network.
  static constexpr Tick never = ~Tick{0};
  [[nodiscard]] Tick next() const { return due_.empty() ? never : due_.top().at; }
  /// Appends what leaves at or before `until`, in order of time.
  void take(Tick until, std::vector<Outgoing>& out);
  /// Precondition: `handle` was taken, and is received once, not before it was sent.
  void received(std::uint64_t handle, Tick at);

  /// Every task has come to its end and nothing is under way.
  [[nodiscard]] bool finished() const { return running_ == 0 && under_way_ == 0; }
  /// Nothing is under way and yet tasks wait: the trace waits for itself.
  [[nodiscard]] bool stuck() const { return due_.empty() && under_way_ == 0 && running_ > 0; }
  /// The line of the file at which the first task that has not ended stands; 0 if all have.
  [[nodiscard]] std::size_t stuck_line() const;
  [[nodiscard]] const ReplaySummary& summary() const { return summary_; }
  [[nodiscard]] const Trace& trace() const { return trace_; }

 private:
  struct Due {
    Tick at;
    std::uint64_t order;
    std::uint64_t handle;
    bool arrival;
    bool operator>(const Due& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  struct Task {
    std::size_t step = 0;
    Tick last = 0;                   ///< when its last step began or ended
    std::uint64_t waits_for = none;  ///< the message without which it cannot go on
    bool in_collective = false;
    bool round_sent = false;
    std::size_t round = 0;
  };
  /// A message of a collective.
  struct Part {
    std::uint32_t collective = 0;
    std::uint32_t round = 0;
    std::uint32_t source = 0;  ///< tasks
    std::uint32_t target = 0;
    Tick sent = 0;
  };
  /// What one member of a collective knows.
  struct Member {
    std::vector<Round> rounds;
    std::vector<std::uint32_t> arrived;  ///< by round
    std::vector<Tick> latest;            ///< by round
  };

  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static constexpr std::uint64_t part_bit = std::uint64_t{1} << 63U;

  void go_on(std::uint32_t task);
  [[nodiscard]] Tick base(std::uint32_t task, const When& when) const;
  bool go_rounds(std::uint32_t task);
  [[nodiscard]] std::uint64_t new_part();
  void send(std::uint64_t handle, Tick at) { due_.push({at, order_++, handle, false}); }
  void leave(const Due& due, std::vector<Outgoing>& out);
  [[nodiscard]] Outgoing describe(std::uint64_t handle, Tick at) const;
  void arrive(std::uint64_t handle, Tick at);
  Member& member(std::uint32_t collective, std::uint32_t task);
  [[nodiscard]] Tick local_latency(const Outgoing& message) const;
  [[nodiscard]] std::uint64_t key(std::uint32_t collective, std::uint32_t task) const {
    return std::uint64_t{collective} * trace_.tasks + task;
  }

  Trace trace_;
  ReplayOptions options_;
  std::vector<Task> tasks_;
  std::vector<Tick> sent_;      ///< by message; `never` before
  std::vector<Tick> received_;  ///< by message, triggers only
  std::vector<Part> parts_;
  std::vector<std::uint32_t> free_parts_;
  std::unordered_map<std::uint64_t, Member> members_;
  std::unordered_map<std::uint64_t, Tick> left_;  ///< when a task was through with a collective
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t order_ = 0;
  std::uint64_t under_way_ = 0;
  std::uint32_t running_ = 0;
  ReplaySummary summary_;
};

}  // namespace heddle::trace
