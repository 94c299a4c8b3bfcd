// Prints the tables of docs/regulation.md: power and throughput of the paper's tori as links are turned off,
// what the governor saves under each pattern, and how near a three-level tree comes to the least.
//   regulation_curves [DIRECTORY]   also writes curves.csv and plot.gp there

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "support/regulated_flows.h"

namespace heddle::testing_support {
namespace {

using regulation::SelectPolicy;

void draw_curves(std::ofstream* csv) {
  std::printf("\nfabric pattern load: links off, power W, throughput %% of what is offered\n");
  for (const unsigned side : {4U, 8U}) {
    RegulatedFlows site{paper_torus(side), paper_options(SelectPolicy::Trunk)};
    for (const auto& [pattern, load] : {std::pair{Pattern::Uniform, 0.5},
                                        {Pattern::Uniform, 1.0},
                                        {Pattern::BitReversal, 1.0},
                                        {Pattern::Neighbour, 1.0}}) {
      site.set_traffic(pattern, load);
      std::printf("%ux%u %s %.1f:", side, side, name(pattern), load);
      for (const CurvePoint& point : curve(site, site.network->trunks().size() / 4)) {
        std::printf(" %zu/%.0f/%.1f", point.off, point.watts, 100 * point.delivered);
        if (csv != nullptr) {
          *csv << side << ',' << name(pattern) << ',' << load << ',' << point.off << ',' << point.watts << ','
               << point.delivered << '\n';
        }
      }
      std::printf("\n");
    }
  }
}

void run_loop() {
  std::printf(
      "\nfabric | pattern | load | policy | links off | power saved | throughput, of all links on | "
      "transitions\n");
  for (const unsigned side : {4U, 8U}) {
    for (const Pattern pattern : {Pattern::Neighbour, Pattern::BitReversal, Pattern::Uniform}) {
      for (const double load : {0.1, 0.3, 0.5}) {
        const auto trunk = paper_options(SelectPolicy::Trunk);
        const auto general = paper_options(SelectPolicy::General);
        for (const auto& [policy, options] : {std::pair{"trunk", trunk},
                                              {"trunk, SDR", with_reduction(trunk)},
                                              {"general", general},
                                              {"general, SDR", with_reduction(general)}}) {
          RegulatedFlows site{paper_torus(side), options};
          site.set_traffic(pattern, load);

          const Watts all = site.power();
          site.settle();
          // In the plane that traffic has ended up in: the two deal LIDs differently.
          const double before = site.delivered_with_all_on();
          std::printf("%ux%u | %s | %.1f | %s | %zu | %.1f %% | %.2f %% | %zu\n", side, side, name(pattern),
                      load, policy, site.off(), 100 * (1 - site.power() / all),
                      100 * site.now().delivered / before, site.transitions);
        }
      }
    }
  }
}

void compare_trees() {
  std::printf(
      "\ntree | switches, links between them | load | links off | share of link power saved | at most | of "
      "the least\n");
  for (const std::string spec : {"xgft:3;4,4,8;1,4,4", "xgft:3;8,8,16;1,8,8", "xgft:3;18,18,36;1,18,18"}) {
    const auto fabric = *assign_lids(**generate(spec));
    regulation::NetworkOptions make;
    make.managers = {Lid{1}};
    auto network = *regulation::Network::make(fabric, make);
    const auto count = static_cast<std::uint32_t>(network->host_switches().size());
    regulation::Traffic traffic{regulation::TrafficMatrix{count}, {}};
    const double hosts = static_cast<double>(network->graph().host_count());
    const double each = hosts / count;
    const double rate = 0.1 * network->capacity(LinkIndex{0});
    for (std::uint32_t s = 0; s < count; ++s) {
      for (std::uint32_t d = 0; d < count; ++d) {
        if (s != d) traffic.matrix.set(s, d, each * rate * each / (hosts - 1));
      }
    }
    traffic.share.assign(network->graph().targets().size(), 1 / each);
    const power::PowerModel power;
    const auto exempt = regulation::exemptions(*fabric, {}, {}, {});
    const auto all = routing::LinkSet::all(*fabric);
    regulation::MeasuredLoads loads;
    loads.hop = regulation::predicted_loads(*network, network->tables(all), traffic);
    loads.waiting.assign(loads.hop.size(), 0);
    regulation::SelectionProblem problem;
    problem.network = network.get();
    problem.power = &power;
    problem.exempt = exempt;
    problem.available = problem.current = &all;
    problem.loads = &loads;
    problem.traffic = &traffic;
    regulation::SelectOptions options;
    options.policy = SelectPolicy::General;
    const auto begin = std::chrono::steady_clock::now();
    const auto selection = *regulation::select_links(problem, options);
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::size_t links = 0;
    for (const auto& trunk : network->trunks()) links += trunk.links.size();
    std::printf("%s | %zu, %zu | 0.1 | %zu | %.1f %% | %.1f %% | %.3f (busiest %.2f, %.2f s)\n", spec.c_str(),
                network->graph().size(), links, fabric->links().size() - selection.active.count(),
                100 * (1 - selection.watts / selection.all_on_watts),
                100 * (1 - selection.least_watts / selection.all_on_watts),
                selection.watts / selection.least_watts, selection.busiest, spent);
  }
}

void write_plot(const std::filesystem::path& directory) {
  std::ofstream plot{directory / "plot.gp"};
  plot << "set terminal svg size 900,420\nset output 'curves.svg'\nset datafile separator ','\n"
          "set multiplot layout 1,2\nset key bottom left\nset xlabel 'links off'\nset yrange [0:]\n"
          "set title '8x8 torus: network power, W'\n"
          "plot 'curves.csv' using ($1==8 && stringcolumn(2) eq 'uniform' && $3==1 ? $4 : NaN):5 with "
          "linespoints title 'any traffic'\n"
          "set title '8x8 torus: throughput, share of what is offered'\n"
          "plot for [p in 'uniform bit-reversal neighbour'] 'curves.csv' using "
          "($1==8 && stringcolumn(2) eq p && $3==1 ? $4 : NaN):6 with linespoints title p\n";
}

}  // namespace
}  // namespace heddle::testing_support

int main(int argc, char** argv) {
  using namespace heddle::testing_support;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  std::ofstream csv;
  if (argc > 1) {
    std::filesystem::create_directories(argv[1]);
    csv.open(std::filesystem::path{argv[1]} / "curves.csv");
    write_plot(argv[1]);
  }
  draw_curves(argc > 1 ? &csv : nullptr);
  run_loop();
  compare_trees();
  return 0;
}
