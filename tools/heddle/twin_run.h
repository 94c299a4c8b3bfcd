/// A twin as it is and as it would be: its tables, what hosts lose, what its traffic comes to.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/twin_source.h"
#include "qos/programming.h"
#include "regulation/selector.h"
#include "routing/outage.h"
#include "sim/scenario.h"
#include "twin/flows.h"
#include "twin/predict.h"
#include "twin/router.h"

namespace heddle::cli {

/// Whose packets there are.
struct TwinTraffic {
  enum class Source : unsigned char { None, Given, Estimated };
  Source source = Source::None;
  sim::Scenario scenario;               ///< given
  Picoseconds at{0};                    ///< into it
  std::vector<sim::TrafficFlow> flows;  ///< estimated; of jobs that would come
};

/// At one moment.
struct TwinState {
  std::shared_ptr<const Fabric> fabric;
  routing::SwitchGraph graph;
  routing::LinkSet active;
  routing::ForwardingTables tables;
  routing::Outage outage;
  bool circles = false;  ///< the proof finds packets or buffers that run or wait in a circle, on one VL
  std::optional<twin::Prediction> traffic;
  std::optional<double> watts;
};

/// Makes states of one source.
class TwinRun {
 public:
  /// `engine`: in place of whoever has made the tables in force. Errors: where nobody can route the fabric.
  static Result<TwinRun> make(TwinSource source, std::optional<routing::Engine> engine,
                              std::vector<NodeGuid> roots);

  [[nodiscard]] const TwinSource& source() const { return source_; }
  [[nodiscard]] const twin::Router& router() const { return router_; }
  /// Without given ones: by the loads that were measured, if any were. Errors: of regulation::Network.
  Result<void> estimate_traffic();
  void give_traffic(sim::Scenario scenario, Picoseconds at);
  [[nodiscard]] TwinTraffic::Source traffic_source() const { return traffic_.source; }
  /// Traffic, and what is measured, as of another one.
  void take_over_from(const TwinRun& other) {
    traffic_ = other.traffic_;
    samples_ = other.samples_;
  }
  /// From now on there is a job more.
  void add_flows(const std::vector<sim::TrafficFlow>& flows);
  void use_qos(const qos::Programming* qos) { qos_ = qos; }
  void measure_bisection(unsigned samples) { samples_ = samples; }

  /// What is left of the links that carry traffic at present.
  [[nodiscard]] routing::LinkSet left(const routing::Failure& failure) const;
  /// By the tables in force, or what comes nearest.
  [[nodiscard]] Result<TwinState> now() const;
  /// Over these links; `anew`: by tables that are made for them.
  enum class Tables : unsigned char { InForce, Anew };
  [[nodiscard]] Result<TwinState> over(const routing::LinkSet& active, Tables tables) const;
  /// With 2^lmc LIDs for each host, all tables made anew.
  [[nodiscard]] Result<TwinState> with_lmc(unsigned lmc, const routing::LinkSet& active,
                                           std::optional<routing::Engine> engine) const;
  /// The links that the policy would leave on. Errors: of regulation.
  [[nodiscard]] Result<routing::LinkSet> regulated(regulation::SelectPolicy policy,
                                                   const TwinState& now) const;

 private:
  TwinRun(TwinSource source, twin::Router router) : source_{std::move(source)}, router_{std::move(router)} {}
  [[nodiscard]] Result<TwinState> look(std::shared_ptr<const Fabric> fabric, const routing::LinkSet& active,
                                       routing::ForwardingTables tables, unsigned plane) const;

  TwinSource source_;
  twin::Router router_;
  TwinTraffic traffic_;
  const qos::Programming* qos_ = nullptr;
  unsigned samples_ = 0;
};

}  // namespace heddle::cli
