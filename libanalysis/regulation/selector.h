/// Which links should be active for a given traffic. Two policies (facts/regulation.md 1 and 2):
///
/// - Trunk: each trunk by itself keeps as many of its links as its load needs: one less below u_off, more
///   above u_on, never none.
/// - General: the links whose power is least such that every rule of the spec holds and the predicted load of
///   every active link stays below u_on. Finding the least is NP-hard (it contains the Steiner tree problem);
///   the method is a skeleton that connects everything, growth where the predicted load is too high, and
///   removal of what turns out not to be needed. With every result comes a lower bound on the power of any
///   allowed set (`least_watts`): docs/regulation.md proves it, tests compare both with the optimum.
///
/// Deterministic: the same problem gives the same selection. No clock; `effort` bounds the work.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "power/power_model.h"
#include "regulation/link_policy.h"
#include "regulation/network.h"
#include "regulation/traffic.h"
#include "regulation/wake_times.h"
#include "routing/link_set.h"

namespace heddle::regulation {

enum class SelectPolicy : std::uint8_t { Trunk, General };
[[nodiscard]] std::string_view to_string(SelectPolicy policy);
[[nodiscard]] std::optional<SelectPolicy> select_policy_from(std::string_view text);

/// Shares of a link's capacity.
struct Thresholds {
  Ratio u_off{0.30};
  Ratio u_on{0.70};
};
/// u_off n / (n - 1) < u_on for every n that a trunk may have: the worst is n = 2. Errors: Invalid, with what
/// would do.
[[nodiscard]] Result<void> check(const Thresholds& thresholds);

struct SelectOptions {
  SelectPolicy policy = SelectPolicy::Trunk;
  Thresholds thresholds;
  /// Reduced modes that a link that stays on may run in, if its full mode is wider or faster.
  std::vector<power::LinkMode> reductions;
  /// How far below u_on a choice must stay, as a share of it: what the estimate of the traffic may be wrong
  /// by.
  Ratio margin{0.1};
  /// Sets of links that General may try, roughly: bounds its time.
  unsigned effort = 400;
  unsigned plane = 0;  ///< whose LIDs carry the traffic
  /// To which the change after this one would move it. What its tables need stays on, too: else every change
  /// would bring other links back. On large fabrics both deal their LIDs evenly enough, and only `plane` is
  /// looked at.
  std::optional<unsigned> next_plane{};
};

struct SelectionProblem {
  Network* network = nullptr;  ///< its router is used to try tables out
  const power::PowerModel* power = nullptr;
  std::span<const Exempt> exempt;  ///< by LinkIndex
  const routing::LinkSet* available =
      nullptr;                                ///< links that may be active: not lost, not off by an operator
  const routing::LinkSet* current = nullptr;  ///< active at present
  const MeasuredLoads* loads = nullptr;       ///< under `current`
  /// By LinkIndex, of the links in `current`; empty: full modes, and no decisions about them.
  std::span<const power::LinkMode> modes{};
  /// Share of capacity by hop that a selection expected; empty: none. Where that is above u_on because a
  /// single flow is, other links do not help, and needed_links() does not bring them.
  std::span<const double> expected{};
  /// Likewise, what a link carries whatever is on (unavoidable_loads.h): where all links of its trunk are on,
  /// needed_links() brings no others for that.
  std::span<const double> unavoidable{};
  /// Of it, what selections predict. A link that would be full with all links on waits, whatever else is on.
  std::span<const double> ceilings{};
  /// By LinkIndex, what each is expected to take to come back: of links that would do as well, needed_links()
  /// brings the quickest. Empty: all alike.
  std::span<const ExpectedWake> wakes{};
  const Traffic* traffic = nullptr;  ///< for General; Trunk predicts by it if it is there
};

enum class Turn : std::uint8_t { Off, On, Reduce, Widen };

struct LinkDecision {
  LinkIndex link;
  Turn turn = Turn::Off;
  power::LinkMode mode;  ///< to run in
  std::string reason;    ///< with figures
};

/// A rule that keeps links on.
struct Holding {
  std::string rule;       ///< in words
  std::size_t links = 0;  ///< for which it is the first that does
  Watts watts;            ///< of them, in full mode
  LinkIndex example;      ///< of them, the one that is busiest
  Ratio busiest;          ///< what that is expected to carry at most; above 1: more than it can
};

struct Selection {
  routing::LinkSet active;
  std::vector<power::LinkMode> modes;   ///< by LinkIndex; off for what is not active
  std::vector<LinkDecision> decisions;  ///< differences to the current set
  /// Load of each directed cable between switches, share of capacity; of both planes the greater.
  std::vector<double> predicted;
  double busiest = 0;  ///< largest of them
  /// Share of capacity by hop that no selection lets it go above: u_on; where it would carry more with all
  /// links on, that. Empty where tables with all on were not looked at.
  std::vector<double> ceilings;
  Watts watts;         ///< of all links between switches that are selected
  Watts all_on_watts;  ///< of all available ones in full mode
  Watts least_watts;   ///< no allowed set draws less
  std::string note;    ///< what it could not do, or which rule holds back most, in words; empty if nothing
  std::vector<Holding> held;  ///< what stays on, most watts first; empty by the trunk rule
};

/// Errors: Refused when even all available links together break a rule, with the rule.
[[nodiscard]] Result<Selection> select_links(const SelectionProblem& problem, const SelectOptions& options);

/// For a set of links that was chosen already. `loads`: bit/s by hop that are reckoned with over it; ceilings
/// and the least watts are those for `problem.traffic`.
[[nodiscard]] Selection selection_of(const SelectionProblem& problem, const SelectOptions& options,
                                     routing::LinkSet active, const std::vector<double>& loads);

/// bit/s of a link in the mode it runs in.
[[nodiscard]] double current_capacity(const SelectionProblem& problem, LinkIndex link);

/// How far from a trunk that is too full links may be that come back for it.
enum class Reach : std::uint8_t {
  Beside,    ///< in the trunk, and by the general policy of its switch
  Anywhere,  ///< where these are all on, below its switch, and at last wherever one is off (other_ways.h)
};

/// Links to bring back at once, from measured loads alone and without predicting anything: for each bundle (a
/// trunk, or all ways up of a switch) with a link above u_on, or that waits longer than `waiting` of the
/// time, as many links that are off as bring its load below u_on. Linear in the number of links.
[[nodiscard]] std::vector<LinkDecision> needed_links(const SelectionProblem& problem,
                                                     const SelectOptions& options, Ratio waiting,
                                                     Reach reach = Reach::Beside);

/// No allowed set of links between switches draws less: see docs/regulation.md.
/// `limits`: bit/s that each hop may carry; empty: u_on of its capacity.
[[nodiscard]] Watts least_power(const SelectionProblem& problem, const SelectOptions& options,
                                std::span<const double> limits = {});

}  // namespace heddle::regulation
