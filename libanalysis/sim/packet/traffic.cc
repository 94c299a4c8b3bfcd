#include "sim/packet/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace heddle::packet {
namespace {

struct PatternName {
  std::string_view name;
  Pattern pattern;
};
constexpr std::array pattern_names{
    PatternName{"uniform", Pattern::Uniform},
    PatternName{"bit-reversal", Pattern::BitReversal},
    PatternName{"bit-complement", Pattern::BitComplement},
    PatternName{"transpose", Pattern::Transpose},
    PatternName{"tornado", Pattern::Tornado},
    PatternName{"neighbour", Pattern::Neighbour},
    PatternName{"hotspot", Pattern::Hotspot},
    PatternName{"permutation", Pattern::Permutation},
    PatternName{"all-to-all", Pattern::AllToAll},
    PatternName{"incast", Pattern::Incast},
};

struct ProcessName {
  std::string_view name;
  Process process;
};
constexpr std::array process_names{ProcessName{"bernoulli", Process::Bernoulli},
                                   ProcessName{"cbr", Process::Cbr}, ProcessName{"burst", Process::Burst},
                                   ProcessName{"backlog", Process::Backlog}};

constexpr int most_connections = 1024;  // of a host
constexpr std::uint32_t silent = 0xffffffffU;

std::uint32_t reversed(std::uint32_t value, unsigned bits) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < bits; ++i) result |= (value >> i & 1U) << (bits - 1 - i);
  return result;
}

/// Where a pattern on the bits of a host's number leads; `silent` beyond the largest power of two.
std::uint32_t by_bits(Pattern pattern, std::uint32_t host, std::uint32_t hosts) {
  const auto bits = static_cast<unsigned>(std::bit_width(hosts) - 1);
  const std::uint32_t size = 1U << bits;
  if (host >= size) return silent;
  if (pattern == Pattern::BitReversal) return reversed(host, bits);
  if (pattern == Pattern::BitComplement) return ~host & (size - 1);
  const unsigned low = bits / 2;  // Transpose
  return (host >> low | host << (bits - low)) & (size - 1);
}

std::uint32_t tornado(std::uint32_t host, std::uint32_t hosts, const std::vector<std::uint32_t>& dimensions) {
  if (dimensions.empty()) return (host + (hosts - 1) / 2) % hosts;
  const std::uint32_t switches =
      std::accumulate(dimensions.begin(), dimensions.end(), 1U, std::multiplies<>{});
  const std::uint32_t each = hosts / switches;
  std::uint32_t rest = host / each;
  std::uint32_t place = 0;
  std::uint32_t stride = 1;
  for (auto size = dimensions.rbegin(); size != dimensions.rend(); ++size) {
    place += (rest % *size + (*size - 1) / 2) % *size * stride;
    rest /= *size;
    stride *= *size;
  }
  return place * each + host % each;
}

/// A random cycle through all hosts (Sattolo, 1986): nobody sends to itself.
std::vector<std::uint32_t> random_cycle(std::uint32_t hosts, Random& random) {
  std::vector<std::uint32_t> next(hosts);
  std::iota(next.begin(), next.end(), 0U);
  for (std::uint32_t i = hosts; i-- > 1;) std::swap(next[i], next[random.below(i)]);
  return next;
}

}  // namespace

std::optional<Pattern> pattern(std::string_view name) {
  for (const auto& row : pattern_names) {
    if (row.name == name) return row.pattern;
  }
  return std::nullopt;
}

std::optional<Process> process(std::string_view name) {
  for (const auto& row : process_names) {
    if (row.name == name) return row.process;
  }
  return std::nullopt;
}

std::string_view to_string(Pattern value) {
  return std::ranges::find(pattern_names, value, &PatternName::pattern)->name;
}
std::string_view to_string(Process value) {
  return std::ranges::find(process_names, value, &ProcessName::process)->name;
}

Result<void> check(const TrafficClass& traffic, std::uint32_t hosts) {
  const auto wrong = [](std::string text) { return fail(ErrorCode::Invalid, std::move(text)); };
  if (hosts < 2) return wrong("traffic needs at least two hosts");
  if (traffic.sl > 31) return wrong(fmt::format("sl = {}: must be 0 to 31", traffic.sl));
  if (traffic.message_flits < 1) return wrong("message: must be at least one flit");
  if (!(traffic.rate >= 0 && traffic.rate <= 1)) return wrong("rate: must be 0 to 1 flits/cycle/host");
  if (traffic.burst < 1) return wrong("burst: must be at least one message");
  if (!(traffic.hot_part >= 0 && traffic.hot_part <= 1)) return wrong("hot_part: must be 0 to 1");
  const bool needs_hot = traffic.pattern == Pattern::Hotspot || traffic.pattern == Pattern::Incast;
  if (needs_hot && traffic.hot.empty()) return wrong("hot: this pattern needs at least one hot host");
  for (const std::uint32_t host : traffic.hot) {
    if (host >= hosts) return wrong(fmt::format("hot: there is no host {}, the fabric has {}", host, hosts));
  }
  if (traffic.connections < 0 || traffic.connections > most_connections) {
    return wrong(fmt::format("connections = {}: must be 0 to {}", traffic.connections, most_connections));
  }
  if (traffic.balanced && (traffic.connections == 0 || traffic.pattern != Pattern::Uniform))
    return wrong("balanced: only uniform connections can be");
  std::uint64_t switches = 1;
  for (const std::uint32_t size : traffic.dimensions) {
    if (size == 0) return wrong("dimensions: must be 1 or more each");
    switches = std::min<std::uint64_t>(switches * size, std::uint64_t{hosts} + 1);
  }
  if (!traffic.dimensions.empty() && hosts % switches != 0) {
    return wrong(fmt::format("dimensions: {} hosts do not divide among the switches that they make", hosts));
  }
  return {};
}

