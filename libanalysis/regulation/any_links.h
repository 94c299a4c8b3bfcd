/// Which links carry any traffic that the hosts could offer at their rates (any_traffic.h): on an average of
/// the sample none is above u_on, and of no pattern noticeably less gets through than with all links on.
///
/// The general policy's search finds sets for gravity at these rates, with more and more room; from the first
/// that bears the sample in both LID planes, links are taken away as long as it does. Everything it is given
/// must outlive it. One thread.
#pragma once

#include <optional>
#include <vector>

#include "regulation/any_traffic.h"
#include "regulation/selector.h"

namespace heddle::regulation {

class AnyLinks {
 public:
  /// `rates`: what hosts send and receive. `all`: what a set is held against.
  AnyLinks(const SelectionProblem& problem, const SelectOptions& options, const MeasuredLoads& rates,
           const routing::LinkSet& all);

  /// Of `problem.available`, as few watts as are found. Nothing where the rules leave no choice.
  [[nodiscard]] std::optional<routing::LinkSet> choose();
  [[nodiscard]] bool bears(const routing::LinkSet& active) { return is_borne(loads_over(active)); }
  struct Outcome {
    std::vector<double> most;   ///< bit/s by hop: the most that a pattern of the sample brings
    std::vector<Holding> held;  ///< what stays on; see Selection
  };
  [[nodiscard]] Outcome outcome(const routing::LinkSet& active);

 private:
  /// Plane after plane.
  using Loads = std::vector<AnyTraffic::Loads>;
  [[nodiscard]] Loads loads_over(const routing::LinkSet& active);
  /// Of both planes, and by which pattern of the sample.
  [[nodiscard]] static AnyTraffic::Loads greater(Loads loads);
  [[nodiscard]] std::vector<Holding> held_over(const routing::LinkSet& active,
                                               const AnyTraffic::Loads& loads) const;
  [[nodiscard]] bool is_borne(const Loads& loads) const;
  [[nodiscard]] std::optional<routing::LinkSet> for_gravity(double room) const;
  void thin_out(routing::LinkSet& active);
  [[nodiscard]] std::vector<LinkIndex> least_loaded_first(const routing::LinkSet& active,
                                                          const std::vector<std::uint8_t>& stays);
  [[nodiscard]] unsigned trials() const;

  const SelectionProblem& problem_;
  const SelectOptions& options_;
  const Network& network_;
  MeasuredLoads rates_;
  AnyTraffic any_;
  std::vector<double> limit_;  ///< bit/s by hop that the mean of the sample may bring
  Loads with_all_;
};

}  // namespace heddle::regulation
