#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "fabric/link_name.h"
#include "fabric/source.h"
#include "routing/lft_dump.h"
#include "sim/packet/experiment.h"
#include "sim/packet/rings.h"

namespace heddle::packet {
namespace {

bool has_lids(const Fabric& fabric) {
  return std::ranges::all_of(fabric.ports(), [](const heddle::Port& port) {
    return port.guid == PortGuid{} || port.link == no_link || port.lid != no_lid;
  });
}

struct Change {
  Cycle at;
  LinkIndex link;
  bool open;
  bool reroute;
};

/// The variant's closed links first, routed round once; then the experiment's changes in order of time.
Result<std::vector<Change>> find_changes(const Experiment& experiment, const ExperimentVariant& variant,
                                         const Site& site) {
  std::vector<Change> changes;
  if (experiment.changes.empty() && variant.closed.empty()) return changes;
  const FabricNames names{site.fabric};
  for (const std::string& text : variant.closed) {
    const auto link = names.find_link(text);
    if (!link) return fail(fmt::format("variant {}: closed", variant.name), link.error());
    changes.push_back({0, *link, false, false});
  }
  if (!changes.empty()) changes.back().reroute = experiment.lfts.empty();
  for (const ExperimentLinkChange& change : experiment.changes) {
    const auto link = names.find_link(change.link);
    if (!link) return fail("link_change", link.error());
    changes.push_back({change.at, *link, change.open, change.reroute});
  }
  std::ranges::stable_sort(changes, {}, &Change::at);
  return changes;
}

LinkUse link_use(const PacketSim& sim, Cycle cycles) {
  LinkUse use;
  std::size_t cabled = 0;
  for (std::uint32_t id = 0; id < sim.network().ports.size(); ++id) {
    if (!sim.network().links[id].cabled) continue;
    const Port& port = sim.network().ports[id];
    const PortCount count = sim.count(PortIndex{port.slot});
    const double flits = static_cast<double>(count.flits) * port.flit_cycles / static_cast<double>(cycles);
    use.mean += flits;
    use.max = std::max(use.max, flits);
    use.stalled += static_cast<double>(count.stalled) / static_cast<double>(cycles);
    ++cabled;
  }
  if (cabled > 0) {
    use.mean /= static_cast<double>(cabled);
    use.stalled /= static_cast<double>(cabled);
  }
  return use;
}

/// Seeds of a point's classes differ from each other and from those of other seeds.
std::uint64_t class_seed(std::uint64_t seed, std::size_t number) {
  Random mixer{seed};
  std::uint64_t result = 0;
  for (std::size_t i = 0; i <= number; ++i) result = mixer();
  return result;
}

double rate_at(const Experiment& experiment, const ExperimentTraffic& of, double load) {
  if (of.part > 0) return of.part * load;
  if (of.rest == 0) return of.traffic.rate;
  double left = load;
  for (const ExperimentTraffic& other : experiment.traffic) {
    if (other.part == 0 && other.rest == 0) left -= other.traffic.rate;
  }
  return of.rest * std::max(0.0, left);
}

Result<void> read_tables(const std::string& file, Site& site) {
  const auto text = read_text_file(file);
  if (!text) return fail(text.error());
  const auto dump = routing::parse_lft_dump(*text, file);
  if (!dump) return fail(dump.error());
  auto with_lids = routing::with_lids_of(*dump, *site.fabric);
  if (!with_lids) return fail(with_lids.error());
  site.fabric = std::move(*with_lids);
  const auto graph = routing::SwitchGraph::make(*site.fabric);
  if (!graph) return fail(graph.error());
  auto tables = routing::tables_of(*dump, *site.fabric, *graph);
  if (!tables) return fail(tables.error());
  site.programming.forwarding = std::move(*tables);
  return {};
}

Result<void> route(const Experiment& experiment, Site& site) {
  if (!has_lids(*site.fabric)) {
    auto with_lids = assign_lids(*site.fabric);
    if (!with_lids) return fail("fabric", with_lids.error());
    site.fabric = std::move(*with_lids);
  }
  auto routes = routing::route(*site.fabric, routing::LinkSet::all(*site.fabric), experiment.routing);
  if (!routes) return fail("routing", routes.error());
  site.programming.forwarding = std::move(routes->tables);
  return {};
}

}  // namespace

Result<Site> prepare(const Experiment& experiment) {
  auto loaded = load_fabric(experiment.source);
  if (!loaded) return fail("fabric", loaded.error());
  Site site{loaded->fabric, {}};
  const auto routed = experiment.lfts.empty() ? route(experiment, site) : read_tables(experiment.lfts, site);
  if (!routed) return fail(routed.error());
  if (is_generator_spec(experiment.source)) {
    const auto spec = parse_generator_spec(experiment.source);
    const auto* grid = spec ? std::get_if<GridSpec>(&spec->shape) : nullptr;
    if (grid != nullptr && grid->form == GridForm::Torus) {
      auto rings = torus_rings(*site.fabric, *grid);
      if (!rings) return fail(rings.error());
      site.programming.rings = std::move(*rings);
    }
  }
  return site;
}

Result<PointResult> run_point(const Experiment& experiment, const Site& site, const Point& point,
                              const MakeWorkload& make_workload) {
  const ExperimentVariant& variant = experiment.variants[point.variant];
  auto network = build_network(site.fabric, site.programming, variant.plane);
  if (!network) return fail(fmt::format("variant {}", variant.name), network.error());
  auto made = PacketSim::make(std::move(*network));
  if (!made) return fail(fmt::format("variant {}", variant.name), made.error());
  PacketSim& sim = *made;
  const auto changes = find_changes(experiment, variant, site);
  if (!changes) return fail(changes.error());

  for (std::size_t i = 0; i < experiment.traffic.size(); ++i) {
    TrafficClass traffic = experiment.traffic[i].traffic;
    traffic.rate = rate_at(experiment, experiment.traffic[i], experiment.loads[point.load]);
    if (auto ok = check(traffic, sim.host_count()); !ok)
      return fail(fmt::format("traffic {}", i + 1), ok.error());
    sim.add_traffic(traffic, class_seed(experiment.seeds[point.seed], i));
  }
  routing::LinkSet open = routing::LinkSet::all(*site.fabric);
  const Cycle end = experiment.warm_up + experiment.measure;
  bool measuring = false;
  std::unique_ptr<Workload> workload;
  if (make_workload) {
    auto made_workload = make_workload(experiment, sim);
    if (!made_workload) return fail(made_workload.error());
    workload = std::move(*made_workload);
  }
  const auto run_until = [&](Cycle until) {
    while (workload && sim.now() < until) {
      const Cycle step = std::min(until, sim.now() + 1000);
      workload->feed(step);
      sim.run_until(step);
    }
    sim.run_until(until);
  };
  const auto go = [&](Cycle until) {
    if (!measuring && until >= experiment.warm_up) {
      run_until(experiment.warm_up);
      sim.start_measuring();
      measuring = true;
    }
    run_until(until);
  };
  for (const Change& change : *changes) {
    if (change.at >= end) break;
    go(change.at);
    sim.set_link(change.link, change.open);
    change.open ? open.insert(change.link) : open.erase(change.link);
    if (!change.reroute) continue;
    auto routes = routing::route(*site.fabric, open, experiment.routing);
    if (!routes) return fail(fmt::format("rerouting at cycle {}", change.at), routes.error());
    sim.set_forwarding(std::move(routes->tables));
  }
  go(end);
  return PointResult{.point = point,
                     .cycles = experiment.measure,
                     .hosts = sim.host_count(),
                     .measurements = sim.measurements(),
                     .totals = sim.totals(),
                     .links = link_use(sim, experiment.measure),
                     .in_flight = sim.packets_in_flight(),
                     .workload = workload ? workload->report() : ""};
}

Result<std::vector<PointResult>> run_all(const Experiment& experiment, const Site& site, unsigned threads,
                                         const Progress& progress, const MakeWorkload& make_workload) {
  const std::size_t count = experiment.points();
  std::vector<std::optional<PointResult>> done(count);
  std::optional<Error> error;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t finished = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      const std::size_t per_variant = experiment.loads.size() * experiment.seeds.size();
      const Point point{i / per_variant, i % per_variant / experiment.seeds.size(),
                        i % experiment.seeds.size()};
      auto result = run_point(experiment, site, point, make_workload);
      const std::lock_guard lock{mutex};
      if (!result) {
        if (!error) error = result.error();
        next = count;
        return;
      }
      done[i] = std::move(*result);
      if (progress) progress(++finished, count);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < std::min<std::size_t>(std::max(threads, 1U), count); ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  if (error) return fail(std::move(*error));
  std::vector<PointResult> results;
  results.reserve(count);
  for (auto& result : done) results.push_back(std::move(*result));
  return results;
}

}  // namespace heddle::packet
