#include "jobs/report.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/printable.h"

namespace heddle::jobs {

namespace json = boost::json;

namespace {

json::object view_of(const Report& report, std::size_t i, const FabricNames& names) {
  const Job& job = report.jobs[i];
  const JobFigures& figures = report.figures[i];
  json::array unknown;
  for (const std::string& host : figures.unknown_hosts) unknown.emplace_back(printable(host));
  json::array leaves;
  for (const NodeIndex leaf : figures.leaves) leaves.emplace_back(names.node(leaf));
  json::array neighbours;
  for (const auto& each : figures.neighbours) {
    neighbours.emplace_back(json::object{{"job", printable(report.jobs[each.job].id)},
                                         {"user", printable(report.jobs[each.job].user)},
                                         {"bytes_per_second", each.bytes_per_second}});
  }
  json::object view{{"job", printable(job.id)},
                    {"user", printable(job.user)},
                    {"name", printable(job.name)},
                    {"hosts", figures.hosts},
                    {"unknown_hosts", std::move(unknown)},
                    {"leaves", std::move(leaves)},
                    {"injected_bytes_per_second", figures.injected},
                    {"delivered_bytes_per_second", figures.delivered},
                    {"unmeasured_directions", figures.unmeasured},
                    {"leaves_leaf", nullptr},
                    {"leaves_leaf_exact", figures.exact},
                    {"worst_link", nullptr},
                    {"neighbours", std::move(neighbours)}};
  if (figures.leaves_leaf) view["leaves_leaf"] = *figures.leaves_leaf;
  if (figures.worst) {
    const auto peer = report.fabric->peer(*figures.worst);
    view["worst_link"] = {{"from", names.port(*figures.worst)},
                          {"to", peer ? names.port(*peer) : std::string{}},
                          {"utilization", figures.worst_utilization}};
  }
  return view;
}

}  // namespace

Report report(std::shared_ptr<const Fabric> fabric, std::span<const PortLoad> loads, std::vector<Job> jobs) {
  Report made{std::move(fabric), std::move(jobs), {}, {}};
  made.figures = account(*made.fabric, loads, made.jobs);
  made.order.resize(made.jobs.size());
  std::iota(made.order.begin(), made.order.end(), std::size_t{0});
  std::ranges::stable_sort(made.order, std::greater{},
                           [&](std::size_t i) { return made.figures[i].injected; });
  return made;
}

std::vector<PortLoad> loads_in(const load::Sample& sample) {
  std::vector<PortLoad> loads(sample.ports.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const load::PortSample& port = sample.ports[i];
    if (!std::isfinite(port.xmit_bytes_per_second)) continue;
    loads[i] = {port.xmit_bytes_per_second, std::isfinite(port.utilization) ? port.utilization : 0, true};
  }
  return loads;
}

json::object view(const Report& report, std::size_t most, const FabricNames& names) {
  const std::size_t shown = most == 0 ? report.order.size() : std::min(most, report.order.size());
  json::array views;
  for (std::size_t i = 0; i < shown; ++i) views.emplace_back(view_of(report, report.order[i], names));
  return {{"jobs", std::move(views)}, {"left_out", report.order.size() - shown}};
}

}  // namespace heddle::jobs
