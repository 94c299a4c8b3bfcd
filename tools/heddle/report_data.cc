#include "heddle/report_data.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/json_access.h"
#include "heddle/prometheus_client.h"
#include "heddle/report_places.h"
#include "heddle/table.h"

namespace heddle::cli {
namespace {

using boost::json::value;

constexpr std::size_t most_slices = 30;
constexpr std::size_t profiled_links = 8;
constexpr double profile_points = 240;

/// Adds the differences of a frame (docs/api.md, "For the page") to a column.
bool add_differences(std::vector<double>& column, std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto take = [&]() -> std::optional<std::uint64_t> {
    std::uint64_t number = 0;
    for (unsigned shift = 0; !text.empty() && shift < 60; shift += 5) {
      const auto digit = digits.find(text.front());
      if (digit == std::string_view::npos) return std::nullopt;
      text.remove_prefix(1);
      number |= (digit & 31U) << shift;
      if (digit < 32) return number;
    }
    return std::nullopt;
  };
  for (std::size_t index = 0; !text.empty();) {
    const auto gap = take();
    const auto code = gap ? take() : std::nullopt;
    if (!code || *gap >= column.size() - index) return false;
    index += *gap;
    const std::uint64_t size = *code >> 1U;
    const auto half = static_cast<double>(size);
    column[index] += *code % 2 == 0 ? half : -(half + 1);
  }
  return true;
}

void read_topology(const value& topology, ReportData& data) {
  const auto& names = array_at(topology, "nodes.name");
  const auto& guids = array_at(topology, "nodes.guid");
  const std::string types = text_at(topology, "nodes.type");
  for (std::size_t i = 0; i < std::min({names.size(), guids.size(), types.size()}); ++i)
    data.nodes.push_back({text_at(names[i], ""), text_at(guids[i], ""), types[i]});
  const auto& a = array_at(topology, "links.a");
  const auto& b = array_at(topology, "links.b");
  const auto& a_port = array_at(topology, "links.a_port");
  const auto& b_port = array_at(topology, "links.b_port");
  const auto& rate = array_at(topology, "links.rate");
  const auto& rates = array_at(topology, "rates");
  for (std::size_t i = 0; i < std::min({a.size(), b.size(), a_port.size(), b_port.size(), rate.size()});
       ++i) {
    ReportLink link;
    link.a = static_cast<std::size_t>(count_at(a[i], ""));
    link.b = static_cast<std::size_t>(count_at(b[i], ""));
    const auto kind = static_cast<std::size_t>(count_at(rate[i], ""));
    if (link.a >= data.nodes.size() || link.b >= data.nodes.size() || kind >= rates.size()) continue;
    link.port = static_cast<int>(count_at(a_port[i], ""));
    link.guid = data.nodes[link.a].guid;
    link.name = fmt::format("{}/{} -- {}/{}", data.nodes[link.a].name, link.port, data.nodes[link.b].name,
                            count_at(b_port[i], ""));
    link.rate = text_at(rates[kind], "width") + text_at(rates[kind], "speed");
    data.links.push_back(std::move(link));
  }
}

double larger(double most, double figure) { return std::isnan(most) ? figure : std::fmax(most, figure); }

/// Means and peaks of the sweeps that the daemon keeps.
Result<void> read_ring(const Client& client, double last, ReportData& data) {
  const auto times = client.get("/v1/page/times");
  if (!times) return fail(times.error());
  std::vector<double> kept;
  for (const auto& at : array_at(*times, "times")) kept.push_back(number_at(at, ""));
  if (kept.empty()) return fail(ErrorCode::Unreachable, "heddled has no complete sweep yet; try in a moment");
  std::erase_if(kept, [&, newest = kept.back()](double at) { return at < newest - last; });
  const std::size_t step = std::max<std::size_t>(1, (kept.size() + most_slices - 1) / most_slices);
  std::vector<double> sum(2 * data.links.size());
  std::vector<std::size_t> number(2 * data.links.size());
  for (std::size_t i = (kept.size() - 1) % step; i < kept.size(); i += step) {
    const auto slice = client.get(fmt::format("/v1/page/slice?at={:.3f}", kept[i]));
    if (!slice) return fail(slice.error());
    std::vector<double> utilization(2 * data.links.size(), -1);
    std::vector<double> congestion(2 * data.links.size(), -1);
    if (!add_differences(utilization, text_at(*slice, "utilization")) ||
        !add_differences(congestion, text_at(*slice, "congestion"))) {
      return fail(ErrorCode::Conflict, "the fabric has changed while the report was made; try again");
    }
    for (std::size_t d = 0; d < utilization.size(); ++d) {
      ReportLink& link = data.links[d / 2];
      DirectionFigures& figures = d % 2 == 0 ? link.out : link.in;
      if (congestion[d] >= 0) figures.wait = larger(figures.wait, congestion[d] / 1000);
      if (utilization[d] < 0) continue;
      figures.most = larger(figures.most, utilization[d] / 1000);
      sum[d] += utilization[d] / 1000;
      figures.mean = sum[d] / static_cast<double>(++number[d]);
    }
  }
  data.source = fmt::format("heddled's own history: the last {}", human_seconds(kept.back() - kept.front()));
  return {};
}

/// A port as Prometheus has it: of a switch, GUID and number. The GUID there is the port's own in a channel
/// adapter, of which only the name is known here.
using PortKey = std::pair<std::string, std::string>;

Result<std::map<PortKey, double>> by_port(const PrometheusClient& prometheus, const std::string& expression) {
  const auto series = prometheus.query(expression);
  if (!series) return fail(series.error());
  std::map<PortKey, double> figures;
  for (const auto& one : *series) {
    const auto& pair = array_at(one, "value");
    if (pair.size() != 2) continue;
    const double figure = std::strtod(text_at(pair[1], "").c_str(), nullptr);
    for (const char* by : {"metric.guid", "metric.node"})
      figures.try_emplace({text_at(one, by), text_at(one, "metric.port")}, figure);
  }
  return figures;
}

const std::string& key_of(const ReportNode& node) { return node.type == 's' ? node.guid : node.name; }
PortKey own_end(const ReportData& data, const ReportLink& link) {
  return {key_of(data.nodes[link.a]), std::to_string(link.port)};
}
PortKey other_end(const ReportData& data, const ReportLink& link) {
  return {key_of(data.nodes[link.b]), link.name.substr(link.name.rfind('/') + 1)};
}

Result<void> read_prometheus(const PrometheusClient& prometheus, double last, ReportData& data) {
  const auto window = static_cast<long long>(std::max(1.0, last));
  std::array<std::map<PortKey, double>, 3> figures;
  const std::array<std::string, 3> expressions{
      fmt::format("avg_over_time(heddle_link_utilization_ratio[{}s])", window),
      fmt::format("max_over_time(heddle_link_utilization_ratio[{}s])", window),
      fmt::format("max_over_time(heddle_link_congestion_ratio[{}s])", window)};
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    auto got = by_port(prometheus, expressions[i]);
    if (!got) return fail(got.error());
    figures[i] = std::move(*got);
  }
  const auto of = [&](const PortKey& key) {
    DirectionFigures direction;
    const auto find = [&](std::size_t i) {
      const auto it = figures[i].find(key);
      return it == figures[i].end() ? unknown_figure : it->second;
    };
    direction.mean = find(0);
    direction.most = find(1);
    direction.wait = find(2);
    return direction;
  };
  std::size_t known = 0;
  for (ReportLink& link : data.links) {
    link.out = of(own_end(data, link));
    link.in = of(other_end(data, link));
    known += std::isnan(link.mean()) ? 0 : 1;
  }
  if (known == 0) {
    return fail(ErrorCode::Unreachable,
                "Prometheus knows no link of this fabric: does it scrape this heddled's /metrics?");
  }
  data.source = fmt::format("Prometheus: the last {}", human_seconds(last));
  return {};
}

/// Directions of a link with mean utilizations, the busiest links first.
std::vector<std::size_t> by_load(const ReportData& data) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < data.links.size(); ++i) {
    if (!std::isnan(data.links[i].mean())) order.push_back(i);
  }
  std::ranges::stable_sort(
      order, [&](std::size_t x, std::size_t y) { return data.links[x].mean() > data.links[y].mean(); });
  return order;
}

