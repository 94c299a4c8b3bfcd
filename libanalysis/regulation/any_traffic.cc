#include "regulation/any_traffic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "routing/quality.h"

namespace heddle::regulation {

using routing::SwitchIndex;
using routing::Target;

namespace {

constexpr unsigned permutations = 8;
constexpr unsigned random_shifts = 4;
constexpr unsigned spread_patterns = 2;
constexpr unsigned hot_patterns = 3;
/// Destinations of a host at a time where it has many.
constexpr unsigned destinations = 4;
/// Hosts that are hot at a time, and what of everybody's traffic goes to them.
constexpr std::size_t hot_hosts = 8;
constexpr double hot_share = 0.05;
/// Longer than any path: tables that are being tried out are whole, and lead nobody in circles.
constexpr unsigned most_hops = 64;

double or_nothing(double value) { return std::isnan(value) ? 0 : value; }

std::vector<std::uint32_t> in_order(std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<std::uint32_t> rotated(std::vector<std::uint32_t> order, std::size_t by) {
  if (!order.empty())
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(by % order.size()), order.end());
  return order;
}

/// Those whose number with its bits reversed is smaller first.
std::vector<std::uint32_t> bits_reversed(std::size_t count) {
  const auto bits = static_cast<unsigned>(std::bit_width(count));
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < std::size_t{1} << bits; ++i) {
    std::size_t number = 0;
    for (unsigned bit = 0; bit < bits; ++bit) number |= (i >> bit & 1U) << (bits - 1 - bit);
    if (number < count) order.push_back(static_cast<std::uint32_t>(number));
  }
  return order;
}

}  // namespace

AnyTraffic::AnyTraffic(const Network& network, const MeasuredLoads& loads)
    : network_{network}, hosts_{routing::host_targets(network.graph())} {
  const auto& graph = network.graph();
  double all_sent = 0;
  double all_received = 0;
  for (const std::uint32_t target : hosts_) {
    sent_.push_back(or_nothing(loads.sent[target]));
    received_.push_back(or_nothing(loads.received[target]));
    all_sent += sent_.back();
    all_received += received_.back();
  }
  // What is lost on the way is received by somebody once there is room for it.
  for (double& rate : received_)
    rate = all_received > 0 ? rate * all_sent / all_received : all_sent / static_cast<double>(hosts_.size());
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    for (const routing::Hop& hop : graph.hops(SwitchIndex{i}))
      ports_ = std::max<std::size_t>(ports_, hop.out.raw() + 1U);
  }
  steps_.resize(graph.size() * ports_);
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    auto at = static_cast<std::uint32_t>(graph.first_hop(SwitchIndex{i}));
    for (const routing::Hop& hop : graph.hops(SwitchIndex{i})) {
      steps_[i * ports_ + hop.out.raw()] = {at++, hop.peer};
      capacity_.push_back(network.capacity(hop.link));
    }
  }
  if (all_sent > 0) add_patterns();
  sort_by_destination();
}

void AnyTraffic::add_patterns() {
  for (unsigned i = 0; i < permutations; ++i) add_permutations(i, 1, 1, pattern("random permutations"));
  const std::vector<std::uint32_t> order = in_order(hosts_.size());
  std::vector<std::size_t> distances{1, hosts_.size() / 2, (hosts_.size() + 1) / 2 - 1};
  Random random{permutations};
  for (unsigned i = 0; i < random_shifts; ++i) distances.push_back(1 + random.below(hosts_.size()));
  for (const std::size_t distance : distances)
    add(order, rotated(order, distance), 1, pattern("shifts of all hosts by a distance"));
  add(order, {order.rbegin(), order.rend()}, 1, pattern("hosts in reversed order"));
  add(order, bits_reversed(hosts_.size()), 1, pattern("hosts with the bits of their numbers reversed"));
  for (unsigned i = 0; i < spread_patterns; ++i)
    add_permutations(permutations + i, destinations, 1, pattern("many destinations at once"));
  for (unsigned i = 0; i < hot_patterns; ++i) add_hot_spots(i, pattern("hot spots"));
}

std::vector<HostFlow>& AnyTraffic::pattern(std::string_view kind) {
  kinds_.push_back(kind);
  return patterns_.emplace_back();
}

/// The n-th of the senders to the n-th of the receivers, if all rates are alike; else as much as each has
/// left, in these orders.
void AnyTraffic::add(const std::vector<std::uint32_t>& senders, const std::vector<std::uint32_t>& receivers,
                     double part, std::vector<HostFlow>& flows) const {
  constexpr double rest = 1e-6;  // of a host's rate: rounding
  std::size_t to = 0;
  double room = receivers.empty() ? 0 : received_[receivers.front()];
  for (const std::uint32_t from : senders) {
    double left = sent_[from];
    while (left > rest * sent_[from] && to < receivers.size()) {
      const double rate = std::min(left, room);
      if (rate > 0 && from != receivers[to]) flows.push_back({from, receivers[to], part * rate});
      left -= rate;
      room -= rate;
      if (room > rest * received_[receivers[to]]) continue;
      if (++to < receivers.size()) room = received_[receivers[to]];
    }
  }
}

