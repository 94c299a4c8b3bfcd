#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "fabric/link_name.h"
#include "fabric/source.h"
#include "routing/lft_dump.h"
#include "sim/experiment/experiment.h"
#include "sim/experiment/parallel_sim.h"
#include "sim/experiment/rings.h"

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

/// The last links of every trunk, so many of each that has one more.
std::vector<LinkIndex> ends_of_trunks(const Fabric& fabric, std::size_t of_each) {
  std::map<std::pair<NodeIndex, NodeIndex>, std::vector<LinkIndex>> trunks;
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const heddle::Link& link = fabric.link(LinkIndex{i});
    const bool of_switches = fabric.node(link.a.node).type == NodeType::Switch &&
                             fabric.node(link.b.node).type == NodeType::Switch;
    if (of_switches && link.a.node != link.b.node) trunks[{link.a.node, link.b.node}].push_back(LinkIndex{i});
  }
  std::vector<LinkIndex> ends;
  for (auto& [nodes, links] : trunks) {
    const auto by_port = [&](LinkIndex link) { return fabric.link(link).a; };
    std::ranges::sort(links, std::ranges::greater{}, by_port);
    const auto few = static_cast<std::ptrdiff_t>(std::min(of_each, links.size() - 1));
    ends.insert(ends.end(), links.begin(), links.begin() + few);
  }
  return ends;
}

/// The variant's closed links first, routed round once; then the experiment's changes in order of time.
Result<std::vector<Change>> find_changes(const Experiment& experiment, const ExperimentVariant& variant,
                                         const Site& site) {
  std::vector<Change> changes;
  if (experiment.changes.empty() && variant.closed.empty() && variant.closed_per_trunk == 0) return changes;
  const FabricNames names{site.fabric};
  for (const std::string& text : variant.closed) {
    const auto link = names.find_link(text);
    if (!link) return fail(fmt::format("variant {}: closed", variant.name), link.error());
    changes.push_back({0, *link, false, false});
  }
  for (const LinkIndex link : ends_of_trunks(*site.fabric, variant.closed_per_trunk))
    changes.push_back({0, link, false, false});
  if (!changes.empty()) changes.back().reroute = experiment.lfts.empty();
  for (const ExperimentLinkChange& change : experiment.changes) {
    const auto link = names.find_link(change.link);
    if (!link) return fail("link_change", link.error());
    changes.push_back({change.at, *link, change.open, change.reroute});
  }
  std::ranges::stable_sort(changes, {}, &Change::at);
  return changes;
}

LinkUse link_use(const ParallelSim& sim, Cycle cycles) {
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
                              const MakeWorkload& make_workload, unsigned cores) {
  const ExperimentVariant& variant = experiment.variants[point.variant];
  auto network = build_network(site.fabric, site.programming, variant.plane);
  if (!network) return fail(fmt::format("variant {}", variant.name), network.error());
  auto made = ParallelSim::make(std::move(*network), make_workload ? 1 : cores);
  if (!made) return fail(fmt::format("variant {}", variant.name), made.error());
  ParallelSim& sim = *made;
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
    auto made_workload = make_workload(experiment, sim.whole());
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

std::vector<Point> all_points(const Experiment& experiment) {
  std::vector<Point> points;
  for (std::size_t variant = 0; variant < experiment.variants.size(); ++variant) {
    for (std::size_t load = 0; load < experiment.loads.size(); ++load) {
      for (std::size_t seed = 0; seed < experiment.seeds.size(); ++seed)
        points.push_back({variant, load, seed});
    }
  }
  return points;
}

namespace {

/// Points one after another, several at once.
class Campaign {
 public:
  Campaign(const Experiment& experiment, const Site& site, const PointDone& done,
           const MakeWorkload& make_workload)
      : experiment_{experiment}, site_{site}, done_{done}, make_workload_{make_workload} {}

  /// Each on `cores` cores.
  Result<void> run(std::span<const Point> points, std::size_t at_once, unsigned cores) {
    next_ = 0;
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < std::min(at_once, points.size()); ++i)
      pool.emplace_back([=, this] { work(points, cores); });
    work(points, cores);
    pool.clear();
    if (error_) return fail(std::move(*error_));
    return {};
  }

 private:
  void work(std::span<const Point> points, unsigned cores) {
    for (std::size_t i = next_++; i < points.size(); i = next_++) {
      auto result = run_point(experiment_, site_, points[i], make_workload_, cores);
      const std::lock_guard lock{mutex_};
      auto ok = result ? done_(std::move(*result)) : Result<void>{fail(result.error())};
      if (ok) continue;
      if (!error_) error_ = ok.error();
      next_ = points.size();
    }
  }

  const Experiment& experiment_;
  const Site& site_;
  const PointDone& done_;
  const MakeWorkload& make_workload_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::optional<Error> error_;
};

/// Of one run: what a part has to do between two meetings must be worth the meeting.
unsigned most_cores(const Site& site) {
  constexpr std::size_t hosts_of_a_part = 64;
  const auto hosts = static_cast<std::size_t>(std::ranges::count_if(
      site.fabric->nodes(), [](const Node& node) { return node.type != NodeType::Switch; }));
  return static_cast<unsigned>(std::clamp<std::size_t>(hosts / hosts_of_a_part, 1, most_parts));
}

}  // namespace

/// As many at once as there are cores, each on one, as long as that keeps all cores busy; the rest share
/// them.
Result<void> run_points(const Experiment& experiment, const Site& site, std::span<const Point> points,
                        unsigned threads, const PointDone& done, const MakeWorkload& make_workload) {
  Campaign campaign{experiment, site, done, make_workload};
  const std::size_t all = std::max(threads, 1U);
  const std::size_t rest = points.size() % all;
  const unsigned cores = rest == 0 ? 1 : std::min(static_cast<unsigned>(all / rest), most_cores(site));
  if (cores == 1 || make_workload) return campaign.run(points, all, 1);
  if (auto ok = campaign.run(points.first(points.size() - rest), all, 1); !ok) return ok;
  return campaign.run(points.last(rest), rest, cores);
}

Result<std::vector<PointResult>> run_all(const Experiment& experiment, const Site& site, unsigned threads,
                                         const Progress& progress, const MakeWorkload& make_workload) {
  const std::vector<Point> points = all_points(experiment);
  std::vector<PointResult> results;
  const auto done = [&](PointResult result) -> Result<void> {
    results.push_back(std::move(result));
    if (progress) progress(results.size(), points.size());
    return {};
  };
  if (auto ok = run_points(experiment, site, points, threads, done, make_workload); !ok)
    return fail(ok.error());
  std::ranges::sort(results, {}, &PointResult::point);
  return results;
}

}  // namespace heddle::packet
