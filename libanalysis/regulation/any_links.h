/// Which links carry any traffic that the hosts could offer at their rates (any_traffic.h): on an average of
/// the sample none is above u_on, and of no pattern noticeably less gets through than with all links on.
///
/// The general policy's search finds sets for gravity at these rates, with more and more room; from the first
/// that bears the sample in both LID planes, links are taken away as long as it does. Everything it is given
/// must outlive it. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "regulation/any_traffic.h"
#include "regulation/selector.h"
#include "regulation/tried_loads.h"

namespace heddle::regulation {

class AnyLinks {
 public:
  /// `rates`: what hosts send and receive. `all`: what a set is held against.
  AnyLinks(const SelectionProblem& problem, const SelectOptions& options, const MeasuredLoads& rates,
           const routing::LinkSet& all);

  /// Of `problem.available`, as few watts as are found. Nothing where the rules leave no choice.
  [[nodiscard]] std::optional<routing::LinkSet> choose();
  /// A part of choose(), of which each takes about as long as a choice for one traffic. False: it has ended.
  bool step();
  /// What choose() returns. Precondition: step() has returned false.
  [[nodiscard]] const std::optional<routing::LinkSet>& chosen() const { return best_; }
  [[nodiscard]] bool bears(const routing::LinkSet& active) { return is_borne(loads_over(active)); }
  /// How many sets parts of a choice may be tried by: about a second's worth.
  [[nodiscard]] unsigned trials_of_parts() const;
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
  [[nodiscard]] unsigned middle() const { return (low_ + high_) / 2; }
  void judge();
  void begin_thinning();
  void thin_out();
  void try_without_some();
  /// Of what is on and not known to have to stay, by what it carries.
  [[nodiscard]] std::vector<LinkIndex> least_loaded_first(const Loads& loads) const;
  [[nodiscard]] double entries_followed() const;

  const SelectionProblem& problem_;
  const SelectOptions& options_;
  const Network& network_;
  MeasuredLoads rates_;
  AnyTraffic any_;
  std::vector<TriedLoads> tried_;  ///< plane after plane
  std::vector<double> limit_;      ///< bit/s by hop that the mean of the sample may bring
  Loads with_all_;

  // The search. More room keeps more links, about so: by halves.
  std::optional<routing::LinkSet> best_;
  std::optional<routing::LinkSet> candidate_;  ///< found with the room of middle(), and not judged yet
  unsigned low_ = 0;                           ///< steps of room that have not been found to be too few
  unsigned high_ = 0;                          ///< that are enough, or as many as are tried
  enum class At : std::uint8_t { Begin, Room, Thinning, End };
  At at_ = At::Begin;
  /// What may be taken out of best_ yet.
  struct Thinning {
    std::vector<std::uint8_t> stays;  ///< by link: without it the sample is not borne
    std::vector<LinkIndex> candidates;
    std::size_t at_a_time = 0;
    unsigned left = 0;    ///< trials
    unsigned failed = 0;  ///< one after the other, of a link by itself
  };
  Thinning thinning_;
};

}  // namespace heddle::regulation