TrafficSource::TrafficSource(TrafficClass traffic, std::uint32_t hosts, std::uint64_t seed)
    : traffic_{std::move(traffic)}, hosts_{hosts} {
  Random seeds{seed};
  states_.reserve(hosts);
  for (std::uint32_t host = 0; host < hosts; ++host) states_.push_back({Random{seeds()}, silent, 0, 0, 0});
  const int messages = traffic_.process == Process::Burst ? traffic_.burst : 1;
  per_cycle_ = traffic_.rate / (static_cast<double>(traffic_.message_flits) * messages);
  log_none_ = std::log1p(-per_cycle_);
  if (traffic_.pattern == Pattern::Permutation) permutation_ = random_cycle(hosts, seeds);
  const auto each = static_cast<std::uint32_t>(traffic_.connections);
  connections_.assign(std::size_t{hosts} * each, silent);
  for (std::uint32_t c = 0; traffic_.balanced && c < each; ++c) {
    const std::vector<std::uint32_t> targets = random_cycle(hosts, seeds);
    for (std::uint32_t host = 0; host < hosts; ++host) connections_[host * each + c] = targets[host];
  }
}

Cycle TrafficSource::gap(Random& random) const {
  if (per_cycle_ >= 1) return 1;
  const double cycles = std::floor(std::log1p(-random.unit()) / log_none_);
  return cycles < 1e15 ? 1 + static_cast<Cycle>(cycles) : never;
}

std::uint32_t TrafficSource::other(std::uint32_t host, State& state) const {
  const auto drawn = static_cast<std::uint32_t>(state.random.below(hosts_ - 1));
  return drawn < host ? drawn : drawn + 1;
}

std::uint32_t TrafficSource::draw(std::uint32_t host, State& state) {
  switch (traffic_.pattern) {
    case Pattern::Uniform:
      return other(host, state);
    case Pattern::BitReversal:
    case Pattern::BitComplement:
    case Pattern::Transpose:
      return by_bits(traffic_.pattern, host, hosts_);
    case Pattern::Tornado:
      return tornado(host, hosts_, traffic_.dimensions);
    case Pattern::Neighbour:
      return (host + 1) % hosts_;
    case Pattern::Hotspot:
      if (state.random.chance(traffic_.hot_part)) {
        return traffic_.hot[state.random.below(traffic_.hot.size())];
      }
      return other(host, state);
    case Pattern::Permutation:
      return permutation_[host];
    case Pattern::AllToAll:
      state.target = state.target == silent ? (host + 1) % hosts_ : (state.target + 1) % hosts_;
      if (state.target == host) state.target = (host + 1) % hosts_;
      return state.target;
    case Pattern::Incast:
      return traffic_.hot.front();
  }
  return silent;
}

/// Of the next message or burst: the connections take turns.
std::uint32_t TrafficSource::destination(std::uint32_t host, State& state) {
  if (traffic_.connections == 0) return draw(host, state);
  const auto each = static_cast<std::uint32_t>(traffic_.connections);
  std::uint32_t& target = connections_[std::size_t{host} * each + state.turn];
  state.turn = state.turn + 1 == each ? 0 : state.turn + 1;
  if (target == silent) target = draw(host, state);
  return target;
}

Cycle TrafficSource::first(std::uint32_t host) {
  State& state = states_[host];
  const bool backlog = traffic_.process == Process::Backlog;
  if (per_cycle_ <= 0 && !backlog) return never;
  const bool fixed = traffic_.pattern != Pattern::Uniform && traffic_.pattern != Pattern::Hotspot &&
                     traffic_.pattern != Pattern::AllToAll;
  if (fixed) {
    const std::uint32_t target = draw(host, state);
    if (target == silent || target == host) return never;
  }
  if (backlog) {
    state.left = traffic_.burst;
    return traffic_.start;
  }
  if (traffic_.process == Process::Cbr) {
    state.due = static_cast<double>(traffic_.start) + state.random.unit() / per_cycle_;
    return static_cast<Cycle>(state.due);
  }
  const Cycle wait = gap(state.random);
  return wait == never ? never : traffic_.start + wait - 1;
}

TrafficSource::Made TrafficSource::make(std::uint32_t host, Cycle now) {
  State& state = states_[host];
  Made made;
  if (traffic_.process == Process::Burst) {
    if (state.left == 0) {
      state.left = traffic_.burst;
      state.target = destination(host, state);
    }
    made.target = state.target;
    --state.left;
    // The messages of a burst follow one another at once.
    made.next = state.left > 0 ? now : gap(state.random);
    if (state.left == 0 && made.next != never) made.next += now;
  } else {
    made.target = destination(host, state);
    if (traffic_.process == Process::Backlog) {
      if (state.left > 0) --state.left;
      made.next = state.left > 0 ? now : never;  // the others as these leave the queue
    } else if (traffic_.process == Process::Cbr) {
      state.due += 1 / per_cycle_;
      made.next = std::max(now + 1, static_cast<Cycle>(state.due));
    } else {
      made.next = gap(state.random);
      if (made.next != never) made.next += now;
    }
  }
  made.salt = static_cast<std::uint32_t>(state.random());
  // A hot host does not send to itself.
  if (made.target == host) made.target = other(host, state);
  if (made.next >= traffic_.stop) made.next = never;
  return made;
}

}  // namespace heddle::packet
