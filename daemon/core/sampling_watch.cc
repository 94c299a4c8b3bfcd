#include "core/sampling_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace heddle::core {

namespace {

constexpr std::size_t most_silent_names = 8;

}  // namespace

void SamplingWatch::saw(const load::Sample& sample, std::uint64_t late) {
  auto before = std::exchange(missed_, {});
  for (const load::SampleFailure& failure : sample.failures) {
    const PortRef port = sample.fabric->ref(failure.port);
    const auto known = before.find(port);
    missed_[port] = known == before.end() ? 1 : std::min(known->second + 1, patience);
  }
  late_.push_back(late > std::exchange(late_before_, late));
  if (late_.size() > window) late_.pop_front();
}

Problems SamplingWatch::problems(const Fabric& fabric,
                                 const std::function<std::string(const Node&)>& name) const {
  Problems problems;
  std::vector<PortRef> silent;
  for (const auto& [port, sweeps] : missed_) {
    // What is gone for good is no port that does not answer.
    if (sweeps >= patience && fabric.find_node(port.node) != no_node) silent.push_back(port);
  }
  if (!silent.empty()) {
    const std::string names = list_of(silent, most_silent_names, [&](const PortRef& port) {
      return fmt::format("{}/{}", name(fabric.node(fabric.find_node(port.node))), port.port.raw());
    });
    problems.push_back(
        {ProblemKind::SilentPorts,
         fmt::format(
             "no answer from {} {} in the last {} sweeps of the counters: {}: no path leads there, or "
             "the agent there does not work",
             silent.size(), silent.size() == 1 ? "port" : "ports", patience, names)});
  }
  const auto late = static_cast<std::size_t>(std::count(late_.begin(), late_.end(), true));
  if (late_.size() == window && 2 * late >= window) {
    problems.push_back(
        {ProblemKind::LateSweeps,
         fmt::format("{} of the last {} sweeps of the counters began late: raise sampling.interval or "
                     "sampling.window",
                     late, window)});
  }
  return problems;
}

}  // namespace heddle::core
