/// The General policy's search: few links that keep every rule and every load below its limit.
///
/// Three starts, the cheapest result of which is then thinned out, many links at a time while that goes well:
/// - from everything: every trunk keeps as many links as its load needs;
/// - from everything, level by level: every switch keeps as many ways up as its load needs, wherever they
/// lead;
/// - from a skeleton: one legal path from every switch to every manager and from every host switch up to one
///   anchor, then more ways up wherever the predicted load is too high, the same ones at every switch.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "regulation/cage_bonus.h"
#include "regulation/evaluation.h"

namespace heddle::regulation {

struct Found {
  routing::LinkSet active;
  std::vector<double> loads;  ///< bit/s by hop, by the evaluation's model
};

class GeneralSearch {
 public:
  GeneralSearch(const SelectionProblem& problem, const SelectOptions& options);

  /// Nothing where all available links together break a rule.
  [[nodiscard]] std::optional<Found> run();
  [[nodiscard]] Evaluation& evaluation() { return evaluation_; }
  /// bit/s by hop, of the fullest of its trunk, by the tables with all links on; empty where only even
  /// spreading was looked at.
  [[nodiscard]] std::span<const double> with_all() const { return with_all_; }

 private:
  [[nodiscard]] bool regulated(LinkIndex link) const {
    return problem_.exempt[link.raw()] == Exempt::No && problem_.available->contains(link);
  }
  [[nodiscard]] double watts(LinkIndex link) const { return watts_[link.raw()]; }
  [[nodiscard]] double watts(const routing::LinkSet& active) const;

  std::vector<Found> starts(const Found& everything);

  // general_search.cc: from everything
  std::optional<Found> thinned(const Found& everything);
  std::optional<Found> by_trunks(const Found& everything);
  std::optional<Found> by_trunks(const Found& everything, const MeasuredLoads& measured,
                                 const std::vector<double>& present);
  std::optional<Found> settled(const Found& everything, routing::LinkSet active);

  // general_thinning.cc: from any set, fewer links
  void thin_out(Found& found);
  [[nodiscard]] unsigned thinning_trials() const;
  [[nodiscard]] std::vector<double> let_be(std::vector<double> loads) const;
  [[nodiscard]] std::optional<std::vector<double>> loads_by_tables(const routing::LinkSet& active);
  [[nodiscard]] bool no_fuller(const std::vector<double>& loads, const std::vector<double>& before) const;
  [[nodiscard]] std::vector<LinkIndex> least_loaded_first(const Found& found,
                                                          const std::vector<std::uint8_t>& stays) const;
  void put_last(std::span<LinkIndex> links, const std::vector<std::uint8_t>& crowded) const;
  [[nodiscard]] std::vector<std::uint8_t> switches_at(const std::vector<double>& loads,
                                                      const std::vector<double>& before) const;

  // general_widening.cc: where tables are less even than even spreading
  [[nodiscard]] Found cheapest_borne(const Found& everything, std::vector<Found> sets);
  std::optional<Found> cheapest_settled(std::vector<Found> sets);
  bool settle(Found& found);
  [[nodiscard]] double excess(const std::vector<double>& loads) const;
  bool widen(routing::LinkSet& active, const std::vector<double>& loads) const;
  [[nodiscard]] bool carries(routing::SwitchIndex s, const routing::LinkSet& active,
                             const std::vector<double>& loads) const;
  bool widen_rank(routing::LinkSet& active, const std::vector<double>& loads, std::uint16_t rank, double by,
                  std::vector<std::size_t> on) const;
  bool add_way_up(routing::LinkSet& active, routing::SwitchIndex s) const;

  // general_descent.cc: from everything, level by level
  std::optional<Found> descended(const Found& everything);
  [[nodiscard]] routing::LinkSet trimmed(const Found& found, std::uint16_t level,
                                         const std::vector<double>& room) const;
  std::optional<std::vector<double>> joined(routing::LinkSet& active);
  void make_room(const routing::LinkSet& most, const routing::LinkSet& active,
                 const std::vector<double>& loads, std::uint16_t level, std::vector<double>& room) const;
  bool unload(routing::LinkSet& active, const std::vector<double>& loads) const;

  // general_growth.cc: from a skeleton
  std::optional<Found> grown();
  [[nodiscard]] routing::LinkSet skeleton() const;
  void connect(routing::LinkSet& active, routing::SwitchIndex from, routing::SwitchIndex to) const;
  void keep_in_sight(routing::LinkSet& active) const;
  std::optional<routing::SwitchIndex> connect_mended(routing::LinkSet& active, std::uint32_t number) const;
  [[nodiscard]] std::optional<routing::SwitchIndex> anchor() const;
  bool relieve(routing::LinkSet& active, const std::vector<double>& loads) const;
  bool add_ways_up(routing::LinkSet& active, routing::SwitchIndex s, const std::vector<double>& loads) const;

  const SelectionProblem& problem_;
  const SelectOptions& options_;
  const Network& network_;
  Evaluation evaluation_;
  CageBonus cages_;
  routing::LegalPaths paths_;          ///< over all available links
  std::vector<std::uint8_t> leading_;  ///< by mend, over all available links
  std::vector<double> watts_;
  std::vector<double> with_all_;
  std::vector<std::uint16_t> ranks_;       ///< by switch
  std::vector<std::uint32_t> preference_;  ///< by switch: the smaller the sooner taken as a way up
  bool by_levels_ = false;                 ///< relieve the lowest rank first: what it adds helps those above
};

}  // namespace heddle::regulation
