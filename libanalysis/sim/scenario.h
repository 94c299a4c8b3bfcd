/// Traffic over time, as a file describes it (docs/scenarios.md): phases, each a pattern among chosen hosts
/// at a load, from a start for a length, perhaps again and again. Any number run at once. A description only:
/// it knows no fabric; ScenarioPlayer plays it on one.
///
/// Loads are shares of what the sender's link carries. Times are simulated, from the start of the simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"

namespace heddle::sim {

enum class Pattern : std::uint8_t {
  Uniform,        ///< each host to random others
  AllToAll,       ///< each host to those at the same distances in the order of hosts
  Permutation,    ///< random, one to one
  BitReversal,    ///< host number with its bits reversed; the largest power of two of hosts take part
  BitComplement,  ///< likewise, with its bits inverted
  Transpose,      ///< row and column of a square of hosts swapped; the largest square takes part
  Tornado,        ///< almost half way round
  Neighbour,      ///< the next host
  Hotspot,        ///< a share to a few targets, the rest uniform
  Incast,         ///< everything to a few targets
  Flows,          ///< as listed
};

[[nodiscard]] std::string_view to_string(Pattern pattern);
[[nodiscard]] std::optional<Pattern> pattern(std::string_view name);

/// Ports of hosts: the cabled ports of channel adapters that are no aggregation nodes, in the order of the
/// fabric. What is given narrows them, in this order.
struct HostSelection {
  std::vector<std::string> names;        ///< patterns over node descriptions, "n{1..64}" a range; none: all
  std::pair<double, double> part{0, 1};  ///< from where to where in what the names leave
  double fraction = 1;                   ///< of these, randomly chosen; at least one unless it is 0
};

/// What the load is multiplied by as time passes: straight lines between points (x: share of the period).
struct LoadCurve {
  std::vector<std::pair<double, double>> points;  ///< none: 1 throughout
  Picoseconds period{0};
  Picoseconds step{0};  ///< the load is constant for so long

  [[nodiscard]] double at(Picoseconds since_start) const;
};

struct ListedFlow {
  std::string from;  ///< patterns; the first host that matches
  std::string to;
  double load = 1;
};

inline constexpr Picoseconds forever = Picoseconds::max();

struct Phase {
  std::string name;
  std::string place;  ///< "file:line", for messages
  Pattern pattern = Pattern::Uniform;
  double load = 1;
  HostSelection hosts;
  std::optional<HostSelection> to;  ///< receivers, where they are not the senders
  Sl sl{0};
  Picoseconds start{0};
  Picoseconds length = forever;
  Picoseconds repeat{0};      ///< from one start to the next; 0: once
  std::uint32_t rounds = 0;   ///< how often it starts; 0: without end, if it repeats
  Picoseconds change{0};      ///< random destinations are chosen anew so often; 0: at each start only
  unsigned destinations = 8;  ///< of each sender at a time: Uniform, AllToAll, Hotspot
  unsigned targets = 1;       ///< Hotspot, Incast without `to`
  double hot = 0.5;           ///< Hotspot: share that goes to the targets
  std::uint64_t seed = 1;
  LoadCurve curve;
  std::vector<ListedFlow> flows;
};

struct Scenario {
  std::vector<Phase> phases;
};

/// `name` is what errors call the text. Errors: Invalid, with file, line, key and what is expected there.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view text, const std::string& name);
/// One phase: its keys without a [[phase]] above them. For traffic that is added by hand.
[[nodiscard]] Result<Phase> parse_phase(std::string_view text, const std::string& name);
/// A file's name, or "demo": traffic that changes over time, on any fabric.
[[nodiscard]] Result<Scenario> load_scenario(const std::string& source);
[[nodiscard]] std::string_view demo_scenario();

}  // namespace heddle::sim
