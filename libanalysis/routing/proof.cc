#include "routing/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "routing/dependencies.h"
#include "routing/hop_map.h"

namespace heddle::routing {
namespace {

/// Where a packet goes from a switch by one of the tables.
struct Next {
  enum Kind : std::uint8_t { Hop, Arrived, Missing, Wrong };
  Kind kind = Missing;
  std::uint32_t hop = HopMap::none;
};

class Prover {
 public:
  Prover(const SwitchGraph& graph, const ProofOptions& options)
      : graph_{graph},
        options_{options},
        map_{graph},
        left_{hops_over(graph, options.active)},
        dependencies_{graph, options.vls == nullptr ? 1 : options.vls->vl_count()},
        must_reach_(graph.size(), 0),
        excused_(graph.size(), 0),
        state_(graph.size(), 0),
        onward_(graph.size(), HopMap::none) {
    for (const SwitchIndex s : options.excused) excused_[s.raw()] = 1;
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      if (excused_[s] == 0 && graph.hosts_at(SwitchIndex{s}) != 0) host_switches_.push_back(s);
    }
    for (const Target& target : graph.targets()) {
      if (excused_[target.at.raw()] != 0) continue;
      for (const Lid lid : options.managers) {
        if (target.base <= lid && lid.raw() < target.base.raw() + target.lid_count())
          must_reach_[target.at.raw()] = 1;
      }
    }
  }

  void follow_all(const ForwardingTables& tables) {
    for_each_lid({&tables},
                 [&](const Target& target, Lid lid, const std::array<const std::uint8_t*, 2>& columns) {
                   if (options_.vls != nullptr) {
                     follow_with_vls(target, lid, columns[0]);
                   } else {
                     follow(target, lid, columns[0]);
                   }
                 });
  }

  void mix_all(const ForwardingTables& before, const ForwardingTables& after, unsigned stage) {
    stage_ = stage;
    for_each_lid({&before, &after},
                 [&](const Target& target, Lid lid, const std::array<const std::uint8_t*, 2>& columns) {
                   mix(target, lid, columns);
                 });
  }

  Proof conclude(std::span<const ForwardingTables* const> tables) {
    const auto cycle = dependencies_.find_cycle();
    if (!cycle.empty()) {
      Finding finding{Fault::Deadlock, no_lid, {}, stage_};
      for (const Dependencies::Edge& edge : cycle) {
        const SwitchIndex s{map_.from(edge.hop)};
        const PortNum out = port_of(edge.hop);
        unsigned from = 0;
        while (from + 1 < tables.size() && tables[from]->port(s, edge.lid) != out) ++from;
        finding.steps.push_back({s, out, from, edge.vl, edge.lid});
      }
      proof_.findings.push_back(std::move(finding));
    }
    return std::move(proof_);
  }

 private:
  enum : std::uint8_t { Unseen, OnPath, Good, Bad };

  template <class F>
  void for_each_lid(std::array<const ForwardingTables*, 2> tables, F&& f) {
    std::array<Columns, 2> columns{Columns(graph_.size()), Columns(graph_.size())};
    std::size_t loaded = static_cast<std::size_t>(-1);
    for (const Target& target : graph_.targets()) {
      if (target.link != no_link && !usable(target.link)) continue;
      if (excused_[target.at.raw()] != 0) continue;
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
        if (lid.raw() / lids_per_block != loaded) {
          loaded = lid.raw() / lids_per_block;
          for (std::size_t t = 0; t < 2; ++t) {
            if (tables[t] != nullptr) columns[t].load(*tables[t], loaded);
          }
        }
        f(target, lid, {columns[0].column(lid), columns[1].column(lid)});
      }
    }
  }

  [[nodiscard]] bool usable(LinkIndex link) const {
    return options_.active == nullptr || options_.active->contains(link);
  }
  [[nodiscard]] const Hop& hop(std::uint32_t h) const {
    const SwitchIndex s{map_.from(h)};
    return graph_.hops(s)[h - graph_.first_hop(s)];
  }
  [[nodiscard]] PortNum port_of(std::uint32_t h) const { return hop(h).out; }

  [[nodiscard]] Next next(const Target& target, std::uint32_t s, std::uint8_t port) const {
    if (port == no_path.raw()) return {Next::Missing, HopMap::none};
    if (s == target.at.raw()) return {port == target.out.raw() ? Next::Arrived : Next::Wrong, HopMap::none};
    const std::uint32_t h = map_.hop(s, port);
    if (h == HopMap::none || left_[h] == 0) return {Next::Wrong, HopMap::none};
    return {Next::Hop, h};
  }

