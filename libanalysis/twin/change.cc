#include "twin/change.h"

#include "twin/job_flows.h"
#include "twin/told.h"

namespace heddle::twin {
namespace {

Result<std::vector<NodeGuid>> roots_called(const std::vector<std::string>& names, const FabricNames& known,
                                           const Fabric& fabric) {
  std::vector<NodeGuid> roots;
  for (const std::string& name : names) {
    const auto node = known.find_node(name);
    if (!node) return fail("--roots", node.error());
    roots.push_back(fabric.node(*node).guid);
  }
  return roots;
}

}  // namespace

Result<void> check(const Change& change) {
  if (change.regulate && (change.routes_anew() || !change.without.empty()))
    return fail(ErrorCode::Invalid, "--regulate goes with none of --without, --engine, --roots and --lmc");
  return {};
}

std::optional<routing::Engine> engine_for(const Source& source, std::optional<routing::Engine> wanted) {
  const bool nobody_says = source.order.ranks.empty() && !source.tables;
  return !wanted && nobody_says ? routing::Engine::UpDown : wanted;
}

Result<Run> routed_by(const Run& run, const Change& change, const FabricNames& known) {
  auto roots = roots_called(change.roots, known, *run.source().fabric);
  if (!roots) return fail(roots.error());
  std::optional<routing::Engine> engine = engine_for(run.source(), change.engine);
  if (!engine && !roots->empty()) engine = routing::Engine::UpDown;
  auto other = Run::make(run.source(), engine, *std::move(roots));
  if (!other) return fail(other.error());
  other->take_over_from(run);
  return other;
}

Result<State> after(Run& run, const Change& change, const FabricNames& known, const State* now) {
  const auto failure = failure_of(change.without, known);
  if (!failure) return fail("--without", failure.error());
  run.use_qos(change.qos ? &*change.qos : nullptr);
  for (const std::string& job : change.jobs) {
    const auto flows = job_flows(*run.source().fabric, job);
    if (!flows) return fail("--add-job", flows.error());
    run.add_flows(*flows);
  }
  if (change.regulate) {
    const auto active = run.regulated(*change.regulate, *now);
    if (!active) return fail(active.error());
    return run.over(*active, Run::Tables::Anew);
  }
  const routing::LinkSet left = run.left(*failure);
  if (change.lmc) return run.with_lmc(*change.lmc, left, change.engine);
  const bool anew = !change.without.empty() || change.routes_anew();
  return run.over(left, anew ? Run::Tables::Anew : Run::Tables::InForce);
}

}  // namespace heddle::twin
