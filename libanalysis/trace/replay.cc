#include "trace/replay.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "trace/fields.h"

namespace heddle::trace {
namespace {

/// Ticks end before `never`: what would come later comes at the last of them.
Tick later(Tick at, Tick by) {
  constexpr Tick last = Replay::never - 1;
  return by < last - at ? at + by : last;
}

}  // namespace

std::vector<std::uint32_t> round_robin(std::uint32_t tasks, std::uint32_t ports) {
  std::vector<std::uint32_t> result(tasks);
  for (std::uint32_t task = 0; task < tasks; ++task) result[task] = task % ports;
  return result;
}

std::vector<std::uint32_t> in_blocks(std::uint32_t tasks, std::uint32_t ports) {
  const std::uint32_t each = (tasks + ports - 1) / ports;
  std::vector<std::uint32_t> result(tasks);
  for (std::uint32_t task = 0; task < tasks; ++task) result[task] = task / each;
  return result;
}

Result<std::vector<std::uint32_t>> read_mapping(std::istream& in, std::string_view name, std::uint32_t tasks,
                                                std::uint32_t ports) {
  std::vector<std::uint32_t> result;
  std::string text;
  std::size_t line = 1;
  for (; std::getline(in, text); ++line) {
    Fields fields{name, line, text};
    if (fields.at_end()) continue;
    const auto port = fields.number("end port", ports - 1);
    if (!port) return fail(port.error());
    if (!fields.at_end()) return fields.wrong("after the last field", "stands something else");
    result.push_back(static_cast<std::uint32_t>(*port));
  }
  if (result.size() == tasks) return result;
  return fail(
      ErrorCode::Invalid,
      fmt::format("{}:{}: the file ends with {} end ports for {} tasks: one a line is needed for each", name,
                  line, result.size(), tasks));
}

Replay::Replay(Trace trace, ReplayOptions options)
    : trace_{std::move(trace)},
      options_{std::move(options)},
      tasks_(trace_.tasks),
      sent_(trace_.messages.size(), never),
      received_(trace_.messages.size(), never),
      running_{trace_.tasks} {
  for (std::uint32_t task = 0; task < trace_.tasks; ++task) {
    tasks_[task].last = options_.start;
    go_on(task);
  }
}

/// When what a step depends on happened; `never` if it has not.
Tick Replay::base(std::uint32_t task, const When& when) const {
  switch (when.dependency) {
    case Dependency::Independent:
      return options_.start;
    case Dependency::AfterSend:
      return sent_[when.after];
    case Dependency::AfterReceive:
      return received_[when.after];
    case Dependency::AfterCollective: {
      const auto found = left_.find(key(when.after, task));
      return found == left_.end() ? never : found->second;
    }
  }
  return never;
}

std::size_t Replay::stuck_line() const {
  for (std::uint32_t task = 0; task < trace_.tasks; ++task) {
    const auto& program = trace_.program[task];
    if (tasks_[task].step < program.size()) return program[tasks_[task].step].line;
  }
  return 0;
}

/// Takes the task to its next message, or to where it must wait. One message at a time: what is known of the
/// future does not pile up.
void Replay::go_on(std::uint32_t id) {
  Task& task = tasks_[id];
  const std::vector<Step>& program = trace_.program[id];
  while (task.step < program.size()) {
    const Step& step = program[task.step];
    if (task.in_collective) {
      if (!go_rounds(id)) return;
      continue;
    }
    const Tick after = base(id, step.when);
    if (after == never) {
      if (step.when.dependency == Dependency::AfterReceive) task.waits_for = step.when.after;
      return;
    }
    task.last = std::max(task.last, later(after, step.when.ticks));
    if (step.kind == Step::Kind::Send) {
      send(step.index, task.last);
      return;
    }
    task.in_collective = true;
    task.round = 0;
    task.round_sent = false;
  }
  --running_;
  summary_.finish = std::max(summary_.finish, task.last);
}

/// Through as many rounds of its collective as it can; says whether it is through with all.
bool Replay::go_rounds(std::uint32_t id) {
  Task& task = tasks_[id];
  const std::uint32_t collective = trace_.program[id][task.step].index;
  Member& own = member(collective, id);
  const auto& members = trace_.communicators[trace_.collectives[collective].communicator];
  for (; task.round < own.rounds.size(); ++task.round, task.round_sent = false) {
    const Round& round = own.rounds[task.round];
    if (!task.round_sent) {
      task.round_sent = true;
      for (const std::uint32_t target : round.send) {
        const std::uint64_t part = new_part();
        parts_[part] = {collective, static_cast<std::uint32_t>(task.round), id, members[target]};
        send(part | part_bit, task.last);
      }
    }
    if (own.arrived[task.round] < round.receive.size()) return false;
    task.last = std::max(task.last, own.latest[task.round]);
  }
  left_[key(collective, id)] = task.last;
  members_.erase(key(collective, id));
  task.in_collective = false;
  ++task.step;
  return true;
}

std::uint64_t Replay::new_part() {
  if (free_parts_.empty()) {
    parts_.emplace_back();
    return parts_.size() - 1;
  }
  const std::uint32_t part = free_parts_.back();
  free_parts_.pop_back();
  return part;
}

Replay::Member& Replay::member(std::uint32_t collective, std::uint32_t task) {
  const auto [at, fresh] = members_.try_emplace(key(collective, task));
  if (fresh) {
    const Collective& what = trace_.collectives[collective];
    const auto& members = trace_.communicators[what.communicator];
    const auto place = [&](std::uint32_t who) {
      return static_cast<std::uint32_t>(std::ranges::find(members, who) - members.begin());
    };
    Member& made = at->second;
    made.rounds =
        rounds(what.kind, static_cast<std::uint32_t>(members.size()), place(what.root), place(task));
    made.arrived.resize(made.rounds.size());
    made.latest.resize(made.rounds.size());
  }
  return at->second;
}

void Replay::take(Tick until, std::vector<Outgoing>& out) {
  while (!due_.empty() && due_.top().at <= until) {
    const Due due = due_.top();
    due_.pop();
    if (due.arrival) {
      arrive(due.handle, due.at);
    } else {
      leave(due, out);
    }
  }
}

Outgoing Replay::describe(std::uint64_t handle, Tick at) const {
  if ((handle & part_bit) == 0) {
    const Message& message = trace_.messages[handle];
    return {handle, message.source, message.target, message.bytes, at};
  }
  const Part& part = parts_[handle & ~part_bit];
  return {handle, part.source, part.target, trace_.collectives[part.collective].bytes, at};
}

void Replay::leave(const Due& due, std::vector<Outgoing>& out) {
  const Outgoing message = describe(due.handle, due.at);
  ++summary_.messages;
  summary_.bytes += message.bytes;
  ++under_way_;
  if (options_.port_of_task[message.source] == options_.port_of_task[message.target]) {
    ++summary_.local_messages;
    due_.push({later(due.at, local_latency(message)), order_++, due.handle, true});
  } else {
    out.push_back(message);
  }
  if ((due.handle & part_bit) != 0) {
    parts_[due.handle & ~part_bit].sent = due.at;
    return;
  }
  sent_[due.handle] = due.at;
  ++tasks_[message.source].step;
  go_on(message.source);
}

Tick Replay::local_latency(const Outgoing& message) const {
  const auto pair = options_.pair_ticks.find(std::uint64_t{message.source} * trace_.tasks + message.target);
  Tick latency = pair == options_.pair_ticks.end() ? options_.local_ticks : pair->second;
  if (options_.local_bytes_per_tick > 0) {
    latency = later(latency, static_cast<Tick>(std::ceil(static_cast<double>(message.bytes) /
                                                         options_.local_bytes_per_tick)));
  }
  return latency;
}

void Replay::received(std::uint64_t handle, Tick at) {
  const Tick sent = (handle & part_bit) != 0 ? parts_[handle & ~part_bit].sent : sent_[handle];
  const Tick latency = at - sent;
  summary_.latency_sum += static_cast<double>(latency);
  summary_.latency_max = std::max(summary_.latency_max, latency);
  arrive(handle, at);
}

void Replay::arrive(std::uint64_t handle, Tick at) {
  --under_way_;
  summary_.finish = std::max(summary_.finish, at);
  if ((handle & part_bit) != 0) {
    const Part part = parts_[handle & ~part_bit];
    free_parts_.push_back(static_cast<std::uint32_t>(handle & ~part_bit));
    Member& to = member(part.collective, part.target);
    ++to.arrived[part.round];
    to.latest[part.round] = std::max(to.latest[part.round], at);
    const Task& task = tasks_[part.target];
    if (task.in_collective && trace_.program[part.target][task.step].index == part.collective)
      go_on(part.target);
    return;
  }
  const Message& message = trace_.messages[handle];
  if (!message.trigger) return;
  received_[handle] = at;
  if (tasks_[message.target].waits_for == handle) {
    tasks_[message.target].waits_for = none;
    go_on(message.target);
  }
}

}  // namespace heddle::trace
