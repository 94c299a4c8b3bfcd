/// What the runs of an experiment came to, as text: JSON and CSV of every run, CSV of means with 95 %
/// confidence intervals over seeds, and a gnuplot script that draws throughput, share and latency per SL over
/// load.
#pragma once

#include <span>
#include <string>

#include "sim/experiment/experiment.h"

namespace heddle::packet {

struct Estimate {
  double mean = 0;
  double half_width = 0;  ///< of the 95 % confidence interval (Student's t); 0 for one value
};
[[nodiscard]] Estimate estimate(std::span<const double> values);

/// One object: experiment, its points, per SL and VL what was measured.
[[nodiscard]] std::string results_json(const Experiment& experiment, std::span<const PointResult> results);
/// A line per point and SL.
[[nodiscard]] std::string runs_csv(const Experiment& experiment, std::span<const PointResult> results);
/// A line per variant, load and SL.
[[nodiscard]] std::string summary_csv(const Experiment& experiment, std::span<const PointResult> results);
/// A line per run in which nothing arrived while it was measured, though packets are under way: a deadlock,
/// or too short.
[[nodiscard]] std::string standstills(const Experiment& experiment, std::span<const PointResult> results);
/// Draws summary.csv into SVG files beside it; run in its directory.
[[nodiscard]] std::string gnuplot_script(const Experiment& experiment);

}  // namespace heddle::packet
