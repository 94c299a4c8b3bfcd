// What a set of links saves that is chosen for any traffic at the rates of the hosts (any_traffic.h), and
// what it delivers of patterns that it was not chosen by:
//   regulation_any [--seeds=N] [--loads=0.05,0.1] [--choice | --governor] FABRIC
// By load; every host sends that share of its link. Patterns are those of the day (day_of_loads.h).
// --choice: what it takes to choose, and nothing delivered. --governor: what the longest events take of a
// governor that chooses, takes links away, and then sees the hosts send twice as much.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/source.h"
#include "regulation/any_links.h"
#include "regulation/governor.h"
#include "sim/scenario_player.h"
#include "support/day_of_loads.h"
#include "support/regulated_flows.h"

namespace heddle::testing_support {
namespace {

enum class What { Deliver, Choice, Governor };

struct Arguments {
  std::string fabric;
  What what = What::Deliver;
  unsigned seeds = 1;
  std::vector<double> loads{0.05, 0.08, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40};
};

class Trial {
 public:
  explicit Trial(const Arguments& given)
      : arguments_{given}, fabric_{*assign_lids(*load_fabric(given.fabric).value().fabric, 1)} {
    regulation::NetworkOptions make;
    make.planes = 2;
    for (const Port& port : fabric_->ports()) {
      if (make.managers.empty() && fabric_->node(port.node).type == NodeType::ChannelAdapter &&
          port.lid != no_lid)
        make.managers = {port.lid};
    }
    managers_ = make.managers;
    network_ = *regulation::Network::make(fabric_, make);
    all_ = routing::LinkSet::all(*fabric_);
    modes_ = power::all_on(*fabric_);
    exempt_.assign(fabric_->links().size(), regulation::Exempt::No);
    for (std::uint32_t i = 0; i < exempt_.size(); ++i) {
      if (network_->trunk_of(LinkIndex{i}) == regulation::Network::no_trunk)
        exempt_[i] = regulation::Exempt::HostLink;
    }
  }

  void run() {
    for (const double load : arguments_.loads) {
      if (arguments_.what == What::Governor) {
        govern(load);
        continue;
      }
      const auto loads = at(load);
      regulation::EstimateOptions gravity;
      gravity.passes = 0;
      const auto traffic = regulation::estimate_traffic(*network_, loads, network_->tables(all_), gravity);
      regulation::SelectionProblem problem;
      problem.network = network_.get();
      problem.power = &model_;
      problem.exempt = exempt_;
      problem.available = &all_;
      problem.current = &all_;
      problem.loads = &loads;
      problem.traffic = &traffic;
      regulation::SelectOptions options;
      options.policy = regulation::SelectPolicy::General;
      options.next_plane = 1;
      const std::clock_t began = std::clock();
      regulation::AnyLinks any{problem, options, loads, all_};
      const auto active = any.choose();
      const double took = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
      if (!active) std::abort();
      const double all = watts(all_);
      fmt::print("load {:.2f}: saves {:.1f} %, bound {:.1f} %, {} links off, {:.2f} s;", load,
                 100 * (1 - watts(*active) / all),
                 100 * (1 - regulation::least_power(problem, options).value() / all),
                 all_.count() - active->count(), took);
      if (arguments_.what == What::Deliver) deliver(load, *active);
      fmt::print("\n");
      std::fflush(stdout);
    }
  }

 private:
  regulation::MeasuredLoads at(double load) {
    regulation::MeasuredLoads loads;
    const auto& graph = network_->graph();
    loads.hop.assign(graph.hop_count(), std::numeric_limits<double>::quiet_NaN());
    loads.waiting.assign(graph.hop_count(), 0);
    loads.sent.assign(graph.targets().size(), 0);
    for (const std::uint32_t target : routing::host_targets(graph)) {
      const Port& port = fabric_->port(graph.targets()[target].port);
      loads.sent[target] = load * data_rate(port.width, port.speed).value();
    }
    loads.received = loads.sent;
    return loads;
  }

  /// Hosts' own links tell; of the others nobody knows.
  [[nodiscard]] std::shared_ptr<const load::Sample> sample(double load, Instant began) const {
    auto result = std::make_shared<load::Sample>();
    result->fabric = fabric_;
    result->began = began;
    result->ports.resize(fabric_->ports().size());
    const auto& graph = network_->graph();
    for (const std::uint32_t t : routing::host_targets(graph)) {
      const routing::Target& target = graph.targets()[t];
      const Port& port = fabric_->port(target.port);
      for (const PortIndex end : {target.port, fabric_->port_index(graph.node(target.at), target.out)}) {
        load::PortSample& seen = result->ports[end.raw()];
        seen.xmit_bytes_per_second = static_cast<float>(load * data_rate(port.width, port.speed).value() / 8);
        seen.congestion = 0;
        seen.status = load::PortStatus::Fresh;
      }
    }
    return result;
  }

