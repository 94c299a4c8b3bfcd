#include "trace/write_vef.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <queue>
#include <utility>

namespace heddle::trace {
namespace {

/// Puts the tasks' programs back into one file: each record after those before it in its task, messages in
/// the order of their positions as far as that allows.
class Writer {
 public:
  Writer(const Trace& trace, std::ostream& out)
      : trace_{trace}, out_{out}, at_(trace.tasks), waiting_(trace.collectives.size()) {}

  void write() {
    header();
    for (std::size_t i = 0; i < trace_.communicators.size(); ++i) {
      out_ << 'C' << i;
      for (const std::uint32_t member : trace_.communicators[i]) out_ << ' ' << member;
      out_ << '\n';
    }
    for (std::uint32_t task = 0; task < trace_.tasks; ++task) advance(task);
    while (!next_.empty()) {
      const auto [index, task] = next_.top();
      next_.pop();
      message(trace_.messages[index], step(task).when);
      ++at_[task];
      advance(task);
    }
  }

 private:
  [[nodiscard]] const Step& step(std::uint32_t task) const { return trace_.program[task][at_[task]]; }

  void header() {
    std::size_t global = 0;
    std::size_t local = 0;
    for (const Collective& collective : trace_.collectives) {
      const std::size_t members = trace_.communicators[collective.communicator].size();
      (collective.together ? global : local) += collective.together ? 1 : members;
    }
    out_ << fmt::format("{} {} {} {} {} {} 0", trace_.version == Version::Vef3 ? "VEF3" : "VEF2",
                        trace_.tasks, trace_.messages.size(), trace_.communicators.size(), global, local);
    if (trace_.version == Version::Vef3) out_ << ' ' << trace_.clock_ps;
    out_ << '\n';
  }

  /// To the task's next message; collectives before it are written on the way, and their members go on. No
  /// recursion: how many wait for one another is the file's to say.
  void advance(std::uint32_t first) {
    std::vector<std::uint32_t> ready{first};
    while (!ready.empty()) {
      const std::uint32_t task = ready.back();
      ready.pop_back();
      if (at_[task] == trace_.program[task].size()) continue;
      const Step& next = step(task);
      if (next.kind == Step::Kind::Send) {
        next_.emplace(next.index, task);
        continue;
      }
      const Collective& collective = trace_.collectives[next.index];
      if (!collective.together) {
        enter('L', collective, fmt::format(" {}", task), next.when);
        ++at_[task];
        ready.push_back(task);
        continue;
      }
      const auto& members = trace_.communicators[collective.communicator];
      if (++waiting_[next.index] < members.size()) continue;  // the last one writes it, for all
      enter('G', collective, {}, next.when);
      for (const std::uint32_t member : members) ++at_[member];
      ready.push_back(task);
      std::remove_copy(members.rbegin(), members.rend(), std::back_inserter(ready), task);
    }
  }

  void message(const Message& message, const When& when) {
    const bool marked = message.trigger && trace_.version == Version::Vef3;
    out_ << fmt::format("{} {} {} {} {}\n", message.id, message.source, message.target, message.bytes,
                        dependency(when, marked));
  }

  void enter(char record, const Collective& collective, const std::string& task, const When& when) {
    out_ << fmt::format("{}{} {} {} {} {}{} {}\n", record, collective.id, collective.communicator,
                        to_string(collective.kind), collective.root, collective.bytes, task,
                        dependency(when, false));
  }

  /// "Dep dTime IDdep".
  [[nodiscard]] std::string dependency(const When& when, bool trigger) const {
    const unsigned dep = static_cast<unsigned>(when.dependency) + (trigger ? 4U : 0U);
    if (when.dependency == Dependency::Independent) return fmt::format("{} {} -1", dep, when.ticks);
    const std::uint64_t on = when.dependency == Dependency::AfterCollective
                                 ? trace_.collectives[when.after].id
                                 : trace_.messages[when.after].id;
    return fmt::format("{} {} {}", dep, when.ticks, on);
  }

  const Trace& trace_;
  std::ostream& out_;
  std::vector<std::size_t> at_;                          ///< by task: its next step
  std::vector<std::size_t> waiting_;                     ///< by collective: members that have come to it
  using Next = std::pair<std::uint32_t, std::uint32_t>;  ///< position of a message, its task
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next_;
};

Result<std::uint64_t> scaled(std::uint64_t value, double factor, std::uint64_t most, const char* what) {
  const double result = std::round(static_cast<double>(value) * factor);
  if (result > static_cast<double>(most)) {
    return fail(ErrorCode::Invalid,
                fmt::format("{} of {} times {:g} is more than a trace can say", what, value, factor));
  }
  return static_cast<std::uint64_t>(result);
}

}  // namespace

void write_vef(const Trace& trace, std::ostream& out) { Writer{trace, out}.write(); }

Trace strip(Trace trace) {
  trace.version = Version::Vef2;
  return trace;
}

Result<Trace> scale(Trace trace, const Scale& factors) {
  for (const auto& [factor, name] : {std::pair{factors.time, "time"}, std::pair{factors.bytes, "bytes"}}) {
    if (!std::isfinite(factor) || factor < 0) {
      return fail(ErrorCode::Invalid,
                  fmt::format("the factor of {} is {:g}; it must be 0 or more", name, factor));
    }
  }
  for (auto& program : trace.program) {
    for (Step& step : program) {
      const auto ticks = scaled(step.when.ticks, factors.time, most_delta_ticks, "a time");
      if (!ticks) return fail(ticks.error());
      step.when.ticks = *ticks;
      if (step.kind == Step::Kind::Send) trace.messages[step.index].when = step.when;
    }
  }
  const auto resize = [&](std::uint64_t& bytes) -> Result<void> {
    const auto size = scaled(bytes, factors.bytes, most_message_bytes, "a length");
    if (!size) return fail(size.error());
    bytes = bytes > 0 ? std::max<std::uint64_t>(*size, 1) : 0;
    return {};
  };
  for (Message& message : trace.messages) {
    if (auto done = resize(message.bytes); !done) return fail(done.error());
  }
  for (Collective& collective : trace.collectives) {
    if (auto done = resize(collective.bytes); !done) return fail(done.error());
  }
  return trace;
}

}  // namespace heddle::trace
