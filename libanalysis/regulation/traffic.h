/// What the traffic is, and what it would load other tables with. Units: bit/s of data.
///
/// Counters tell the load of each directed link. For tables that are not in force that is not enough: it
/// takes how much each host switch sends to each other. The estimate begins with gravity (what leaves s goes
/// to d in proportion to what enters d), or with an earlier one, and is then fitted to the loads of all links
/// between switches (traffic_fit.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "load/sample.h"
#include "regulation/network.h"
#include "routing/tables.h"

namespace heddle::regulation {

/// What a sweep measured, by the numbers of one Network.
struct MeasuredLoads {
  std::vector<double> hop;       ///< bit/s of each directed cable between switches; NaN where unknown
  std::vector<double> waiting;   ///< XmitWait's share of the time, likewise
  std::vector<double> sent;      ///< by target (SwitchGraph::targets): bit/s that a host sends
  std::vector<double> received;  ///< likewise
};

/// How much more or less all hosts send where that is other traffic, and not the same through other links: a
/// share of the sum, above what sums of single samples vary by.
inline constexpr double other_load = 0.1;

/// bit/s.
[[nodiscard]] double sent_by_all(const MeasuredLoads& loads);

/// `sample` may be of another snapshot: ports are found by GUID. What is not in it is unknown.
[[nodiscard]] MeasuredLoads measured_loads(const Network& network, const load::Sample& sample);

/// bit/s from each host switch to each other, by Network::host_position.
class TrafficMatrix {
 public:
  TrafficMatrix() = default;
  explicit TrafficMatrix(std::size_t host_switches)
      : size_{host_switches}, rates_(host_switches * host_switches, 0) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] double at(std::size_t from, std::size_t to) const { return rates_[from * size_ + to]; }
  void set(std::size_t from, std::size_t to, double rate) { rates_[from * size_ + to] = rate; }
  void add(std::size_t from, std::size_t to, double rate) { rates_[from * size_ + to] += rate; }
  [[nodiscard]] std::span<const double> from(std::size_t s) const {
    return std::span(rates_).subspan(s * size_, size_);
  }
  [[nodiscard]] double total() const;

 private:
  std::size_t size_ = 0;
  std::vector<double> rates_;
};

/// What goes to each host switch is divided between its LIDs in proportion to what their hosts receive, or
/// evenly where that is not known.
struct Traffic {
  TrafficMatrix matrix;
  std::vector<double> share;  ///< by target: of what enters its switch; sums to 1 over a host switch
};

/// Loads, and the tables under which they were measured.
struct Observation {
  const MeasuredLoads* loads = nullptr;
  const routing::ForwardingTables* tables = nullptr;
  unsigned plane = 0;  ///< whose LIDs carried the traffic
};

struct EstimateOptions {
  /// Passes over all links; 0: gravity alone. Fewer are taken on large fabrics, so that a plan stays within
  /// its time.
  unsigned passes = 200;
  unsigned plane = 0;  ///< whose LIDs carry the traffic
  /// An earlier estimate to begin from, under whatever tables.
  const TrafficMatrix* prior = nullptr;
  /// What was seen before under other tables. Left out where the hosts sent something else then, or where
  /// both cannot be met by one matrix.
  std::optional<Observation> before{};
};
/// Whether estimates are fitted to link loads: no on fabrics where that takes longer than a plan may.
[[nodiscard]] bool is_fitted(const Network& network);
/// `tables`: those in force while the loads were measured.
[[nodiscard]] Traffic estimate_traffic(const Network& network, const MeasuredLoads& loads,
                                       const routing::ForwardingTables& tables,
                                       const EstimateOptions& options = {});

/// By what hosts send and receive alone: each sends to all others in proportion to what they receive.
[[nodiscard]] Traffic gravity_traffic(const Network& network, const MeasuredLoads& loads);

/// Of known flows between hosts, numbered as routing::host_targets has them.
struct HostFlow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double rate = 0;
};
[[nodiscard]] Traffic traffic_of(const Network& network, std::span<const HostFlow> flows);

/// Load of each directed cable between switches if the traffic took the LIDs of `plane` through `tables`.
/// Exact where the sources of a host switch use its destinations' LIDs alike; always so with one host a
/// switch.
[[nodiscard]] std::vector<double> predicted_loads(const Network& network,
                                                  const routing::ForwardingTables& tables,
                                                  const Traffic& traffic, unsigned plane = 0);

}  // namespace heddle::regulation