  /// Processor time of the longest event: while links leave, and when the hosts send twice as much.
  void govern(double load) {
    using std::chrono::seconds;
    regulation::GovernorOptions options;
    options.mode = regulation::Mode::Enforce;
    options.select.policy = regulation::SelectPolicy::General;
    options.chosen_for = regulation::ChosenFor::Any;
    options.power = model_;
    options.queue_looks = 0;
    regulation::Governor governor{options};
    Instant now{};
    double longest = 0;
    double all = 0;
    bool leaves = false;
    std::string_view longest_is;
    const auto tell = [&](const regulation::Event& event) {
      const std::clock_t began = std::clock();
      const auto actions = governor.on(event);
      const double took = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
      if (took > longest) {
        longest = took;
        longest_is = std::holds_alternative<regulation::Tick>(event.what) ? "part of a search" : "a sample";
      }
      all += took;
      for (const regulation::Action& action : actions)
        leaves = leaves || std::holds_alternative<regulation::WriteTables>(action);
    };
    const auto measure = [&](double share) {
      now += seconds{30};
      tell({now, regulation::LoadsMeasured{sample(share, now - seconds{1})}});
      for (auto due = governor.next_deadline(); due && *due <= now; due = governor.next_deadline())
        tell({now, regulation::Tick{}});
    };
    tell({now, regulation::TopologyChanged{fabric_, managers_, network_->ranks_by_guid()}});
    longest = all = 0;
    for (const Instant end = now + 4 * options.quiet; now < end && !leaves;) measure(load);
    const std::size_t off = governor.plan() ? governor.plan()->off.size() : 0;
    fmt::print("load {:.2f}: {} links leave, {:.2f} s the longest event ({}), {:.2f} s all", load, off,
               longest, longest_is, all);
    longest = all = 0;
    measure(2 * load);
    fmt::print("; when hosts send twice as much {:.2f} s ({}), {:.2f} s all\n", longest, longest_is, all);
    std::fflush(stdout);
  }

  [[nodiscard]] double watts(const routing::LinkSet& links) const {
    double sum = 0;
    for (std::uint32_t i = 0; i < fabric_->links().size(); ++i) {
      if (network_->trunk_of(LinkIndex{i}) != regulation::Network::no_trunk && links.contains(LinkIndex{i}))
        sum += model_.link(*fabric_, LinkIndex{i}, modes_[i]).value();
    }
    return sum;
  }

  void deliver(double load, const routing::LinkSet& active) {
    constexpr int patterns = 7;  // of the day
    double sum = 0;
    double sum_all = 0;
    double worst = 0;
    for (unsigned seed = 0; seed < arguments_.seeds; ++seed) {
      for (int i = 0; i < patterns; ++i) {
        sim::Phase phase;
        phase.pattern = test::pattern_of_day(0, i);
        phase.load = load;
        phase.destinations = 16;
        phase.hot = 0.05;
        phase.targets = 8;
        phase.seed = 777000 + 10 * seed + static_cast<std::uint64_t>(i);
        for (const unsigned plane : {0U, 1U}) {
          const double some = delivered(phase, active, plane);
          const double all = delivered(phase, all_, plane);
          sum += some;
          sum_all += all;
          worst = std::max(worst, all - some);
        }
      }
    }
    const double of = 2.0 * patterns * arguments_.seeds;
    fmt::print(" delivers {:.2f} % (all on {:.2f} %), of one pattern at most {:.2f} points less",
               100 * sum / of, 100 * sum_all / of, 100 * worst);
  }
  double delivered(const sim::Phase& phase, const routing::LinkSet& active, unsigned plane) {
    const TableView view{*fabric_, network_->graph(), network_->tables(active, plane), active, modes_};
    sim::FlowPlane drawn{view};
    sim::ScenarioPlayer player{*fabric_};
    drawn.set_schedule(&player);
    if (!player.add(phase, Picoseconds{0})) std::abort();
    drawn.advance(Picoseconds{0});
    sim::FlowPlane flows{view};
    for (const sim::TrafficId id : drawn.ids()) {
      sim::TrafficFlow flow = drawn.flow(id);
      flow.path_offset = static_cast<std::uint8_t>(plane);
      (void)flows.add(flow, Picoseconds{0});
    }
    const sim::FlowFigures figures = flows.figures(Picoseconds{0});
    return figures.delivered.value() / figures.wanted.value();
  }

  const Arguments& arguments_;
  const power::PowerModel model_{power::shipped_models(), power::Unmatched::Unknown, power::Cable::Aoc};
  std::shared_ptr<const Fabric> fabric_;
  std::vector<Lid> managers_;
  std::unique_ptr<regulation::Network> network_;
  routing::LinkSet all_;
  std::vector<power::LinkMode> modes_;
  std::vector<regulation::Exempt> exempt_;
};

std::vector<double> numbers(std::string_view text) {
  std::vector<double> result;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    result.push_back(std::stod(std::string{text.substr(0, comma)}));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return result;
}

}  // namespace
}  // namespace heddle::testing_support

int main(int argc, char** argv) {
  using namespace heddle::testing_support;
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text.starts_with("--seeds=")) {
      arguments.seeds = static_cast<unsigned>(std::atoi(argv[i] + 8));
    } else if (text.starts_with("--loads=")) {
      arguments.loads = numbers(text.substr(8));
    } else if (text == "--choice") {
      arguments.what = What::Choice;
    } else if (text == "--governor") {
      arguments.what = What::Governor;
    } else if (!text.starts_with('-')) {
      arguments.fabric = text;
    } else {
      fmt::print(stderr, "{}: not an option; see the head of regulation_any.cc\n", text);
      return 2;
    }
  }
  if (const auto found = heddle::load_fabric(arguments.fabric); !found) {
    fmt::print(stderr, "{}\n", found.error().message);
    return 1;
  }
  Trial{arguments}.run();
  return 0;
}
