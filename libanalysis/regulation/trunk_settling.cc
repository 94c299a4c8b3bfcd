#include "regulation/trunk_settling.h"

#include <algorithm>

namespace heddle::regulation {
namespace {

/// Of each kind: a trunk that has more links may end up with one too many.
constexpr unsigned most_rounds = 16;

using Loads = std::vector<double>;

class Settling {
 public:
  Settling(const SelectionProblem& problem, Evaluation& evaluation, TrunkChoice& choice)
      : problem_{problem}, network_{*problem.network}, evaluation_{evaluation}, choice_{choice} {}

  Loads run() {
    loads_ = loads();
    put_back();
    if (evaluation_.model() == Evaluation::Model::Tables) {
      try_others();
      put_back();  // what several trunks do at once may come to more than what each does
    }
    mend_decisions();
    return std::move(loads_);
  }

 private:
  [[nodiscard]] Loads loads() { return evaluation_.table_loads(choice_.active); }

  [[nodiscard]] bool crowded(const Trunk& trunk, const Loads& loads) const {
    return std::any_of(trunk.links.begin(), trunk.links.end(), [&](LinkIndex link) {
      const std::uint32_t up = network_.up_hop(link);
      const std::uint32_t down = network_.down_hop(link);
      return choice_.active.contains(link) &&
             (!evaluation_.fits(up, loads[up]) || !evaluation_.fits(down, loads[down]));
    });
  }

  void put_back() {
    for (unsigned round = 0; round < most_rounds; ++round) {
      bool changed = false;
      for (const Trunk& trunk : network_.trunks()) {
        if (!crowded(trunk, loads_)) continue;
        const auto back = std::find_if(trunk.links.begin(), trunk.links.end(), [&](LinkIndex link) {
          return problem_.current->contains(link) && !choice_.active.contains(link);
        });
        if (back == trunk.links.end()) continue;
        choice_.active.insert(*back);
        changed = true;
      }
      if (!changed && !shifted()) return;
      if (!changed) put_back_everywhere();
      loads_ = loads();
    }
    if (!shifted()) return;
    for (const Trunk& trunk : network_.trunks()) {
      for (const LinkIndex link : trunk.links) {
        if (problem_.current->contains(link)) choice_.active.insert(link);
      }
    }
    loads_ = loads();
  }

  /// Whether a trunk has more than it may, and nothing of its own to put back: paths that are mends follow
  /// what other trunks keep, and bring it more.
  [[nodiscard]] bool shifted() const {
    return std::ranges::any_of(network_.trunks(), [&](const Trunk& trunk) {
      return std::ranges::any_of(trunk.links, [&](LinkIndex link) {
        return choice_.active.contains(link) && (!evaluation_.bears_mends(network_.up_hop(link), loads_) ||
                                                 !evaluation_.bears_mends(network_.down_hop(link), loads_));
      });
    });
  }

  void put_back_everywhere() {
    for (const Trunk& trunk : network_.trunks()) {
      const auto back = std::ranges::find_if(trunk.links, [&](LinkIndex link) {
        return problem_.current->contains(link) && !choice_.active.contains(link);
      });
      if (back != trunk.links.end()) choice_.active.insert(*back);
    }
  }

  /// What one trunk keeps does not change what others carry, as long as it keeps any: so all trunks try one
  /// of their links at once.
  void try_others() {
    std::vector<std::size_t> returned(network_.trunks().size(), 0);
    for (const LinkDecision& decision : choice_.decisions) {
      if (decision.turn == Turn::Off && choice_.active.contains(decision.link))
        ++returned[network_.trunk_of(decision.link)];
    }
    struct Trial {
      const Trunk* trunk;
      std::size_t spare;             ///< links that the rule would do without
      std::vector<LinkIndex> links;  ///< to try, the next one last
    };
    std::vector<Trial> trials;
    for (std::size_t t = 0; t < returned.size(); ++t) {
      const Trunk& trunk = network_.trunks()[t];
      if (returned[t] == 0 || crowded(trunk, loads_)) continue;
      Trial trial{&trunk, returned[t], {}};
      for (const LinkIndex link : trunk.links) {
        if (choice_.active.contains(link) && problem_.exempt[link.raw()] == Exempt::No)
          trial.links.push_back(link);
      }
      trials.push_back(std::move(trial));
    }
    for (unsigned round = 0; round < most_rounds; ++round) {
      std::vector<std::pair<Trial*, LinkIndex>> tried;
      for (Trial& trial : trials) {
        if (trial.spare == 0 || trial.links.empty()) continue;
        tried.emplace_back(&trial, trial.links.back());
        choice_.active.erase(trial.links.back());
        trial.links.pop_back();
      }
      if (tried.empty()) return;
      const Loads fewer = loads();
      for (const auto& [trial, link] : tried) {
        if (crowded(*trial->trunk, fewer)) {
          choice_.active.insert(link);
        } else {
          --trial->spare;
        }
      }
      loads_ = loads();
    }
  }

  /// A link that leaves in place of another takes over its reason: the trunk's figures.
  void mend_decisions() {
    std::vector<std::vector<LinkIndex>> leaving(network_.trunks().size());
    for (std::size_t t = 0; t < leaving.size(); ++t) {
      for (const LinkIndex link : network_.trunks()[t].links) {
        if (problem_.current->contains(link) && !choice_.active.contains(link)) leaving[t].push_back(link);
      }
    }
    std::erase_if(choice_.decisions, [&](LinkDecision& decision) {
      if (decision.turn != Turn::Off) return false;
      auto& links = leaving[network_.trunk_of(decision.link)];
      if (links.empty()) return true;
      decision.link = links.back();
      links.pop_back();
      return false;
    });
  }

  const SelectionProblem& problem_;
  const Network& network_;
  Evaluation& evaluation_;
  TrunkChoice& choice_;
  Loads loads_;
};

}  // namespace

std::vector<double> settle_trunks(const SelectionProblem& problem, Evaluation& evaluation,
                                  TrunkChoice& choice) {
  return Settling{problem, evaluation, choice}.run();
}

}  // namespace heddle::regulation
