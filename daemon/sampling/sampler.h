/// Reads the counters of the whole fabric again and again, through the transaction engine, and publishes each
/// sweep as one Sample. Read-only but for one thing: ports that have nothing but 32-bit counters have these
/// set to zero before they are full (facts/monitoring.md 1).
///
/// A state machine: time comes in by on_timer() and with the completions. One thread, that of the engine. A
/// sweep costs no allocation per port once the agents are known.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "load/accumulator.h"
#include "load/history.h"
#include "load/sample.h"
#include "sampling/pma_agents.h"
#include "transport/transactions.h"

namespace heddle::sampling {

enum class ResetPolicy : std::uint8_t {
  Never,        ///< 32-bit counters saturate, and are reported as saturated
  NarrowPorts,  ///< on ports that have no 64-bit ones
};

struct SamplerOptions {
  /// From the beginning of a sweep to that of the next. Zero: only begin_sweep() begins one.
  FabricClock::duration interval = std::chrono::seconds{1};
  ResetPolicy reset = ResetPolicy::NarrowPorts;
  std::size_t history = 300;  ///< sweeps that are kept per link and direction
  load::TickTable ticks{};
  std::vector<load::NamedSet> sets{};
};

struct SamplerStatistics {
  std::uint64_t sweeps = 0;
  std::uint64_t late_sweeps = 0;  ///< intervals at whose beginning no sweep began
  std::uint64_t readings = 0;
  std::uint64_t failures = 0;   ///< ports without an answer, summed over the sweeps
  std::uint64_t saturated = 0;  ///< readings with a saturated data or packet counter
  std::uint64_t gaps = 0;       ///< readings whose growth could not be told
  std::uint64_t resets = 0;
  std::uint64_t reset_failures = 0;
  std::uint64_t polls = 0;  ///< rounds between sweeps over ports that would not last until the next
};

class Sampler final : private transport::TransactionClient {
 public:
  using Publish = std::function<void(std::shared_ptr<const load::Sample>)>;

  /// The engine must outlive the sampler, or be stopped before. `publish` is called at the end of each sweep,
  /// from within a completion or begin_sweep().
  Sampler(transport::TransactionEngine& engine, SamplerOptions options, Publish publish);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler() override;

  /// From the next sweep on. Totals, history and what is known of the agents go on by PortRef.
  void use(std::shared_ptr<const Fabric> fabric);
  /// Named sets for the fabric from the next use() on.
  void set_sets(std::vector<load::NamedSet> sets) { options_.sets = std::move(sets); }
  void set_interval(FabricClock::duration interval, Instant now);

  /// Errors: Conflict while a sweep is under way, NotFound before use().
  Result<void> begin_sweep(Instant now);
  /// Begins what is due.
  void on_timer(Instant now);
  /// When on_timer() has something to do. Changes when a sweep begins or ends.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  [[nodiscard]] bool sweeping() const { return sweeping_; }
  /// The last complete sweep; null before the first.
  [[nodiscard]] const std::shared_ptr<const load::Sample>& latest() const { return latest_; }
  [[nodiscard]] const load::History& history() const { return history_; }
  [[nodiscard]] const SamplerStatistics& statistics() const { return statistics_; }
  /// Of the sweep under way, or the last one; null before the first.
  [[nodiscard]] const std::shared_ptr<const Fabric>& fabric() const { return fabric_; }
  [[nodiscard]] const PmaAgents& agents() const { return agents_; }
  /// Of fabric(); null before the first sweep.
  [[nodiscard]] const std::shared_ptr<const load::LocalitySets>& sets() const { return sets_; }
  /// What the operator should know about the named sets of this fabric.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  enum class Kind : std::uint8_t { Capabilities, Extended, Basic, Poll, Reset };
  struct Context;

  /// Of a port: what is on its way.
  struct Traffic {
    std::uint8_t reads = 0;  ///< of the sweep
    std::uint8_t polls = 0;
    bool resetting = false;
    bool waiting = false;  ///< for its agent's ClassPortInfo, and nothing else
  };

  void on_completion(const transport::Completion& completion) override;
  void adopt();
  void feed(Instant now);
  void read(PortIndex port, Instant now);
  void wait_for_agent(AgentIndex agent, PortIndex port, Instant now);
  bool submit(Kind kind, std::uint32_t index, load::CounterMask counters, const mad::Packet& packet,
              const PmaAgent& agent, Instant now);
  bool ask_capabilities(AgentIndex agent, Instant now);
  bool ask_counters(Kind kind, PortIndex port, Instant now);

  void capabilities_came(AgentIndex agent, const transport::Completion& completion);
  bool follow_redirection(PmaAgent& agent, const mad::ClassPortInfo& info) const;
  void release(AgentIndex agent);
  void counters_came(Kind kind, PortIndex port, const transport::Completion& completion);
  void reading_came(PortIndex port, const load::Reading& reading);
  void refused(Kind kind, PortIndex port, const transport::Completion& completion);
  void reset_if_needed(PortIndex port, const load::Reading& reading);
  void reset_came(PortIndex port, load::CounterMask counters, const transport::Completion& completion);
  void fail(PortIndex port, load::SampleFailure::Reason reason);

  void finish_if_done(Instant now);
  void plan_polls(Instant now);
  void poll(Instant now);

  transport::TransactionEngine& engine_;
  SamplerOptions options_;
  Publish publish_;
  load::Accumulator accumulator_;
  load::History history_;
  std::shared_ptr<const load::LocalitySets> sets_;
  SamplerStatistics statistics_;
  std::shared_ptr<const load::Sample> latest_;

  std::shared_ptr<const Fabric> wanted_;  ///< for the next sweep, if it differs
  std::shared_ptr<const Fabric> fabric_;
  PmaAgents agents_;
  std::vector<Traffic> traffic_;  ///< by PortIndex
  std::uint16_t generation_ = 0;  ///< of fabric_; completions of an older one are dropped

  // The sweep under way.
  bool sweeping_ = false;
  Instant began_;
  std::size_t next_port_ = 0;        ///< position in agents_.ports()
  std::vector<PortIndex> released_;  ///< their agent is known by this time
  std::size_t outstanding_ = 0;
  std::size_t waiting_ = 0;

  std::optional<Instant> next_sweep_;
  std::vector<PortIndex> poll_ports_;
  FabricClock::duration poll_period_{};
  std::optional<Instant> next_poll_;

  mad::Packet extended_;  ///< requests but for address and port
  mad::Packet basic_;
};

}  // namespace heddle::sampling
