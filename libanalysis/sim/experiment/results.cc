#include "sim/experiment/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace heddle::packet {
namespace {

/// Two-sided 95 % quantiles of Student's t for 1, 2, ... degrees of freedom.
constexpr std::array student{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                             2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double throughput(const PointResult& result, const Flow& flow) {
  return static_cast<double>(flow.flits) / static_cast<double>(result.cycles) / result.hosts;
}

double total_flits(const PointResult& result) {
  double sum = 0;
  for (const Flow& flow : result.measurements.by_sl) sum += static_cast<double>(flow.flits);
  return sum;
}

double share(const PointResult& result, const Flow& flow) {
  const double all = total_flits(result);
  return all > 0 ? static_cast<double>(flow.flits) / all : 0;
}

double nanoseconds(const Experiment& experiment, const PointResult& result, double cycles) {
  return cycles * static_cast<double>(experiment.variants[result.point.variant].plane.cycle.count()) / 1000;
}

std::vector<std::uint8_t> levels(const Experiment& experiment) {
  std::vector<std::uint8_t> result;
  for (const ExperimentTraffic& traffic : experiment.traffic) result.push_back(traffic.traffic.sl);
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::string name_of(const Experiment& experiment, std::uint8_t sl) {
  const auto found = std::ranges::find_if(experiment.traffic, [&](const ExperimentTraffic& traffic) {
    return traffic.traffic.sl == sl && !traffic.name.empty();
  });
  return found == experiment.traffic.end() ? fmt::format("SL{}", sl) : found->name;
}

std::string without(std::string_view text, std::string_view unwanted) {
  std::string result;
  for (const char c : text) {
    if (c >= ' ' && unwanted.find(c) == std::string_view::npos) result += c;
  }
  return result;
}
/// A CSV cell or text within gnuplot's quotes; what would end them is left out.
std::string plain(std::string_view text) { return without(text, "\"\\,'"); }
/// Text within JSON's quotes.
std::string in_json(std::string_view text) { return without(text, "\"\\"); }

std::string flow_json(const PointResult& result, const Flow& flow) {
  return fmt::format(R"({{"throughput":{:.6f},"share":{:.6f},"messages":{},"packets":{},"flits":{},)"
                     R"("end_to_end":{{"mean":{:.3f},"p50":{},"p95":{},"p99":{},"max":{}}},)"
                     R"("network":{{"mean":{:.3f},"p50":{},"p95":{},"p99":{},"max":{}}}}})",
                     throughput(result, flow), share(result, flow), flow.messages, flow.packets, flow.flits,
                     flow.end_to_end.mean(), flow.end_to_end.percentile(0.5),
                     flow.end_to_end.percentile(0.95), flow.end_to_end.percentile(0.99),
                     flow.end_to_end.max(), flow.network.mean(), flow.network.percentile(0.5),
                     flow.network.percentile(0.95), flow.network.percentile(0.99), flow.network.max());
}

template <class Flows>
std::string flows_json(const PointResult& result, const Flows& flows) {
  std::string text;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (flows[i].packets == 0) continue;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", i, flow_json(result, flows[i]));
  }
  return text;
}

}  // namespace

Estimate estimate(std::span<const double> values) {
  Estimate result;
  if (values.empty()) return result;
  for (const double value : values) result.mean += value;
  const auto n = static_cast<double>(values.size());
  result.mean /= n;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const std::size_t freedom = values.size() - 1;
  const double t = freedom <= student.size() ? student[freedom - 1] : 1.96;
  result.half_width = t * std::sqrt(squares / (n - 1) / n);
  return result;
}

std::string results_json(const Experiment& experiment, std::span<const PointResult> results) {
  std::string text = fmt::format(
      "{{\"title\":\"{}\",\"fabric\":\"{}\",\"warm_up\":{},\"measure\":{},\"points\":[",
      in_json(experiment.title), in_json(experiment.source), experiment.warm_up, experiment.measure);
  bool first = true;
  for (const PointResult& result : results) {
    const Totals& t = result.totals;
    text += fmt::format(
        "{}\n{{\"variant\":\"{}\",\"load\":{},\"seed\":{},\"hosts\":{},\"injected\":{},\"delivered\":{},"
        "\"broken\":{},"
        "\"unroutable\":{},\"lost\":{},\"discarded\":{},\"in_flight\":{},\"flit_hops\":{}{},"
        "\"links\":{{\"mean\":{:.6f},\"max\":{:.6f},\"stalled\":{:.6f}}},\"sl\":{{{}}},\"vl\":{{{}}}}}",
        first ? "" : ",", in_json(experiment.variants[result.point.variant].name),
        experiment.loads[result.point.load], experiment.seeds[result.point.seed], result.hosts, t.injected,
        t.delivered, t.broken, t.unroutable, t.lost, t.discarded, result.in_flight, t.flit_hops,
        result.workload.empty() ? "" : ",\"traces\":" + result.workload, result.links.mean, result.links.max,
        result.links.stalled, flows_json(result, result.measurements.by_sl),
        flows_json(result, result.measurements.by_vl));
    first = false;
  }
  return text + "\n]}\n";
}

std::string runs_csv(const Experiment& experiment, std::span<const PointResult> results) {
  std::string text =
      "variant,load,seed,sl,name,offered,throughput,share,latency_ns,latency_p99_ns,network_ns,network_p99_"
      "ns\n";
  for (const PointResult& result : results) {
    for (const std::uint8_t sl : levels(experiment)) {
      const Flow& flow = result.measurements.by_sl[sl];
      const auto ns = [&](double cycles) { return nanoseconds(experiment, result, cycles); };
      text += fmt::format(
          "{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.2f},{:.2f},{:.2f},{:.2f}\n",
          plain(experiment.variants[result.point.variant].name), experiment.loads[result.point.load],
          experiment.seeds[result.point.seed], sl, plain(name_of(experiment, sl)),
          static_cast<double>(flow.generated_flits) / static_cast<double>(result.cycles) / result.hosts,
          throughput(result, flow), share(result, flow), ns(flow.end_to_end.mean()),
          ns(static_cast<double>(flow.end_to_end.percentile(0.99))), ns(flow.network.mean()),
          ns(static_cast<double>(flow.network.percentile(0.99))));
    }
  }
  return text;
}

std::string summary_csv(const Experiment& experiment, std::span<const PointResult> results) {
  std::string text =
      "variant,load,sl,name,runs,throughput,throughput_ci,share,share_ci,latency_ns,latency_ci,latency_p99_"
      "ns,"
      "network_ns,network_ci\n";
  for (std::size_t variant = 0; variant < experiment.variants.size(); ++variant) {
    for (std::size_t load = 0; load < experiment.loads.size(); ++load) {
      for (const std::uint8_t sl : levels(experiment)) {
        std::vector<double> rates, shares, latencies, tails, networks;
        for (const PointResult& result : results) {
          if (result.point.variant != variant || result.point.load != load) continue;
          const Flow& flow = result.measurements.by_sl[sl];
          rates.push_back(throughput(result, flow));
          shares.push_back(share(result, flow));
          latencies.push_back(nanoseconds(experiment, result, flow.end_to_end.mean()));
          tails.push_back(
              nanoseconds(experiment, result, static_cast<double>(flow.end_to_end.percentile(0.99))));
          networks.push_back(nanoseconds(experiment, result, flow.network.mean()));
        }
        const Estimate rate = estimate(rates), part = estimate(shares), latency = estimate(latencies),
                       network = estimate(networks);
        text += fmt::format("{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.2f},{:.2f},{:.2f},{:.2f},{:.2f}\n",
                            plain(experiment.variants[variant].name), experiment.loads[load], sl,
                            plain(name_of(experiment, sl)), rates.size(), rate.mean, rate.half_width,
                            part.mean, part.half_width, latency.mean, latency.half_width,
                            estimate(tails).mean, network.mean, network.half_width);
      }
    }
  }
  return text;
}

std::string standstills(const Experiment& experiment, std::span<const PointResult> results) {
  std::string text;
  for (const PointResult& result : results) {
    const bool arrived =
        std::ranges::any_of(result.measurements.by_sl, [](const Flow& flow) { return flow.packets > 0; });
    // A trace says for itself whether it is stuck.
    if (arrived || result.in_flight == 0 || !result.workload.empty()) continue;
    text += fmt::format(
        "{}, load {}, seed {}: nothing arrived in {} measured cycles, and {} packets are under way: "
        "deadlocked? (rings need ring_rule, with the date line a `least` part that holds a packet)\n",
        experiment.variants[result.point.variant].name, experiment.loads[result.point.load],
        experiment.seeds[result.point.seed], result.cycles, result.in_flight);
  }
  return text;
}

std::string gnuplot_script(const Experiment& experiment) {
  struct Figure {
    std::string_view file, label;
    int column, interval;
  };
  constexpr std::array figures{Figure{"throughput", "Throughput (flits/cycle/NIC)", 6, 7},
                               Figure{"share", "Share of all throughput", 8, 9},
                               Figure{"latency", "End-to-end latency (ns)", 10, 11},
                               Figure{"network", "Network latency (ns)", 13, 14}};
  std::string text =
      "set datafile separator ','\nset terminal svg size 720,420 dynamic\nset key outside right\nset grid\n"
      "set xlabel 'Load'\n";
  text += fmt::format("set title '{}' noenhanced\n", plain(experiment.title));
  for (const Figure& figure : figures) {
    text += fmt::format("set output '{}.svg'\nset ylabel '{}'\n{}set logscale y\nplot ", figure.file,
                        figure.label, figure.column >= 10 ? "" : "un");
    bool first = true;
    for (const ExperimentVariant& variant : experiment.variants) {
      for (const std::uint8_t sl : levels(experiment)) {
        text += fmt::format(
            "{}'summary.csv' using (strcol(1) eq '{}' && $3 == {} ? $2 : NaN):{}:{} with yerrorlines title "
            "'{} {}' "
            "noenhanced",
            first ? "" : ", \\\n  ", plain(variant.name), sl, figure.column, figure.interval,
            plain(variant.name), plain(name_of(experiment, sl)));
        first = false;
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace heddle::packet
