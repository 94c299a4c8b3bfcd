/// Plays a scenario on a fabric: turns phases into flows of a traffic plane as simulated time passes. Also
/// what an operator adds and stops by hand while it runs (`heddle sim traffic`).
///
/// The same scenario on the same fabric gives the same flows at the same times, whatever is read in between.
/// One thread. Give it to TrafficPlane::set_schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "fabric/fabric.h"
#include "sim/flow/flow_schedule.h"
#include "sim/scenario.h"
#include "sim/scenario_patterns.h"
#include "sim/traffic_plane.h"

namespace heddle::sim {

using PhaseId = Id<struct PhaseTag, std::uint32_t>;

enum class PhaseState : std::uint8_t { Waiting, Running, Over };

[[nodiscard]] std::string_view to_string(PhaseState state);

struct PhaseStatus {
  PhaseId id;
  std::string name;
  Pattern pattern = Pattern::Uniform;
  PhaseState state = PhaseState::Waiting;
  std::size_t hosts = 0;  ///< senders
  std::size_t flows = 0;
  BitRate wanted;
  BitRate delivered;
};

class ScenarioPlayer final : public FlowSchedule {
 public:
  /// A phase may not have more flows at a time.
  static constexpr std::size_t most_flows = 2'000'000;

  explicit ScenarioPlayer(const Fabric& fabric) : fabric_{fabric} {}

  /// Adds all phases; their times count from `from`. Errors: those of select_hosts, and too many flows, with
  /// the place in the file; nothing is added then.
  Result<void> add(const Scenario& scenario, Picoseconds from = Picoseconds{0});
  Result<PhaseId> add(const Phase& phase, Picoseconds from);
  /// Takes a phase and its flows away. Errors: NotFound.
  Result<void> remove(PhaseId id, TrafficPlane& plane, Picoseconds now);
  /// Phases that are not removed, in the order in which they were added.
  [[nodiscard]] std::vector<PhaseStatus> status(TrafficPlane& plane, Picoseconds now) const;

  [[nodiscard]] std::optional<Picoseconds> next() const override;
  void run(TrafficPlane& plane, Picoseconds at) override;
  void postpone(Picoseconds by) override;

 private:
  enum class Step : std::uint8_t { End, Change, Load, Start };  // in this order where times are equal
  struct Event {
    Picoseconds at;
    Step step;
    std::uint32_t phase;
    std::uint32_t round;
    friend constexpr auto operator<=>(const Event&, const Event&) = default;
  };
  struct Sender {
    TrafficId flow;
    BitRate most;  ///< demand at load 1
  };
  struct Playing {
    Phase phase;
    Picoseconds from{0};
    std::vector<PortIndex> senders;
    std::vector<PortIndex> receivers;
    std::vector<TrafficPair> listed;
    std::vector<Sender> flows;
    Picoseconds started{0};
    std::uint32_t round = 0;
    std::uint64_t changes = 0;
    PhaseState state = PhaseState::Waiting;
    bool removed = false;
  };

  [[nodiscard]] Result<Playing> prepare(const Phase& phase, Picoseconds from) const;
  [[nodiscard]] Result<void> find_listed(Playing& playing) const;
  PhaseId enlist(Playing playing);
  void schedule(std::uint32_t phase, Step step, Picoseconds at);
  void start(std::uint32_t index, TrafficPlane& plane, Picoseconds due, Picoseconds at);
  void end(std::uint32_t index, TrafficPlane& plane, Picoseconds at);
  void send(Playing& playing, TrafficPlane& plane, Picoseconds at);
  void silence(Playing& playing, TrafficPlane& plane, Picoseconds at);
  [[nodiscard]] static double load_at(const Playing& playing, Picoseconds at);

  const Fabric& fabric_;
  std::vector<Playing> phases_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace heddle::sim
