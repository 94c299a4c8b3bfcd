// Prints the tables of docs/regulation.md: power and throughput of the paper's tori as links are turned off,
// what the governor saves under each pattern, and how near a three-level tree comes to the least.
//   regulation_curves [DIRECTORY]   also writes curves.csv and plot.gp there, of which gnuplot makes the
//                                   figures of docs/figures

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "support/regulated_flows.h"

namespace heddle::testing_support {
namespace {

using regulation::SelectPolicy;

constexpr unsigned random_orders = 20;

void draw_curves(std::ofstream* csv) {
  if (csv != nullptr) *csv << "side,pattern,load,order,links_off,power_w,delivered,least,most\n";
  std::printf(
      "\nfabric pattern load, order in which links leave: links off/power W/throughput %% of what is "
      "offered\n");
  for (const unsigned side : {4U, 8U}) {
    RegulatedFlows site{paper_torus(side), paper_options(SelectPolicy::Trunk)};
    std::vector<Order> random;
    for (unsigned seed = 1; seed <= random_orders; ++seed) random.push_back(at_random(*site.network, seed));
    const std::vector<Order> turns{by_turns(*site.network)};
    for (const Pattern pattern : {Pattern::Uniform, Pattern::BitReversal, Pattern::Neighbour}) {
      for (const double load : {0.5, 1.0}) {
        site.set_traffic(pattern, load);
        for (const auto& [order, orders] : {std::pair{"turns", &turns}, {"random", &random}}) {
          const auto points = curve(site, site.network->trunks().size() / 8, *orders);
          std::printf("%ux%u %s %.1f %s:", side, side, name(pattern), load, order);
          for (const CurvePoint& point : points) {
            std::printf(" %zu/%.0f/%.1f", point.off, point.watts, 100 * point.delivered);
            if (csv == nullptr) continue;
            *csv << side << ',' << name(pattern) << ',' << load << ',' << order << ',' << point.off << ','
                 << point.watts << ',' << point.delivered << ',' << point.least << ',' << point.most << '\n';
          }
          const Line line = fit_line(points);
          std::printf(
              "\n  from %zu off a line: %.2f %%, and %.2f points for every 100 links; R2 %.3f, farthest %.1f "
              "points\n",
              line.from, 100 * line.at_from, 1e4 * line.per_link, line.explained, 100 * line.farthest);
        }
      }
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
  std::ofstream{directory / "plot.gp"} << R"(set terminal svg size 720,420
set datafile separator ','
set key bottom left
set grid
set xlabel 'links off, %'
set xrange [0:75]
rows(side, pattern, load, order) = sprintf( \
  "< awk -F, '$1==%s && $2==\"%s\" && $3==%s && $4==\"%s\"' curves.csv", side, pattern, load, order)
set output 'regulation-power.svg'
set ylabel 'network power, % of all links on'
set yrange [75:100]
plot rows('4', 'uniform', '0.5', 'random') using ($5/1.28):($6/9.53) with linespoints title '4x4 torus', \
     rows('8', 'uniform', '0.5', 'random') using ($5/5.12):($6/38.11) with lines title '8x8 torus'
set output 'regulation-throughput-8x8.svg'
set ylabel 'throughput, % of all links on'
set yrange [50:102]
all(load, pattern) = real(system(sprintf("awk -F, '$1==8 && $2==\"%s\" && $3==%s && $5==0 {print $7; exit}' curves.csv", pattern, load)))
u = all('0.5', 'uniform'); v = all('1', 'uniform'); b = all('0.5', 'bit-reversal'); n = all('1', 'neighbour')
plot rows('8', 'neighbour', '1', 'random') using ($5/5.12):(100*$7/n) with linespoints title 'neighbour, load 1.0', \
     rows('8', 'uniform', '0.5', 'random') using ($5/5.12):(100*$7/u) with linespoints title 'uniform, load 0.5', \
     rows('8', 'uniform', '0.5', 'turns') using ($5/5.12):(100*$7/u) with lines dashtype 2 title 'uniform, load 0.5, by turns', \
     rows('8', 'bit-reversal', '0.5', 'random') using ($5/5.12):(100*$7/b) with linespoints title 'bit reversal, load 0.5', \
     rows('8', 'uniform', '1', 'random') using ($5/5.12):(100*$7/v) with linespoints title 'uniform, load 1.0'
)";
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