  /// Calls `f(source, must)` for the switches whose packets to this LID count, those that must arrive first.
  template <class F>
  void for_each_source(const Target& target, Lid lid, F&& f) {
    const auto& managers = options_.managers;
    const bool to_manager = std::find(managers.begin(), managers.end(), lid) != managers.end();
    const bool all_must = to_manager || target.kind == TargetKind::Host;
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if ((to_manager && excused_[s] == 0) || must_reach_[s] != 0) f(s, true);
    }
    if (to_manager || (!all_must && options_.followed == Followed::Needed)) return;
    for (const std::uint32_t s : host_switches_) {
      if (must_reach_[s] == 0) f(s, all_must);
    }
  }

  void note(Fault fault, Lid lid, std::vector<Step> steps) {
    std::size_t have = 0;
    for (const Finding& finding : proof_.findings) have += finding.fault == fault ? 1 : 0;
    if (have < options_.most_findings) proof_.findings.push_back({fault, lid, std::move(steps), stage_});
  }

  /// One table, one VL: every switch has one way on, so each is walked once.
  void follow(const Target& target, Lid lid, const std::uint8_t* column) {
    std::fill(state_.begin(), state_.end(), Unseen);
    for_each_source(target, lid, [&](std::uint32_t source, bool must) {
      path_.clear();
      std::uint32_t s = source;
      std::uint32_t came_by = HopMap::none;
      while (state_[s] == Unseen) {
        const Next way = next(target, s, column[s]);
        onward_[s] = way.hop;
        if (way.kind != Next::Hop) {
          state_[s] = way.kind == Next::Arrived ? Good : Bad;
          break;
        }
        if (came_by != HopMap::none) dependencies_.add(came_by, way.hop, lid);
        state_[s] = OnPath;
        path_.push_back(s);
        came_by = way.hop;
        s = map_.peer(way.hop);
      }
      std::uint8_t end = state_[s];
      // Also where it ends later on: who is to be dropped there waits for buffers until then.
      if (came_by != HopMap::none && onward_[s] != HopMap::none) dependencies_.add(came_by, onward_[s], lid);
      if (end == OnPath) {
        note(Fault::Loop, lid, steps(std::find(path_.begin(), path_.end(), s), path_.end(), column, lid));
        end = Bad;
      } else if (end == Bad && must) {
        note_lost(target, source, column, lid);
      }
      for (const std::uint32_t passed : path_) state_[passed] = end;
      if (must) {
        ++proof_.paths;
        proof_.broken += end == Bad ? 1 : 0;
      }
    });
  }

  /// A packet that is known not to arrive, once more from its source.
  void note_lost(const Target& target, std::uint32_t source, const std::uint8_t* column, Lid lid) {
    std::vector<Step> way;
    std::uint32_t s = source;
    while (way.size() <= graph_.size()) {
      way.push_back({SwitchIndex{s}, PortNum{column[s]}, 0, 0, lid});
      const Next on = next(target, s, column[s]);
      if (on.kind == Next::Hop) {
        s = map_.peer(on.hop);
        continue;
      }
      return note(on.kind == Next::Missing ? Fault::NoPath : Fault::DeadEnd, lid, std::move(way));
    }
  }

  template <class It>
  std::vector<Step> steps(It first, It last, const std::uint8_t* column, Lid lid) const {
    std::vector<Step> result;
    for (; first != last; ++first)
      result.push_back({SwitchIndex{*first}, PortNum{column[*first]}, 0, 0, lid});
    return result;
  }

  /// The VL depends on where the packet came from: every source is walked to the end.
  void follow_with_vls(const Target& target, Lid lid, const std::uint8_t* column) {
    for_each_source(target, lid, [&](std::uint32_t source, bool must) {
      const Sl sl = options_.vls->path_sl(SwitchIndex{source}, target.at);
      path_.clear();
      std::uint32_t s = source;
      PortNum in{0};
      std::uint32_t came_by = HopMap::none;
      unsigned came_on = 0;
      Next way = next(target, s, column[s]);
      while (way.kind == Next::Hop && path_.size() <= graph_.size()) {
        const unsigned vl = options_.vls->vl(SwitchIndex{s}, in, port_of(way.hop), sl).raw();
        if (came_by != HopMap::none) dependencies_.add(came_by, came_on, way.hop, vl, lid);
        path_.push_back(s);
        came_by = way.hop;
        came_on = vl;
        in = hop(way.hop).in;
        s = map_.peer(way.hop);
        way = next(target, s, column[s]);
      }
      if (must) {
        ++proof_.paths;
        proof_.broken += way.kind == Next::Arrived ? 0 : 1;
      }
      if (way.kind == Next::Arrived) return;
      if (way.kind == Next::Hop) {
        const auto last = path_.end() - 1;
        const auto again = std::find(path_.begin(), last, *last);
        note(Fault::Loop, lid, steps(again, last, column, lid));
      } else if (must) {
        note_lost(target, source, column, lid);
      }
    });
  }

  /// Both tables at once: depth first over old and new next hops.
  void mix(const Target& target, Lid lid, const std::array<const std::uint8_t*, 2>& columns) {
    struct Visit {
      std::uint32_t s;
      std::uint8_t table;  ///< the next to try
    };
    std::fill(state_.begin(), state_.end(), Unseen);
    std::vector<Visit> path;
    const auto step_of = [&](const Visit& visit) {
      const unsigned table = visit.table - 1U;
      return Step{SwitchIndex{visit.s}, PortNum{columns[table][visit.s]}, table, 0, lid};
    };
    for_each_source(target, lid, [&](std::uint32_t source, bool must) {
      proof_.paths += must ? 1 : 0;
      if (state_[source] != Unseen) return;
      state_[source] = OnPath;
      path.push_back({source, 0});
      while (!path.empty()) {
        Visit& visit = path.back();
        if (visit.table == 2) {
          state_[visit.s] = Good;
          path.pop_back();
          continue;
        }
        const unsigned table = visit.table++;
        if (table == 1 && columns[0][visit.s] == columns[1][visit.s]) continue;
        const Next way = next(target, visit.s, columns[table][visit.s]);
        if (way.kind == Next::Arrived) continue;
        if (way.kind != Next::Hop) {
          if (!must) continue;
          ++proof_.broken;
          std::vector<Step> steps;
          for (const Visit& passed : path) steps.push_back(step_of(passed));
          note(way.kind == Next::Missing ? Fault::NoPath : Fault::DeadEnd, lid, std::move(steps));
          continue;
        }
        const std::uint32_t peer = map_.peer(way.hop);
        for (unsigned after = 0; after < 2 && peer != target.at.raw(); ++after) {
          const std::uint32_t onward = map_.hop(peer, columns[after][peer]);
          if (onward != HopMap::none) dependencies_.add(way.hop, onward, lid);
        }
        if (state_[peer] == OnPath) {
          auto first = path.begin();
          while (first->s != peer) ++first;
          std::vector<Step> steps;
          for (; first != path.end(); ++first) steps.push_back(step_of(*first));
          note(Fault::Loop, lid, std::move(steps));
        } else if (state_[peer] == Unseen) {
          state_[peer] = OnPath;
          path.push_back({peer, 0});
        }
      }
    });
  }

  const SwitchGraph& graph_;
  const ProofOptions& options_;
  HopMap map_;
  std::vector<char> left_;  ///< by hop: it may be used
  Dependencies dependencies_;
  std::vector<std::uint32_t> host_switches_;
  std::vector<std::uint8_t> must_reach_;
  std::vector<std::uint8_t> excused_;
  std::vector<std::uint8_t> state_;
  std::vector<std::uint32_t>
      onward_;  ///< the hop by which each switch that was met goes on; none where it ends
  std::vector<std::uint32_t> path_;
  unsigned stage_ = 0;
  Proof proof_;
};

