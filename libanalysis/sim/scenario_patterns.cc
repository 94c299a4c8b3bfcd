#include "sim/scenario_patterns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace heddle::sim {
namespace {

using Pairs = std::vector<TrafficPair>;
using Ports = std::span<const PortIndex>;

/// Pairs host i with host to(i), for the first `count` hosts.
template <class To>
Pairs by_number(Ports hosts, std::size_t count, To to) {
  Pairs pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t other = to(i);
    if (other != i) pairs.push_back({hosts[i], hosts[other], 1});
  }
  return pairs;
}

std::size_t reversed(std::size_t number, unsigned bits) {
  std::size_t result = 0;
  for (unsigned bit = 0; bit < bits; ++bit) result |= (number >> bit & 1U) << (bits - 1 - bit);
  return result;
}

/// `count` different numbers below `bound`, but not `but`; all there are if there are no more.
void choose(std::size_t bound, std::size_t but, std::size_t count, Random& random,
            std::vector<std::size_t>& chosen) {
  chosen.clear();
  const std::size_t available = bound - (but < bound ? 1 : 0);
  if (available <= count) {
    for (std::size_t i = 0; i < bound; ++i) {
      if (i != but) chosen.push_back(i);
    }
    return;
  }
  // Floyd's sampling over the numbers without `but`.
  for (std::size_t last = available - count; last < available; ++last) {
    std::size_t pick = random.below(last + 1);
    if (std::find(chosen.begin(), chosen.end(), pick) != chosen.end()) pick = last;
    chosen.push_back(pick);
  }
  for (std::size_t& pick : chosen) pick += pick >= but ? 1 : 0;
}

void add_uniform(Ports receivers, PortIndex from, double share, std::size_t count, Random& random,
                 Pairs& pairs) {
  const auto place = std::lower_bound(receivers.begin(), receivers.end(), from);
  const bool is_receiver = place != receivers.end() && *place == from;
  const auto self = is_receiver ? static_cast<std::size_t>(place - receivers.begin()) : receivers.size();
  std::vector<std::size_t> chosen;
  choose(receivers.size(), self, count, random, chosen);
  for (const std::size_t i : chosen)
    pairs.push_back({from, receivers[i], share / static_cast<double>(chosen.size())});
}

Pairs uniform(const Phase& phase, Ports senders, Ports receivers, Random& random) {
  Pairs pairs;
  for (const PortIndex from : senders) add_uniform(receivers, from, 1, phase.destinations, random, pairs);
  return pairs;
}

Pairs all_to_all(const Phase& phase, Ports hosts, Random& random) {
  std::vector<std::size_t> distances;
  choose(hosts.size(), 0, phase.destinations, random, distances);
  Pairs pairs;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (const std::size_t distance : distances) {
      pairs.push_back(
          {hosts[i], hosts[(i + distance) % hosts.size()], 1.0 / static_cast<double>(distances.size())});
    }
  }
  return pairs;
}

/// One cycle through all hosts (Sattolo, 1986), so that nobody sends to itself.
Pairs permutation(Ports hosts, Random& random) {
  std::vector<std::size_t> to(hosts.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = i;
  for (std::size_t i = to.size(); i > 1; --i) std::swap(to[i - 1], to[random.below(i - 1)]);
  return by_number(hosts, hosts.size(), [&](std::size_t i) { return to[i]; });
}

/// The receivers that most goes to: all of `to` if the phase has it.
std::vector<PortIndex> choose_targets(const Phase& phase, Ports receivers, Random& random) {
  std::vector<PortIndex> targets(receivers.begin(), receivers.end());
  if (!phase.to) {
    random.shuffle(targets);
    targets.resize(std::min<std::size_t>(phase.targets, targets.size()));
    std::sort(targets.begin(), targets.end());
  }
  return targets;
}

Pairs to_targets(const Phase& phase, Ports senders, Ports everybody, Ports receivers, double hot,
                 Random& random) {
  const std::vector<PortIndex> targets = choose_targets(phase, receivers, random);
  Pairs pairs;
  for (std::size_t i = 0; i < senders.size(); ++i) {
    const bool is_target = std::binary_search(targets.begin(), targets.end(), senders[i]);
    if (!is_target && hot > 0) pairs.push_back({senders[i], targets[i % targets.size()], hot});
    const double rest = is_target && hot < 1 ? 1 : 1 - hot;
    if (rest > 0 && hot < 1) add_uniform(everybody, senders[i], rest, phase.destinations, random, pairs);
  }
  return pairs;
}

}  // namespace

Pairs make_pairs(const Phase& phase, Ports senders, Ports receivers, Random& random) {
  const std::size_t count = senders.size();
  if (count == 0 || receivers.empty()) return {};
  const auto bits = static_cast<unsigned>(std::bit_width(count) - 1);
  const std::size_t power = std::size_t{1} << bits;
  switch (phase.pattern) {
    case Pattern::Uniform:
      return uniform(phase, senders, receivers, random);
    case Pattern::AllToAll:
      return all_to_all(phase, senders, random);
    case Pattern::Permutation:
      return permutation(senders, random);
    case Pattern::BitReversal:
      return by_number(senders, power, [&](std::size_t i) { return reversed(i, bits); });
    case Pattern::BitComplement:
      return by_number(senders, power, [&](std::size_t i) { return power - 1 - i; });
    case Pattern::Transpose: {
      auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
      while (side * side > count) --side;
      return by_number(senders, side * side, [&](std::size_t i) { return i % side * side + i / side; });
    }
    case Pattern::Tornado:
      return by_number(senders, count, [&](std::size_t i) { return (i + (count + 1) / 2 - 1) % count; });
    case Pattern::Neighbour:
      return by_number(senders, count, [&](std::size_t i) { return (i + 1) % count; });
    case Pattern::Hotspot:
      return to_targets(phase, senders, senders, receivers, phase.hot, random);
    case Pattern::Incast:
      return to_targets(phase, senders, senders, receivers, 1, random);
    case Pattern::Flows:
      return {};
  }
  return {};
}

}  // namespace heddle::sim
