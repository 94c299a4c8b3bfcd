#include "sampling/queue_probe.h"

#include <algorithm>
#include <unordered_map>

#include "mad/counters.h"

namespace heddle::sampling {

using transport::Completion;
using transport::Outcome;

namespace {

// SampleStatus (IBA 16.1.3.2).
constexpr std::uint8_t sample_done = 0;
// A tick of the sampling clock is (Tick + 1) times this.
constexpr FabricClock::duration shortest_tick{4};
constexpr FabricClock::duration between_questions = std::chrono::milliseconds{1};
constexpr std::uint8_t most_questions = 20;

constexpr std::uint64_t result_bit = std::uint64_t{1} << 32U;

std::uint32_t ticks(FabricClock::duration length) {
  return static_cast<std::uint32_t>(
      std::clamp<FabricClock::rep>(length / shortest_tick, 1, FabricClock::rep{0xffffffff}));
}

ErrorCode code_of(Outcome outcome) {
  return outcome == Outcome::Refused ? ErrorCode::Unsupported : ErrorCode::Unreachable;
}

}  // namespace

Result<void> QueueProbe::look(const Fabric& fabric, const PmaAgents& agents,
                              const std::vector<PortIndex>& ports, FabricClock::duration length, Instant now,
                              Done done) {
  if (done_) return heddle::fail(ErrorCode::Conflict, "a look into queues is under way: try again");
  done_ = std::move(done);
  length_ = length;
  tasks_.clear();
  looks_.clear();
  std::vector<std::uint32_t> first;
  std::unordered_map<std::uint32_t, std::uint32_t> last_of_agent;
  for (const PortIndex port : ports) {
    const AgentIndex agent = agents.of(port);
    if (agent == no_agent) {
      looks_.push_back({.port = fabric.ref(port),
                        .failure = Error{ErrorCode::Unreachable, to_string(fabric.ref(port)) +
                                                                     ": has no agent that could be asked"}});
      continue;
    }
    const auto task = static_cast<std::uint32_t>(tasks_.size());
    tasks_.push_back({.port = fabric.ref(port), .agent = agents[agent].address, .next = none});
    const auto [before, is_first] = last_of_agent.try_emplace(agent.raw(), task);
    if (is_first) {
      first.push_back(task);
    } else {
      tasks_[before->second].next = task;
      before->second = task;
    }
  }
  remaining_ = tasks_.size();
  for (const std::uint32_t task : first) start(task, now);
  if (tasks_.empty()) {
    const Done call = std::exchange(done_, nullptr);
    call(std::move(looks_));
  }
  return {};
}

void QueueProbe::start(std::uint32_t index, Instant now) {
  Task& task = tasks_[index];
  mad::PortSamplesControl control;
  control.port_select = task.port.port;
  control.sample_interval = ticks(length_);
  control.tag = task.tag = ++tag_;
  for (std::size_t vl = 0; vl < data_vl_count; ++vl) {
    control.counter_select[vl] = static_cast<std::uint16_t>(mad::samples_select::xmit_queue + vl);
  }
  auto packet = transport::perf_gmp(mad::Method::Set, mad::PmAttr::PortSamplesControl, 0, task.agent);
  mad::encode_gmp(control, mad::gmp_data(packet.mad));
  const auto sent =
      engine_.submit({.packet = packet, .agent = transport::agent_of(task.agent.dlid)}, *this, index, now);
  if (!sent) fail(index, sent.error().code, sent.error().message, now);
}

void QueueProbe::on_completion(const Completion& completion) {
  if (completion.outcome == Outcome::Stopped) return;
  const auto task = static_cast<std::uint32_t>(completion.context);
  if ((completion.context & result_bit) != 0) {
    result_came(task, completion);
  } else {
    started(task, completion);
  }
}

void QueueProbe::started(std::uint32_t index, const Completion& completion) {
  if (completion.outcome != Outcome::Answered) {
    return fail(index, code_of(completion.outcome),
                "PortSamplesControl: " + std::string{to_string(completion.outcome)}, completion.at);
  }
  const auto control = mad::decode_gmp<mad::PortSamplesControl>(mad::gmp_data(completion.answer->mad));
  if (control.tag != tasks_[index].tag) {
    return fail(index, ErrorCode::Conflict, "somebody else is sampling this port", completion.at);
  }
  const auto time = shortest_tick * (std::int64_t{control.tick} + 1) * control.sample_interval;
  due_.emplace(completion.at + time, index);
}

std::optional<Instant> QueueProbe::next_deadline() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void QueueProbe::on_timer(Instant now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::uint32_t task = due_.begin()->second;
    due_.erase(due_.begin());
    ask_result(task, now);
  }
}

void QueueProbe::ask_result(std::uint32_t index, Instant now) {
  const Task& task = tasks_[index];
  const auto packet = transport::perf_gmp(mad::Method::Get, mad::PmAttr::PortSamplesResult, 0, task.agent);
  const auto sent = engine_.submit({.packet = packet, .agent = transport::agent_of(task.agent.dlid)}, *this,
                                   result_bit | index, now);
  if (!sent) fail(index, sent.error().code, sent.error().message, now);
}

void QueueProbe::result_came(std::uint32_t index, const Completion& completion) {
  Task& task = tasks_[index];
  if (completion.outcome != Outcome::Answered) {
    return fail(index, code_of(completion.outcome),
                "PortSamplesResult: " + std::string{to_string(completion.outcome)}, completion.at);
  }
  const auto result = mad::decode_gmp<mad::PortSamplesResult>(mad::gmp_data(completion.answer->mad));
  if (result.tag != task.tag) {
    return fail(index, ErrorCode::Conflict, "somebody else sampled this port meanwhile", completion.at);
  }
  if (result.sample_status != sample_done) {
    if (++task.asked == most_questions) {
      return fail(index, ErrorCode::Unreachable, "the sample never ends", completion.at);
    }
    due_.emplace(completion.at + between_questions, index);
    return;
  }
  QueueLook look{.port = task.port};
  std::copy_n(result.counters.begin(), data_vl_count, look.depth.begin());
  finish(index, std::move(look), completion.at);
}

void QueueProbe::fail(std::uint32_t index, ErrorCode code, std::string why, Instant now) {
  const PortRef port = tasks_[index].port;
  finish(index, {.port = port, .failure = Error{code, to_string(port) + ": " + std::move(why)}}, now);
}

void QueueProbe::finish(std::uint32_t index, QueueLook look, Instant now) {
  looks_.push_back(std::move(look));
  --remaining_;
  if (tasks_[index].next != none) return start(tasks_[index].next, now);
  if (remaining_ > 0) return;
  const Done call = std::exchange(done_, nullptr);
  call(std::move(looks_));
}

}  // namespace heddle::sampling
