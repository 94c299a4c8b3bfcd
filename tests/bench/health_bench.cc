// Health over a fabric of 8,400 hosts with their switches (50,400 ports): what each sweep of the counters
// costs, with no errors, and with errors at one port in a hundred; and what a survey costs.
//
//   health_bench [GENERATOR]      all figures are CPU time of one core; the goal is 5 ms a sweep

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "bench/cpu_seconds.h"
#include "fabric/generators.h"
#include "health/judge.h"

namespace heddle {
namespace {

std::shared_ptr<const Survey> survey_of(std::shared_ptr<const Fabric> fabric) {
  auto survey = std::make_shared<Survey>();
  for (const Node& node : fabric->nodes()) {
    SurveyNode known;
    known.info.type = node.type;
    known.info.node_guid = node.guid;
    known.description = node.description;
    for (std::uint32_t p = 0; p <= node.port_count; ++p) {
      const Port& port = fabric->port(PortIndex{node.first_port.raw() + p});
      SurveyPort each;
      each.known = true;
      if (port.link != no_link) {
        each.speed = fabric->link(port.link).speed;
        mad::set_width(fabric->link(port.link).width, each.info);
        mad::set_speed(each.speed, each.info);
      }
      known.ports.push_back(each);
    }
    survey->nodes.push_back(std::move(known));
  }
  survey->fabric = std::move(fabric);
  return survey;
}

/// `each`: one port in so many counts an error in every sweep; 0: none does.
void measure(const std::shared_ptr<const Survey>& survey, std::size_t each, const char* what) {
  health::Judge judge;
  double begin = cpu_seconds();
  judge.on_survey(survey, {}, Instant{});
  const double surveying = cpu_seconds() - begin;
  // As the accumulator does, one sample is filled while another one is looked at.
  std::array<load::Sample, 2> samples;
  for (load::Sample& sample : samples) {
    sample.fabric = survey->fabric;
    sample.ports.resize(survey->fabric->ports().size());
    for (load::PortSample& port : sample.ports) {
      port.status = load::PortStatus::Fresh;
      port.known = load::all_counters;
    }
  }
  constexpr int sweeps = 1500;  // two windows at one sweep a second
  double first = 0;             // makes what the others use
  double longest = 0;
  double sum = 0;
  for (int i = 0; i < sweeps; ++i) {
    load::Sample& sample = samples[static_cast<std::size_t>(i) % 2];
    sample.ended = Instant{std::chrono::seconds{i + 1}};
    for (std::size_t p = 0; p < sample.ports.size(); ++p) {
      auto& totals = sample.ports[p].totals;
      const auto traffic = static_cast<std::uint64_t>(i) * 100'000;
      totals[load::at(load::Counter::XmitData)] = totals[load::at(load::Counter::RcvData)] = traffic * 1000;
      totals[load::at(load::Counter::XmitPackets)] = totals[load::at(load::Counter::RcvPackets)] = traffic;
      if (each != 0 && p % each == 0) {
        totals[load::at(load::Counter::SymbolErrors)] = static_cast<std::uint64_t>(i);
      }
    }
    begin = cpu_seconds();
    judge.on_sample(sample);
    const double took = cpu_seconds() - begin;
    if (i == 0) first = took;
    if (i > 0) longest = std::max(longest, took);
    sum += took;
  }
  fmt::print(
      "{:<42} {:>7.2f} ms a sweep, {:>7.2f} ms the first, {:>7.2f} ms the longest, {:>7.2f} ms a survey; {} "
      "findings\n",
      what, 1e3 * sum / sweeps, 1e3 * first, 1e3 * longest, 1e3 * surveying, judge.report()->findings.size());
}

int run(const std::string& spec) {
  const auto fabric = generate(spec);
  if (!fabric) {
    fmt::print(stderr, "{}\n", fabric.error().message);
    return 2;
  }
  fmt::print("{}: {} links, {} cabled ports\n", spec, (*fabric)->links().size(),
             2 * (*fabric)->links().size());
  const auto survey = survey_of(*fabric);
  measure(survey, 0, "no errors");
  measure(survey, 100, "errors at one port in a hundred");
  return 0;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) { return heddle::run(argc > 1 ? argv[1] : "fattree:hosts=8400,radix=40"); }
