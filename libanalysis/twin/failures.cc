#include "twin/failures.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "fabric/links.h"
#include "twin/told.h"

namespace heddle::twin {
namespace {

/// Every single failure of this kind.
std::vector<std::pair<std::string, routing::Failure>> each_failure(const Fabric& fabric,
                                                                   const FabricNames& known,
                                                                   FailureKind kind) {
  std::vector<std::pair<std::string, routing::Failure>> all;
  if (kind == FailureKind::Switches) {
    for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
      if (fabric.nodes()[i].type == NodeType::Switch)
        all.push_back({known.node(NodeIndex{i}), {{NodeIndex{i}}, {}}});
    }
    return all;
  }
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    if (!joins_switches(fabric, fabric.link(LinkIndex{i}))) continue;
    all.push_back({known.link(LinkIndex{i}), {{}, {LinkIndex{i}}}});
  }
  return all;
}

bool is_worse(const Failed& x, const Failed& y) {
  const auto badness = [](const State& state) {
    const routing::Outage& o = state.outage;
    return std::tuple(o.cut_off.size(), o.pairs_cut + o.pairs_without_path,
                      state.traffic ? state.traffic->largest : o.largest);
  };
  return badness(x.state) > badness(y.state);
}

/// Those of all failures together are more than anybody has memory for.
void forget_details(State& state) {
  state.graph = {};
  state.tables = {};
  state.active = {};
  if (!state.traffic) return;
  state.traffic->load = {};
  state.traffic->share = {};
  state.traffic->of_host = {};
}

}  // namespace

void sort_by_harm(std::vector<Failed>& all) { std::stable_sort(all.begin(), all.end(), is_worse); }

Result<std::vector<Failed>> fail_each(const Run& run, const FabricNames& known, FailureKind kind, Views views,
                                      const FailurePart& part) {
  std::vector<Failed> all;
  auto failures = each_failure(*run.source().fabric, known, kind);
  for (std::size_t i = part.index; i < failures.size(); i += part.count) {
    auto& [name, failure] = failures[i];
    auto state = run.over(run.left(failure), Run::Tables::Anew);
    if (!state) return fail(name, state.error());
    all.push_back({i, std::move(name), *std::move(state), {}});
    if (views == Views::Wanted) all.back().view = view(all.back().state, known);
    forget_details(all.back().state);
  }
  sort_by_harm(all);
  return all;
}

}  // namespace heddle::twin
