// What-if without reading the fabric: a twin with tables read back and loads of all hosts' sending to all,
// and what becomes of it without one switch; and, of a smaller one, without each.
//
//   what_if_bench [GENERATOR [SMALLER]]      processor time of all threads; goals: 1 s, and 10 s at 1,000
//   hosts

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "bench/cpu_seconds.h"
#include "bench/fabric_argument.h"
#include "fabric/generators.h"
#include "routing/quality.h"
#include "twin/failures.h"
#include "twin/run.h"

namespace heddle::twin {
namespace {

/// Of each host's link.
constexpr double light = 0.3;
/// So that links between switches are asked for more than they carry, once a switch has gone.
constexpr double heavy = 0.6;

/// Loads as tables make them of hosts that all send alike.
std::vector<double> loads(const regulation::Network& network, const routing::ForwardingTables& tables,
                          double load) {
  const Fabric& fabric = network.fabric();
  const routing::SwitchGraph& graph = network.graph();
  std::vector<double> leaving(fabric.ports().size());
  for (std::uint32_t i = 0; i < leaving.size(); ++i) {
    const LinkIndex link = fabric.port(PortIndex{i}).link;
    if (link != no_link)
      leaving[i] = load * data_rate(fabric.link(link).width, fabric.link(link).speed).value();
  }
  const routing::Loads all = routing::all_to_all(graph, tables);
  const double hosts = static_cast<double>(graph.host_count());
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const routing::SwitchIndex sw{s};
    for (std::size_t h = 0; h < graph.hops(sw).size(); ++h)
      leaving[fabric.port_index(graph.node(sw), graph.hops(sw)[h].out).raw()] *=
          all.hop[graph.first_hop(sw) + h] / hosts;
  }
  return leaving;
}

Source source_of(const std::string& generator, double load) {
  Source source;
  source.fabric = *assign_lids(**generate(generator), 0);
  const auto network = *regulation::Network::make(source.fabric);
  source.active = routing::LinkSet::all(*source.fabric);
  source.tables = network->tables(source.active);
  source.order.ranks = network->ranks_by_guid();
  source.leaving = loads(*network, *source.tables, load);
  return source;
}

/// Says how long `f` took.
template <class F>
auto timed(const char* what, F&& f) {
  const double begin = cpu_seconds();
  auto result = f();
  fmt::print("  {:<40} {:>8.3f} s\n", what, cpu_seconds() - begin);
  if (!result) fmt::print(stderr, "{}\n", result.error().message);
  return result;
}

routing::Failure first_without_hosts(const Fabric& fabric) {
  const auto graph = *routing::SwitchGraph::make(fabric);
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(routing::SwitchIndex{s}) == 0) return {{graph.node(routing::SwitchIndex{s})}, {}};
  }
  return {};
}

int one_change(const std::string& generator, double load) {
  Source source = source_of(generator, load);
  const Fabric& fabric = *source.fabric;
  const routing::Failure failure = first_without_hosts(fabric);
  fmt::print("{}: {} switches, {} channel adapters, load {}, one change\n", generator, fabric.switch_count(),
             fabric.channel_adapter_count(), load);
  const unsigned samples = enough_samples(fabric);
  const double begin = cpu_seconds();
  auto run = timed("who made the tables", [&] { return Run::make(std::move(source), {}, {}); });
  if (!run) return 1;
  if (!timed("flows, by the loads", [&] { return run->estimate_traffic(); })) return 1;
  run->measure_bisection(samples);
  if (!timed("now", [&] { return run->now(); })) return 1;
  const auto then = timed("then", [&] { return run->over(run->left(failure), Run::Tables::Anew); });
  if (!then) return 1;
  fmt::print("  {:<40} {:>8.3f} s; {} flows, busiest {:.3f}, {:.4f} carried\n", "together",
             cpu_seconds() - begin, then->traffic->flows, then->traffic->largest,
             then->traffic->carried / then->traffic->wanted);
  return 0;
}

int every_switch(const std::string& generator) {
  Source source = source_of(generator, light);
  const auto fabric = source.fabric;
  fmt::print("{}: {} switches, {} channel adapters, every failure of a switch\n", generator,
             fabric->switch_count(), fabric->channel_adapter_count());
  auto run = Run::make(std::move(source), {}, {});
  if (!run || !run->estimate_traffic()) return 1;
  const FabricNames known{fabric};
  const auto all =
      timed("together", [&] { return fail_each(*run, known, FailureKind::Switches, Views::No); });
  return all ? 0 : 1;
}

}  // namespace
}  // namespace heddle::twin

int main(int argc, char** argv) {
  const std::string large = heddle::fabric_argument(argc, argv, 1, "tree:k=18,n=3,full");
  for (const double load : {heddle::twin::light, heddle::twin::heavy}) {
    if (heddle::twin::one_change(large, load) != 0) return 1;
  }
  return heddle::twin::every_switch(heddle::fabric_argument(argc, argv, 2, "fattree:hosts=1000"));
}
