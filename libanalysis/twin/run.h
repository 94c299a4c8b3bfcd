/// A twin as it is and as it would be: its tables, what hosts lose, what its traffic comes to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "qos/programming.h"
#include "regulation/selector.h"
#include "routing/outage.h"
#include "sim/scenario.h"
#include "twin/flows.h"
#include "twin/predict.h"
#include "twin/router.h"
#include "twin/source.h"

namespace heddle::twin {

/// Whose packets there are.
struct TrafficUsed {
  enum class Source : unsigned char { None, Given, Estimated };
  Source source = Source::None;
  std::vector<sim::TrafficFlow> flows;  ///< with those of jobs that would come
  double uneven = 0;                    ///< of what was estimated: twin::unevenness()
};

/// At one moment.
struct State {
  std::shared_ptr<const Fabric> fabric;
  routing::SwitchGraph graph;
  routing::LinkSet active;
  routing::ForwardingTables tables;
  routing::Outage outage;
  bool circles = false;  ///< the proof finds packets or buffers that run or wait in a circle, on one VL
  std::optional<Prediction> traffic;
  std::optional<double> watts;
};

/// Makes states of one source.
class Run {
 public:
  /// `engine`: in place of whoever has made the tables in force. Errors: where nobody can route the fabric.
  static Result<Run> make(Source source, std::optional<routing::Engine> engine, std::vector<NodeGuid> roots);

  [[nodiscard]] const Source& source() const { return source_; }
  [[nodiscard]] const Router& router() const { return router_; }
  /// Without given ones: by the loads that were measured, if any were. Errors: of regulation::Network.
  Result<void> estimate_traffic();
  /// Flows were estimated, and the loads look like those of few: single links cannot be predicted.
  [[nodiscard]] bool few_flows() const {
    return traffic_.source == TrafficUsed::Source::Estimated && traffic_.uneven > most_uneven;
  }
  /// What the scenario sends at that time. Errors: its own.
  Result<void> give_traffic(const sim::Scenario& scenario, Picoseconds at);
  [[nodiscard]] TrafficUsed::Source traffic_source() const { return traffic_.source; }
  /// Traffic, and what is measured, as of another one.
  void take_over_from(const Run& other) {
    traffic_ = other.traffic_;
    samples_ = other.samples_;
  }
  /// From now on there is a job more.
  void add_flows(const std::vector<sim::TrafficFlow>& flows);
  void use_qos(const qos::Programming* qos) { qos_ = qos; }
  /// See enough_samples().
  void measure_bisection(unsigned samples) { samples_ = samples; }

  /// What is left of the links that carry traffic at present.
  [[nodiscard]] routing::LinkSet left(const routing::Failure& failure) const;
  /// By the tables in force, or what comes nearest.
  [[nodiscard]] Result<State> now() const;
  /// Over these links; `anew`: by tables that are made for them.
  enum class Tables : unsigned char { InForce, Anew };
  [[nodiscard]] Result<State> over(const routing::LinkSet& active, Tables tables) const;
  /// With 2^lmc LIDs for each host, all tables made anew.
  [[nodiscard]] Result<State> with_lmc(unsigned lmc, const routing::LinkSet& active,
                                       std::optional<routing::Engine> engine) const;
  /// The links that the policy would leave on. Errors: of regulation.
  [[nodiscard]] Result<routing::LinkSet> regulated(regulation::SelectPolicy policy, const State& now) const;

 private:
  Run(Source source, Router router) : source_{std::move(source)}, router_{std::move(router)} {}
  [[nodiscard]] Result<State> look(std::shared_ptr<const Fabric> fabric, const routing::LinkSet& active,
                                   routing::ForwardingTables tables, unsigned plane) const;

  Source source_;
  Router router_;
  TrafficUsed traffic_;
  const qos::Programming* qos_ = nullptr;
  unsigned samples_ = 0;
};

/// Random pairings of all hosts: as many as make 100,000 pairs, 50 at most; the mean of these is good to a
/// hundredth.
[[nodiscard]] unsigned enough_samples(const Fabric& fabric);

}  // namespace heddle::twin
