/// The least power of any set of links that keeps the rules, by a solver of mixed integer programs (Cbc):
/// what the search of the General policy and its lower bound are held against. It shares no code with either.
///
/// How many links of each trunk stay is an integer. Between every two host switches, and from every switch to
/// every manager, there is a path that goes up and then down; the traffic is a flow over such paths that may
/// be split at will, and stays below the limit of every trunk. Tables deal whole LIDs, and lead down as soon
/// as they can: no set that they can serve draws less, and some that this finds they cannot serve.
///
/// Preconditions: every two switches have a legal path over all links (no mends); link modes are full.
#pragma once

#include <coin/Cbc_C_Interface.h>

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "regulation/selector.h"

namespace heddle::testing_support {

struct LeastSet {
  double watts = 0;       ///< of the cheapest set that was found; infinity: none
  double bound = 0;       ///< nothing draws less; watts where it is exact
  bool is_exact = false;  ///< proven in time
};

class LeastSetProgram {
 public:
  /// `limits`: bit/s by hop that a link may carry.
  LeastSetProgram(const regulation::SelectionProblem& problem, std::span<const double> limits)
      : problem_{problem}, network_{*problem.network}, limits_{limits} {
    add_trunks();
    const auto hosts = network_.host_switches();
    for (std::size_t d = 0; d < hosts.size(); ++d) add_traffic(d);
    for (const auto manager : network_.manager_switches()) {
      for (std::uint32_t s = 0; s < network_.graph().size(); ++s) {
        if (!sends(SwitchIndex{s}, manager)) add_path(SwitchIndex{s}, manager);
      }
    }
    add_capacities();
  }

  [[nodiscard]] LeastSet solve(unsigned most_seconds) const {
    Cbc_Model* model = Cbc_newModel();
    Cbc_setLogLevel(model, 0);
    load(model);
    for (const auto& kinds : kinds_) {
      for (const Kind& kind : kinds) Cbc_setInteger(model, kind.column);
    }
    Cbc_setParameter(model, "seconds", std::to_string(most_seconds).c_str());
    // Processor time, so that a busy machine proves as much.
    Cbc_setParameter(model, "timeMode", "cpu");
    Cbc_solve(model);
    LeastSet result;
    const bool found = Cbc_bestSolution(model) != nullptr;
    result.watts = found ? Cbc_getObjValue(model) : endless;
    result.bound = Cbc_getBestPossibleObjValue(model);
    result.is_exact = found && Cbc_isProvenOptimal(model) != 0;
    if (result.is_exact) result.bound = result.watts;
    Cbc_deleteModel(model);
    return result;
  }

 private:
  using SwitchIndex = routing::SwitchIndex;
  /// Links of a trunk that are alike.
  struct Kind {
    int column = 0;
    double limit_up = 0;  ///< bit/s of each
    double limit_down = 0;
  };

  /// Traffic has a path in any case.
  [[nodiscard]] bool sends(SwitchIndex from, SwitchIndex to) const {
    const auto s = network_.host_position(from);
    const auto d = network_.host_position(to);
    return s != regulation::Network::no_position && d != regulation::Network::no_position &&
           problem_.traffic->matrix.at(s, d) > 0;
  }

  int add_column(double cost, double least, double most) {
    costs_.push_back(cost);
    least_.push_back(least);
    most_.push_back(most);
    entries_.emplace_back();
    return static_cast<int>(costs_.size()) - 1;
  }
  int add_row(double least, double most) {
    row_least_.push_back(least);
    row_most_.push_back(most);
    return static_cast<int>(row_least_.size()) - 1;
  }
  void put(int row, int column, double value) {
    entries_[static_cast<std::size_t>(column)].emplace_back(row, value);
  }

  void add_trunks() {
    for (const regulation::Trunk& trunk : network_.trunks()) {
      struct Alike {
        double most = 0;
        double least = 0;
      };
      std::map<std::tuple<double, double, double>, Alike> alike;
      for (const LinkIndex link : trunk.links) {
        if (!problem_.available->contains(link)) continue;
        const Fabric& fabric = network_.fabric();
        const double watts = problem_.power->link(fabric, link, power::mode_of(fabric.link(link))).value();
        Alike& these = alike[{watts, limits_[network_.up_hop(link)], limits_[network_.down_hop(link)]}];
        ++these.most;
        if (problem_.exempt[link.raw()] != regulation::Exempt::No) ++these.least;
      }
      std::vector<Kind>& kinds = kinds_.emplace_back();
      for (const auto& [what, these] : alike) {
        const auto& [watts, up, down] = what;
        const int column = add_column(watts, these.least, these.most);
        kinds.push_back({column, up, down});
      }
    }
    up_.resize(kinds_.size());
    down_.resize(kinds_.size());
  }

