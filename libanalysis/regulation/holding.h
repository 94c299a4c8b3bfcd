/// Which rules keep on what stays on: what an operator would change to save more.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "regulation/evaluation.h"
#include "regulation/selector.h"

namespace heddle::regulation {

/// The ways up of a switch that are on, and how full the fullest of them is by two reckonings.
struct WaysUp {
  /// What a reckoning says of one that is fullest by it.
  struct Fullest {
    double share = 0;  ///< of what its hop may carry
    std::uint32_t hop = 0;
  };
  std::size_t links = 0;
  Fullest first;
  Fullest second;

  /// If one of them were off, and the others took what it carries.
  [[nodiscard]] double without_one(const Fullest& fullest) const {
    return fullest.share * static_cast<double>(links) / static_cast<double>(links - 1);
  }
};

/// Each link counts for the first rule that keeps it: an exemption; the last way up of a switch, or down to
/// one; what `rule` says of the ways up of its switch. `first`, `second`: share of what it may carry, by hop;
/// `loads`: bit/s by hop that are reckoned with. Most watts first; of equals the smaller name.
[[nodiscard]] std::vector<Holding> held(const SelectionProblem& problem, const routing::LinkSet& active,
                                        const std::vector<double>& first, const std::vector<double>& second,
                                        const std::vector<double>& loads,
                                        const std::function<std::string(const WaysUp&)>& rule);

/// By the load that the others of its switch would have without it, in the plane in use (`own`: its loads) or
/// in the next one only.
[[nodiscard]] std::vector<Holding> held_by(const SelectionProblem& problem, const SelectOptions& options,
                                           const Evaluation& evaluation, const routing::LinkSet& active,
                                           const std::vector<double>& loads, const std::vector<double>& own);

/// What is said where nothing else keeps a link.
inline constexpr std::string_view nothing_found = "no set without them was found that keeps every rule";

/// The first of them as a sentence, with its share of the watts; empty where there is none.
[[nodiscard]] std::string most_is_held(const std::vector<Holding>& held);

/// The trunks that have a link above u_on also with all links on, and which has the fullest: turning links
/// off is not why they are, and they are let carry that. Ends in "; ", or is empty where there are none.
[[nodiscard]] std::string full_with_all(const SelectionProblem& problem, const SelectOptions& options,
                                        const Selection& selection);

}  // namespace heddle::regulation