/// A string of PromQL.
std::string promql_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

const char* label_of(const ReportNode& node) { return node.type == 's' ? "guid" : "node"; }

std::string selector(const ReportNode& node, const PortKey& key) {
  return fmt::format(R"(heddle_link_utilization_ratio{{{}={},port={}}})", label_of(node),
                     promql_string(key.first), promql_string(key.second));
}

/// Of one direction, by time.
std::map<double, double> figures_of(const boost::json::array& series, const ReportNode& node,
                                    const PortKey& key) {
  std::map<double, double> figures;
  for (const auto& one : series) {
    if (text_at(one, fmt::format("metric.{}", label_of(node))) != key.first ||
        text_at(one, "metric.port") != key.second) {
      continue;
    }
    for (const auto& pair : array_at(one, "values")) {
      const auto* two = pair.if_array();
      if (two == nullptr || two->size() != 2) continue;
      figures[number_at((*two)[0], "")] = std::strtod(text_at((*two)[1], "").c_str(), nullptr);
    }
  }
  return figures;
}

/// Both directions at the same times, in seconds before the last of them.
void read_profile(const PrometheusClient& prometheus, const ReportData& data, const ReportLink& link,
                  double last, Profile& profile) {
  const ReportNode& a = data.nodes[link.a];
  const ReportNode& b = data.nodes[link.b];
  const auto series =
      prometheus.range(selector(a, own_end(data, link)) + " or " + selector(b, other_end(data, link)), last,
                       std::max(1.0, last / profile_points));
  if (!series) return;
  const auto out = figures_of(*series, a, own_end(data, link));
  const auto in = figures_of(*series, b, other_end(data, link));
  std::set<double> times;
  for (const auto* direction : {&out, &in}) {
    for (const auto& [at, figure] : *direction) times.insert(at);
  }
  const auto find = [](const std::map<double, double>& figures, double at) {
    const auto it = figures.find(at);
    return it == figures.end() ? unknown_figure : it->second;
  };
  for (const double at : times) {
    profile.at.push_back(at - *times.rbegin());
    profile.out.push_back(find(out, at));
    profile.in.push_back(find(in, at));
  }
}

