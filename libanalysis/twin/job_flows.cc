#include "twin/job_flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/printable.h"
#include "base/random.h"
#include "jobs/job.h"
#include "load/glob.h"
#include "sim/scenario_hosts.h"
#include "sim/scenario_patterns.h"

namespace heddle::twin {
namespace {

struct JobText {
  std::string_view hosts;
  sim::Pattern pattern = sim::Pattern::Uniform;
  double load = 0;
};

Result<JobText> parse(std::string_view text) {
  const auto last = text.rfind(':');
  const auto middle = last == std::string_view::npos ? last : text.rfind(':', last - 1);
  if (middle == std::string_view::npos || last == 0)
    return fail(ErrorCode::Invalid, "HOSTS:PATTERN:LOAD is wanted, as node[1-8]:all-to-all:0.5");
  JobText job{text.substr(0, middle), {}, 0};
  const auto pattern = sim::pattern(text.substr(middle + 1, last - middle - 1));
  if (!pattern || *pattern == sim::Pattern::Flows)
    return fail(
        ErrorCode::Invalid,
        fmt::format("no pattern \"{}\": uniform, all-to-all, permutation, hotspot ... (docs/scenarios.md)",
                    printable(text.substr(middle + 1, last - middle - 1))));
  job.pattern = *pattern;
  const std::string_view load = text.substr(last + 1);
  const auto got = std::from_chars(load.data(), load.data() + load.size(), job.load);
  if (got.ec != std::errc{} || got.ptr != load.data() + load.size() || !(job.load > 0) || job.load > 1)
    return fail(ErrorCode::Invalid, fmt::format("a load of \"{}\": above 0, and 1 at most", printable(load)));
  return job;
}

std::string first_word(const std::string& description) {
  return description.substr(0, description.find(' '));
}

/// Ports of hosts that are called so.
Result<std::vector<PortIndex>> ports_of(const Fabric& fabric, std::string_view hosts) {
  const auto names = jobs::expand_hostlist(hosts, jobs::most_hosts);
  if (!names) return fail(names.error());
  std::vector<PortIndex> ports;
  for (const PortIndex port : sim::host_ports(fabric)) {
    const std::string name = first_word(fabric.node(fabric.port(port).node).description);
    const auto is_called = [&](const std::string& each) { return load::glob_matches(each, name); };
    if (std::ranges::any_of(*names, is_called)) ports.push_back(port);
  }
  if (ports.size() < 2)
    return fail(ErrorCode::NotFound, fmt::format("{} hosts are called {}: two at least are wanted",
                                                 ports.size(), printable(hosts)));
  return ports;
}

}  // namespace

Result<std::vector<sim::TrafficFlow>> job_flows(const Fabric& fabric, const std::string& text) {
  const auto job = parse(text);
  if (!job) return fail(job.error());
  const auto ports = ports_of(fabric, job->hosts);
  if (!ports) return fail(ports.error());
  sim::Phase phase;
  phase.pattern = job->pattern;
  Random random(phase.seed);
  std::vector<sim::TrafficFlow> flows;
  for (const sim::TrafficPair& pair : sim::make_pairs(phase, *ports, *ports, random)) {
    const Link& link = fabric.link(fabric.port(pair.from).link);
    const BitRate rate = data_rate(link.width, link.speed);
    flows.push_back(
        {.from = pair.from, .to = pair.to, .demand = BitRate{rate.value() * job->load * pair.share}});
  }
  return flows;
}

}  // namespace heddle::twin