void AnyTraffic::add_permutations(std::uint64_t seed, unsigned count, double part,
                                  std::vector<HostFlow>& flows) const {
  Random random{seed};
  for (unsigned i = 0; i < count; ++i) {
    std::vector<std::uint32_t> senders = in_order(hosts_.size());
    std::vector<std::uint32_t> receivers = senders;
    random.shuffle(senders);
    random.shuffle(receivers);
    add(senders, receivers, part / count, flows);
  }
}

void AnyTraffic::add_hot_spots(std::uint64_t seed, std::vector<HostFlow>& flows) const {
  Random random{permutations + spread_patterns + seed};
  std::vector<std::uint32_t> targets = in_order(hosts_.size());
  random.shuffle(targets);
  targets.resize(std::min(targets.size(), hot_hosts));
  for (std::uint32_t from = 0; from < hosts_.size(); ++from) {
    const std::uint32_t to = targets[from % targets.size()];
    if (from != to && sent_[from] > 0) flows.push_back({from, to, hot_share * sent_[from]});
  }
  add_permutations(random(), destinations, 1 - hot_share, flows);
}

/// Entries for one LID are close to those for the next, and far from those of the next switch.
void AnyTraffic::sort_by_destination() {
  first_flow_.assign(hosts_.size() + 1, 0);
  for (const auto& flows : patterns_) {
    for (const HostFlow& flow : flows) ++first_flow_[flow.to + 1];
  }
  std::partial_sum(first_flow_.begin(), first_flow_.end(), first_flow_.begin());
  flows_.resize(first_flow_.back());
  std::vector<std::size_t> next(first_flow_.begin(), first_flow_.end() - 1);
  const auto targets = network_.graph().targets();
  for (std::uint32_t pattern = 0; pattern < patterns_.size(); ++pattern) {
    for (const HostFlow& flow : patterns_[pattern])
      flows_[next[flow.to]++] = {targets[hosts_[flow.from]].at, pattern, flow.rate};
  }
}

Lid AnyTraffic::lid(std::uint32_t host, unsigned plane) const {
  const Target& target = network_.graph().targets()[hosts_[host]];
  return Lid{static_cast<std::uint16_t>(target.base.raw() + plane % target.lid_count())};
}

void AnyTraffic::follow(std::uint32_t host, const routing::ForwardingTables& tables, unsigned plane,
                        double times, ByPattern& loads) const {
  const SwitchIndex end = network_.graph().targets()[hosts_[host]].at;
  const Lid to = lid(host, plane);
  for (std::size_t i = first_flow_[host]; i < first_flow_[host + 1]; ++i) {
    SwitchIndex at = flows_[i].from;
    for (unsigned hops = 0; at != end && hops < most_hops; ++hops) {
      const std::size_t port = tables.port(at, to).raw();
      const Step step = port < ports_ ? steps_[at.raw() * ports_ + port] : Step{};
      if (step.hop == none) break;
      loads[step.hop * patterns_.size() + flows_[i].pattern] += times * flows_[i].rate;
      at = step.to;
    }
  }
}

AnyTraffic::ByPattern AnyTraffic::by_pattern(const routing::ForwardingTables& tables, unsigned plane) const {
  ByPattern loads(capacity_.size() * patterns_.size(), 0);
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) follow(host, tables, plane, 1, loads);
  return loads;
}

AnyTraffic::Loads AnyTraffic::sum_up(const ByPattern& loads) const {
  const double sent = std::accumulate(sent_.begin(), sent_.end(), 0.0);
  const std::size_t count = patterns_.size();
  Loads result{std::vector<double>(capacity_.size(), 0), {}, {}, std::vector<double>(count, 0)};
  result.most = result.mean;
  result.most_by.assign(capacity_.size(), 0);
  for (std::size_t h = 0; h < capacity_.size(); ++h) {
    for (std::uint32_t pattern = 0; pattern < count; ++pattern) {
      const double load = loads[h * count + pattern];
      if (load <= 0) continue;
      result.mean[h] += load / static_cast<double>(count);
      if (load > result.most[h]) {
        result.most[h] = load;
        result.most_by[h] = pattern;
      }
      result.shed[pattern] += std::max(0.0, load - capacity_[h]) / sent;
    }
  }
  return result;
}

AnyTraffic::Loads AnyTraffic::loads(const routing::ForwardingTables& tables, unsigned plane) const {
  return sum_up(by_pattern(tables, plane));
}

}  // namespace heddle::regulation