void read_profiles(const Client& client, const std::optional<PrometheusClient>& prometheus, double last,
                   ReportData& data) {
  const auto order = by_load(data);
  for (std::size_t i = 0; i < std::min(order.size(), profiled_links); ++i) {
    const ReportLink& link = data.links[order[i]];
    Profile profile{link.name, {}, {}, {}};
    if (prometheus) {
      read_profile(*prometheus, data, link, last, profile);
    } else {
      const auto answer = client.get(fmt::format("/v1/profile?name={}%2F{}", link.guid, link.port));
      if (!answer) continue;
      for (const auto& point : array_at(*answer, "out")) {
        profile.at.push_back(number_at(point, "at_seconds"));
        profile.out.push_back(number_at(point, "utilization"));
      }
      for (const auto& point : array_at(*answer, "in")) profile.in.push_back(number_at(point, "utilization"));
      profile.in.resize(profile.out.size(), unknown_figure);
    }
    if (profile.at.empty()) continue;
    for (double& at : profile.at) at -= profile.at.back();
    data.profiles.push_back(std::move(profile));
  }
}

Result<void> read_errors(const Client& client, ReportData& data) {
  const auto answer = client.get("/v1/links?sort=errors&top=200");
  if (!answer) return fail(answer.error());
  std::map<PortKey, long long> errors;
  for (const auto& link : array_at(*answer, "links")) {
    errors[{text_at(link, "a.guid"), std::to_string(count_at(link, "a.port"))}] =
        count_at(link, "a_to_b.errors_total") + count_at(link, "b_to_a.errors_total");
  }
  for (ReportLink& link : data.links) {
    const auto it = errors.find({link.guid, std::to_string(link.port)});
    if (it != errors.end()) link.errors = it->second;
  }
  return {};
}

value optional_answer(const Client& client, const std::string& target) {
  const auto answer = client.get(target);
  return answer ? *answer : value(nullptr);
}

}  // namespace

Result<ReportData> gather_report(const Client& client, double last, const std::string& prometheus) {
  std::optional<PrometheusClient> history;
  if (!prometheus.empty()) {
    auto made = PrometheusClient::at(prometheus);
    if (!made) return fail(made.error());
    history = std::move(*made);
  }
  ReportData data;
  data.made = fmt::format("{:%F %T} UTC", fmt::gmtime(std::time(nullptr)));
  auto status = client.get("/v1/status");
  if (!status) return fail(status.error());
  data.status = std::move(*status);
  const auto topology = client.get("/v1/page/topology");
  if (!topology) return fail(topology.error());
  read_topology(*topology, data);
  place_nodes(*topology, data);
  auto figures = history ? read_prometheus(*history, last, data) : read_ring(client, last, data);
  if (!figures) return fail(figures.error());
  if (auto errors = read_errors(client, data); !errors) return fail(errors.error());
  read_profiles(client, history, last, data);
  data.locality = optional_answer(client, "/v1/locality");
  data.energy = optional_answer(client, "/v1/energy");
  data.regulation = optional_answer(client, "/v1/regulation");
  data.events = optional_answer(client, "/v1/events");
  return data;
}

}  // namespace heddle::cli
