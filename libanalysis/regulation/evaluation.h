/// What a set of links would come to: whether the rules hold, and the load of every cable. Counts its calls,
/// because they are what a search spends.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "regulation/selector.h"
#include "regulation/table_walk.h"
#include "routing/legal_paths.h"

namespace heddle::regulation {

/// What paths that are mends may bring to a link that is above u_on with all links on, as they follow what
/// other trunks keep: so many times what it carries then.
inline constexpr double most_by_mends = 1.1;

class Evaluation {
 public:
  enum class Model : std::uint8_t {
    Tables,  ///< every LID through the tables that would be in force
    Spread,  ///< even spreading: for fabrics where following every LID for every trial takes too long
  };

  Evaluation(const SelectionProblem& problem, const SelectOptions& options);

  [[nodiscard]] Model model() const { return model_; }
  [[nodiscard]] unsigned spent() const { return spent_; }

  /// bit/s by hop, the greater of those in both planes; or nothing where a rule is broken.
  [[nodiscard]] std::optional<std::vector<double>> loads(const routing::LinkSet& active);
  /// By the tables, whatever the model.
  [[nodiscard]] std::vector<double> table_loads(const routing::LinkSet& active);

  /// Of the plane in use alone, where `loads` may be of both.
  [[nodiscard]] std::vector<double> own_loads(const routing::LinkSet& active,
                                              const std::vector<double>& loads);

  /// The most that a hop may carry: u_on of its capacity, less the margin; or, where all links together would
  /// carry more, that.
  [[nodiscard]] double limit(std::uint32_t hop) const { return limit_[hop]; }
  [[nodiscard]] bool fits(std::uint32_t hop, double load) const { return load <= limit_[hop] * (1 + 1e-9); }
  /// No active link above its limit.
  [[nodiscard]] bool fits(const std::vector<double>& loads) const;
  /// Nor above u_on, the margin apart: for loads that are not estimated by half.
  [[nodiscard]] bool bears(const std::vector<double>& loads) const;
  [[nodiscard]] bool bears(std::uint32_t hop, const std::vector<double>& loads) const {
    return loads[hop] <= ceiling_[hop] * (1 + 1e-9);
  }
  /// Nor above what mends may bring.
  [[nodiscard]] bool bears_mends(std::uint32_t hop, const std::vector<double>& loads) const {
    return loads[hop] <= (ceiling_[hop] > u_on_[hop] ? most_by_mends : 1 + 1e-9) * ceiling_[hop];
  }
  /// Above u_on with all links on.
  [[nodiscard]] bool is_full_with_all(std::uint32_t hop) const { return ceiling_[hop] > u_on_[hop]; }
  /// What a search may end with: by even spreading a set is looked for below the limits, and then held
  /// against the tables, which only have to stay below u_on.
  [[nodiscard]] bool suffices(std::uint32_t hop, const std::vector<double>& loads) const {
    return model_ == Model::Spread ? bears(hop, loads) : fits(hop, loads[hop]);
  }
  /// Limits from here on also allow what these loads are, those of all links together.
  void allow(const std::vector<double>& loads);
  /// Limits from here on are this part of what they were, but no less than `least`.
  void tighten(double part, const std::vector<double>& least);
  [[nodiscard]] const std::vector<double>& limits() const { return limit_; }
  void restore_limits(std::vector<double> limits) { limit_ = std::move(limits); }
  /// limit() without the margin, of all hops: nothing that is allowed carries more.
  [[nodiscard]] std::span<const double> ceilings() const { return ceiling_; }

 private:
  [[nodiscard]] std::vector<double> walk(const routing::LinkSet& active, unsigned plane,
                                         std::optional<TableWalk>& walk);

  const SelectionProblem& problem_;
  const SelectOptions& options_;
  Model model_ = Model::Tables;
  unsigned spent_ = 0;
  std::vector<double> limit_;
  std::vector<double> ceiling_;
  std::vector<double> u_on_;  ///< of its capacity, by hop
  std::optional<unsigned> next_plane_;
  std::optional<TableWalk> walk_;
  std::optional<TableWalk> next_walk_;
};

}  // namespace heddle::regulation
