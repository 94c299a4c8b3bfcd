#include "metrics/daemon_families.h"

#include <algorithm>

#include "metrics/family_maker.h"

namespace heddle::metrics {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

void add_sampling(const sampling::SamplerStatistics& s, std::vector<MetricFamily>& all) {
  all.push_back(counter("heddle_sweeps_total", "Sweeps over the counters of all ports", s.sweeps));
  all.push_back(counter(
      "heddle_late_sweeps_total",
      "Intervals at whose beginning no sweep began: the one before took too long, or the daemon was busy",
      s.late_sweeps));
  all.push_back(counter("heddle_readings_total", "Answers with counters of a port", s.readings));
  all.push_back(counter("heddle_failed_readings_total", "Ports that gave no answer in a sweep", s.failures));
  all.push_back(counter("heddle_saturated_readings_total",
                        "Readings in which a 32-bit data or packet counter was full", s.saturated));
  all.push_back(counter("heddle_gap_readings_total", "Readings whose growth could not be told", s.gaps));
  all.push_back(counter("heddle_port_resets_total",
                        "Times that the 32-bit counters of a port were set to zero in time", s.resets));
  all.push_back(counter("heddle_failed_port_resets_total", "Such times without success", s.reset_failures));
}

MetricFamily round_trips(const transport::TransactionStatistics& s) {
  MetricFamily family{
      "heddle_transaction_duration_seconds", "From a request to its answer", MetricType::Histogram, {}};
  prometheus::ClientMetric metric;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i + 1 < s.latency.size(); ++i) {
    below += s.latency[i];
    metric.histogram.bucket.push_back({below, static_cast<double>(std::uint64_t{1} << i) * 1e-6});
  }
  below += s.latency.back();
  metric.histogram.bucket.push_back({below, std::numeric_limits<double>::infinity()});
  metric.histogram.sample_count = below;
  metric.histogram.sample_sum = seconds(s.latency_sum);
  family.metric.push_back(std::move(metric));
  return family;
}

void add_transactions(const DaemonFigures& figures, std::vector<MetricFamily>& all) {
  const transport::TransactionStatistics& s = figures.transactions;
  all.push_back(counter("heddle_mads_sent_total", "MADs sent, repetitions included", s.sent));
  all.push_back(counter("heddle_mads_received_total", "MADs received", s.received));
  const auto outcome = [](const char* name, std::uint64_t value) {
    return LabelledValue{{{"outcome", name}}, static_cast<double>(value)};
  };
  all.push_back(family_of(MetricType::Counter, "heddle_transactions_total", "Requests that came to an end",
                          {outcome("answered", s.answered), outcome("failed", s.failed),
                           outcome("agent_silent", s.failed_fast)}));
  all.push_back(counter("heddle_transaction_retries_total", "Requests sent again", s.retries));
  all.push_back(
      counter("heddle_transaction_timeouts_total", "Attempts without an answer in time", s.timeouts));
  const auto kind = [](const char* name, std::uint64_t value) {
    return LabelledValue{{{"kind", name}}, static_cast<double>(value)};
  };
  all.push_back(family_of(MetricType::Counter, "heddle_odd_mads_total",
                          "MADs that were not the answer that was expected",
                          {kind("unmatched", s.unmatched), kind("wrong", s.wrong), kind("busy", s.busy),
                           kind("unsolicited", s.unsolicited)}));
  all.push_back(counter("heddle_send_errors_total", "MADs that the device refused", s.send_errors));
  all.push_back(
      gauge("heddle_transaction_window", "Requests that may be in the fabric at a time", figures.window));
  all.push_back(round_trips(s));
}

void add_fabric(const Fabric& fabric, std::vector<MetricFamily>& all) {
  double aggregation = 0;
  double routers = 0;
  for (const Node& node : fabric.nodes()) {
    if (node.aggregation) ++aggregation;
    if (node.type == NodeType::Router) ++routers;
  }
  const auto type = [](const char* name, double value) { return LabelledValue{{{"type", name}}, value}; };
  all.push_back(
      family_of(MetricType::Gauge, "heddle_fabric_nodes", "Nodes of the fabric",
                {type("switch", static_cast<double>(fabric.switch_count())),
                 type("channel_adapter", static_cast<double>(fabric.channel_adapter_count()) - aggregation),
                 type("aggregation_node", aggregation), type("router", routers)}));
  all.push_back(
      gauge("heddle_fabric_links", "Cables of the fabric", static_cast<double>(fabric.links().size())));
  const auto active = std::ranges::count(fabric.links(), PortState::Active,
                                         [&](const Link& link) { return fabric.port(link.a).state; });
  all.push_back(
      gauge("heddle_fabric_active_links", "Cables whose ends are Active", static_cast<double>(active)));
}

void add_sample(const load::Sample& sample, std::vector<MetricFamily>& all) {
  all.push_back(gauge("heddle_sweep_duration_seconds", "Of the last sweep, from first MAD to last",
                      seconds(sample.ended - sample.began)));
  all.push_back(gauge("heddle_sweep_missing_ports", "Ports that gave no answer in the last sweep",
                      static_cast<double>(sample.failures.size())));
  all.push_back(
      gauge("heddle_fabric_injected_bytes_per_second", "What all hosts send", sample.total.injected));
  all.push_back(
      gauge("heddle_fabric_delivered_bytes_per_second", "What all hosts receive", sample.total.delivered));
  const auto spread = [&](const char* name, const char* help, float mean, float most) {
    std::vector<LabelledValue> values;
    if (load::is_known(mean)) values.push_back({{{"stat", "mean"}}, mean});
    if (load::is_known(most)) values.push_back({{{"stat", "max"}}, most});
    all.push_back(family_of(MetricType::Gauge, name, help, std::move(values)));
  };
  const load::Figures& links = sample.total.links;
  spread("heddle_fabric_utilization_ratio", "Utilization over all links and directions",
         links.utilization_mean, links.utilization_max);
  spread("heddle_fabric_congestion_ratio", "Congestion over all links and directions", links.congestion_mean,
         links.congestion_max);
  add_fabric(*sample.fabric, all);
}

}  // namespace

std::vector<MetricFamily> daemon_families(const DaemonFigures& figures, const load::Sample* sample) {
  std::vector<MetricFamily> all;
  if (sample != nullptr) {
    const auto since_1970 = std::chrono::duration<double>(figures.at.time_since_epoch()).count();
    all.push_back(gauge("heddle_last_sweep_timestamp_seconds", "When the last sweep ended", since_1970));
    add_sample(*sample, all);
  }
  add_sampling(figures.sampler, all);
  add_transactions(figures, all);
  return all;
}

}  // namespace heddle::metrics
