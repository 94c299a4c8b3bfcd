/// Synthetic traffic: who sends how much to whom, and when.
///
/// Every (class, host) has a random stream of its own, so that what a host generates depends on the seed
/// alone, not on what the network does. Units: flits, cycles, flits per cycle and host.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "sim/packet/huge.h"
#include "sim/packet/wheel.h"

namespace heddle::packet {

enum class Pattern : std::uint8_t {
  Uniform,        ///< any other host
  BitReversal,    ///< number's bits backwards; hosts beyond the largest power of two stay silent
  BitComplement,  ///< likewise with bits inverted
  Transpose,      ///< upper and lower half of the number's bits exchanged
  Tornado,        ///< half way round, less one: (N - 1) / 2 on, in every dimension if dimensions are given
  Neighbour,      ///< the next host
  Hotspot,        ///< with a probability one of the hot hosts, else uniform
  Permutation,    ///< a random permutation without fixed points, drawn once per run
  AllToAll,       ///< all other hosts in turn
  Incast,         ///< everyone to the first hot host
};

enum class Process : std::uint8_t {
  Bernoulli,  ///< in each cycle a message begins with the same probability
  Cbr,        ///< at equal intervals, beginning at a random point of the first
  Burst,      ///< Bernoulli bursts of messages to one destination
  Backlog,    ///< always as many messages in the source queue as a burst has: more than the network takes
};

[[nodiscard]] std::optional<Pattern> pattern(std::string_view name);
[[nodiscard]] std::optional<Process> process(std::string_view name);
[[nodiscard]] std::string_view to_string(Pattern pattern);
[[nodiscard]] std::string_view to_string(Process process);

struct TrafficClass {
  std::uint8_t sl = 0;
  Pattern pattern = Pattern::Uniform;
  Process process = Process::Bernoulli;
  std::int32_t message_flits = 1;
  double rate = 0;                   ///< flits per cycle and host
  int burst = 4;                     ///< messages of a burst, or of the backlog
  int connections = 0;               ///< destinations that every host keeps and sends to in turn; 0: draws
  bool balanced = false;             ///< Connections: as many end at every host as begin there
  double hot_part = 0;               ///< Hotspot: probability of a hot host
  std::vector<std::uint32_t> hot{};  ///< hosts
  std::vector<std::uint32_t>
      dimensions{};  ///< Tornado: sizes, the last running fastest over switches of equally many hosts
  Cycle start = 0;
  Cycle stop = never;
};

/// Errors: Invalid with the key's name for what makes no sense on so many hosts.
[[nodiscard]] Result<void> check(const TrafficClass& traffic, std::uint32_t hosts);

/// What one class does on all hosts.
class TrafficSource {
 public:
  /// Precondition: check() passed.
  TrafficSource(TrafficClass traffic, std::uint32_t hosts, std::uint64_t seed);

  [[nodiscard]] const TrafficClass& traffic() const { return traffic_; }
  /// When the host generates first; `never` if it does not take part.
  [[nodiscard]] Cycle first(std::uint32_t host);

  struct Made {
    std::uint32_t target = 0;
    std::uint32_t salt = 0;
    Cycle next = never;  ///< when this host generates again
  };
  /// That the host generates soon.
  void expect(std::uint32_t host) const { prefetch(states_[host]); }
  /// The message that the host generates at `now`.
  [[nodiscard]] Made make(std::uint32_t host, Cycle now);

 private:
  struct State {
    Random random;
    std::uint32_t target;  ///< of a burst, or the last of AllToAll
    std::uint32_t turn;    ///< of the connections
    int left = 0;          ///< messages of the burst
    double due = 0;        ///< CBR: the exact time of the next message
  };

  std::uint32_t draw(std::uint32_t host, State& state);
  std::uint32_t destination(std::uint32_t host, State& state);
  [[nodiscard]] std::uint32_t other(std::uint32_t host, State& state) const;
  Cycle gap(Random& random) const;

  TrafficClass traffic_;
  std::uint32_t hosts_;
  double per_cycle_;  ///< probability of a message, or of a burst
  double log_none_;   ///< log(1 - per_cycle_)
  Array<State> states_;
  std::vector<std::uint32_t> permutation_;
  std::vector<std::uint32_t> connections_;  ///< by host x connections; what is not drawn yet is silent
};

}  // namespace heddle::packet
