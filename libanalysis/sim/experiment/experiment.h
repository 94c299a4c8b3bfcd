/// An experiment: one TOML file that defines any number of runs of the packet simulator, seeds included.
///
/// Points are variants (what is compared: schedulers, switch models) x loads x seeds. The same file gives the
/// same results byte for byte, however many cores run its points. docs/packet-simulator.md describes the
/// keys.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "routing/engine.h"
#include "sim/packet/measure.h"
#include "sim/packet/packet_sim.h"

namespace heddle::packet {

/// A class of traffic whose rate may follow the load of the point.
struct ExperimentTraffic {
  TrafficClass traffic;
  std::string name;  ///< of the SL, for people
  double part = 0;   ///< of the load
  double rest = 0;   ///< of what the classes with a rate of their own leave of it; neither: traffic.rate
};

struct ExperimentVariant {
  std::string name;
  DataPlane plane;
  std::vector<std::string> closed{};  ///< links that are off from the beginning, as FabricNames finds them
  std::size_t closed_per_trunk = 0;   ///< and so many of every trunk, the last ones, but never all of it
};

/// A link that is closed or opened while the run goes on.
struct ExperimentLinkChange {
  Cycle at = 0;
  std::string link;  ///< as FabricNames finds it
  bool open = false;
  bool reroute = true;  ///< tables over the links that are open then
};

struct ExperimentTrace {
  std::string file;
  std::string mapping = "round-robin";  ///< or "block", or a file with an end port a line
  std::uint64_t start = 0;              ///< ticks of the trace
  std::uint8_t sl = 0;
  std::uint64_t local_ticks = 1;
};

struct Experiment {
  std::string title;
  std::string source;  ///< a generator's text or a topology file
  routing::Engine routing = routing::Engine::UpDown;
  std::string lfts;  ///< a file as opensm-lfts.dump: LIDs and tables, in place of the engine's
  Cycle warm_up = 10'000;
  Cycle measure = 50'000;
  std::vector<std::uint64_t> seeds;
  std::vector<double> loads;
  std::vector<ExperimentVariant> variants;
  std::vector<ExperimentTraffic> traffic;
  std::vector<ExperimentLinkChange> changes;
  std::vector<ExperimentTrace> traces;

  [[nodiscard]] std::size_t points() const { return variants.size() * loads.size() * seeds.size(); }
};

/// The text of a file that an experiment includes, by the name that stands there.
using IncludedText = std::function<Result<std::string>(const std::string& file)>;

/// `name` is what errors call the text. Without `included` nothing may be included. Errors: Invalid with
/// file, line and key; unknown keys are errors; those of `included`.
[[nodiscard]] Result<Experiment> read_experiment(std::string_view text, const std::string& name,
                                                 const IncludedText& included = {});

/// The fabric and its tables, shared by all points.
struct Site {
  std::shared_ptr<const Fabric> fabric;
  Programming programming;
};
/// Reads or generates the fabric, gives it LIDs where it has none, routes it. Errors: those of these steps.
[[nodiscard]] Result<Site> prepare(const Experiment& experiment);

struct Point {
  std::size_t variant = 0;
  std::size_t load = 0;
  std::size_t seed = 0;
  friend auto operator<=>(const Point&, const Point&) = default;
};

struct LinkUse {
  double mean = 0;  ///< flits per cycle of all cabled ports
  double max = 0;
  double stalled = 0;  ///< part of the time, mean of all cabled ports
};

struct PointResult {
  Point point;
  Cycle cycles = 0;
  std::uint32_t hosts = 0;
  Measurements measurements;
  Totals totals;
  LinkUse links;
  std::size_t in_flight = 0;
  std::string workload;  ///< JSON, empty without one
};

/// Traffic that depends on deliveries, such as traces. It listens to the run that it was made for.
class Workload {
 public:
  virtual ~Workload() = default;
  /// Sends what it knows to leave before cycle `until`.
  virtual void feed(Cycle until) = 0;
  /// JSON of what it came to, for the results.
  [[nodiscard]] virtual std::string report() const = 0;
};
using MakeWorkload = std::function<Result<std::unique_ptr<Workload>>(const Experiment&, PacketSim&)>;

/// Called with the number of points done, one call at a time.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

/// On `cores` cores, if the fabric has as many switches and there is no workload. Errors: Invalid for a plane
/// or traffic that the fabric does not bear.
[[nodiscard]] Result<PointResult> run_point(const Experiment& experiment, const Site& site,
                                            const Point& point, const MakeWorkload& make_workload = {},
                                            unsigned cores = 1);

/// In the order of results.
[[nodiscard]] std::vector<Point> all_points(const Experiment& experiment);

/// Takes a result, one call at a time. An error ends the campaign.
using PointDone = std::function<Result<void>(PointResult result)>;

/// Some points, on `threads` threads that end before it returns, in whatever order they end.
[[nodiscard]] Result<void> run_points(const Experiment& experiment, const Site& site,
                                      std::span<const Point> points, unsigned threads, const PointDone& done,
                                      const MakeWorkload& make_workload = {});

/// All points, in the order of points.
[[nodiscard]] Result<std::vector<PointResult>> run_all(const Experiment& experiment, const Site& site,
                                                       unsigned threads, const Progress& progress,
                                                       const MakeWorkload& make_workload = {});

}  // namespace heddle::packet