  /// Rows of a commodity: what enters a switch leaves it, going up or going down.
  struct States {
    std::vector<int> up;
    std::vector<int> down;
  };
  /// `supply` by switch: units that start there; all of them end at `to`. Returns columns by trunk, up and
  /// down.
  std::vector<std::pair<int, int>> add_commodity(const std::vector<double>& supply, SwitchIndex to) {
    States states;
    double all = 0;
    for (const double units : supply) all += units;
    for (std::uint32_t s = 0; s < supply.size(); ++s) {
      states.up.push_back(add_row(supply[s], supply[s]));
      const double ends = s == to.raw() ? -all : 0;
      states.down.push_back(add_row(ends, ends));
      const int turns = add_column(0, 0, endless);
      put(states.up[s], turns, 1);
      put(states.down[s], turns, -1);
    }
    std::vector<std::pair<int, int>> columns;
    for (const regulation::Trunk& trunk : network_.trunks()) {
      const auto lower = trunk.lower.raw();
      const auto upper = trunk.upper.raw();
      const int up = add_column(0, 0, endless);
      put(states.up[lower], up, 1);
      put(states.up[upper], up, -1);
      const int down = add_column(0, 0, endless);
      put(states.down[upper], down, 1);
      put(states.down[lower], down, -1);
      columns.emplace_back(up, down);
    }
    return columns;
  }

  /// To one host switch, from all others; a path from those that send nothing.
  void add_traffic(std::size_t d) {
    const auto hosts = network_.host_switches();
    std::vector<double> supply(network_.graph().size(), 0);
    for (std::size_t s = 0; s < hosts.size(); ++s) {
      if (s == d) continue;
      const double bits = problem_.traffic->matrix.at(s, d);
      supply[hosts[s].raw()] = bits / unit;
      if (bits <= 0) add_path(hosts[s], hosts[d]);
    }
    const auto columns = add_commodity(supply, hosts[d]);
    for (std::size_t t = 0; t < columns.size(); ++t) {
      up_[t].push_back(columns[t].first);
      down_[t].push_back(columns[t].second);
    }
  }

  /// One unit, over trunks that keep a link.
  void add_path(SwitchIndex from, SwitchIndex to) {
    if (from == to) return;
    std::vector<double> supply(network_.graph().size(), 0);
    supply[from.raw()] = 1;
    const auto columns = add_commodity(supply, to);
    for (std::size_t t = 0; t < columns.size(); ++t) {
      const int row = add_row(0, endless);
      put(row, columns[t].first, -1);
      put(row, columns[t].second, -1);
      for (const Kind& kind : kinds_[t]) put(row, kind.column, 1);
    }
  }

  void add_capacities() {
    for (std::size_t t = 0; t < kinds_.size(); ++t) {
      for (const bool is_up : {true, false}) {
        const int row = add_row(0, endless);
        for (const Kind& kind : kinds_[t])
          put(row, kind.column, (is_up ? kind.limit_up : kind.limit_down) / unit);
        for (const int column : is_up ? up_[t] : down_[t]) put(row, column, -1);
      }
    }
  }

  void load(Cbc_Model* model) const {
    std::vector<CoinBigIndex> start{0};
    std::vector<int> rows;
    std::vector<double> values;
    for (const auto& column : entries_) {
      for (const auto& [row, value] : column) {
        rows.push_back(row);
        values.push_back(value);
      }
      start.push_back(static_cast<CoinBigIndex>(rows.size()));
    }
    Cbc_loadProblem(model, static_cast<int>(costs_.size()), static_cast<int>(row_least_.size()), start.data(),
                    rows.data(), values.data(), least_.data(), most_.data(), costs_.data(), row_least_.data(),
                    row_most_.data());
  }

  static constexpr double endless = std::numeric_limits<double>::max();  ///< to the solver: no limit
  static constexpr double unit = 1e9;                                    ///< bit/s: keeps coefficients near 1

  const regulation::SelectionProblem& problem_;
  const regulation::Network& network_;
  std::span<const double> limits_;
  std::vector<double> costs_, least_, most_, row_least_, row_most_;
  std::vector<std::vector<std::pair<int, double>>> entries_;  ///< by column: row and value
  std::vector<std::vector<Kind>> kinds_;                      ///< by trunk
  std::vector<std::vector<int>> up_, down_;                   ///< by trunk: columns of traffic over it
};

}  // namespace heddle::testing_support