std::string switch_name(const Fabric& fabric, const SwitchGraph& graph, SwitchIndex s) {
  return fmt::format("\"{}\" ({})", printable(fabric.node(graph.node(s)).description),
                     to_string(graph.guid(s)));
}

}  // namespace

Proof prove(const SwitchGraph& graph, std::span<const ForwardingTables* const> tables,
            const ProofOptions& options) {
  Prover prover(graph, options);
  for (const ForwardingTables* each : tables) prover.follow_all(*each);
  return prover.conclude(tables);
}

Proof prove(const SwitchGraph& graph, const ForwardingTables& tables, const ProofOptions& options) {
  const ForwardingTables* one[] = {&tables};
  return prove(graph, one, options);
}

Proof prove_transition(const SwitchGraph& graph, const ForwardingTables& before,
                       const ForwardingTables& after, const ProofOptions& options) {
  const ForwardingTables* both[] = {&before, &after};
  return prove_stages(graph, both, options);
}

Proof prove_stages(const SwitchGraph& graph, std::span<const ForwardingTables* const> steps,
                   const ProofOptions& options) {
  Proof all;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    Prover prover(graph, options);
    prover.mix_all(*steps[i], *steps[i + 1], static_cast<unsigned>(i));
    Proof one = prover.conclude(steps.subspan(i, 2));
    all.paths += one.paths;
    all.broken += one.broken;
    for (Finding& finding : one.findings) all.findings.push_back(std::move(finding));
  }
  return all;
}

std::string describe(const Finding& finding, const Fabric& fabric, const SwitchGraph& graph) {
  std::string text;
  switch (finding.fault) {
    case Fault::NoPath:
      text = "no path";
      break;
    case Fault::DeadEnd:
      text = "dead end";
      break;
    case Fault::Loop:
      text = "loop";
      break;
    case Fault::Deadlock:
      text = "cycle of channel dependencies (deadlock)";
      break;
  }
  if (finding.destination != no_lid) {
    text += fmt::format(" to LID {}", finding.destination.raw());
    const PortIndex port = fabric.find_port(finding.destination);
    if (port != no_port) {
      text += fmt::format(" (\"{}\" {})", printable(fabric.node(fabric.port(port).node).description),
                          to_string(fabric.ref(port)));
    }
  }
  for (const Step& step : finding.steps) {
    text += fmt::format("\n  {} port {}", switch_name(fabric, graph, step.sw), step.out.raw());
    if (step.out == no_path) text += " (no entry)";
    text += fmt::format(" [table {}", step.table);
    if (finding.fault == Fault::Deadlock) text += fmt::format(", VL {}, LID {}", step.vl, step.lid.raw());
    text += "]";
  }
  return text;
}

}  // namespace heddle::routing
