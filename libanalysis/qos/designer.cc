#include "qos/designer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "qos/arrange.h"
#include "qos/refusal.h"
#include "qos/sharing.h"

namespace heddle::qos {
namespace {

Result<void> check_port(const DesignRequest& request) {
  const auto& port = request.port;
  const auto refuse = [](const std::string& what) { return fail(ErrorCode::Invalid, "port: " + what); };
  if (port.high_entries == 0 || port.high_entries > max_entries) {
    return refuse(fmt::format("high_entries {}: give 1 to 64", port.high_entries));
  }
  if (port.low_entries > max_entries)
    return refuse(fmt::format("low_entries {}: give 0 to 64", port.low_entries));
  if (port.mtu < weight_unit_bytes || port.mtu > 16384 || port.mtu % weight_unit_bytes != 0) {
    return refuse(fmt::format("mtu {}: give a multiple of 64 from 64 to 16384", port.mtu));
  }
  if (!(port.rate.value() > 0)) return refuse("rate: give more than 0");
  if (port.data_vls == 0 || port.data_vls > max_data_vls) {
    return refuse(fmt::format("vls {}: give 1 to 15", port.data_vls));
  }
  if (request.rounding == Rounding::Deficit && port.mtu > 255 * weight_unit_bytes) {
    return refuse("mtu: an entry's weight does not hold one packet, which rounding by deficit needs");
  }
  return {};
}

Result<void> check_sls(const DesignRequest& request) {
  double sum = 0;
  std::array<bool, sl_count> seen{};
  std::size_t high = 0;
  for (const auto& each : request.sls) {
    const unsigned sl = each.sl.raw();
    const auto refuse = [&](const std::string& what) {
      return fail(ErrorCode::Invalid, fmt::format("SL {}: {}", sl, what));
    };
    if (sl >= sl_count) return refuse("there are SLs 0 to 15");
    if (seen[sl]) return refuse("named twice");
    seen[sl] = true;
    if (!(each.share > 0 && each.share <= 1))
      return refuse(fmt::format("share {}: give more than 0, at most 1", each.share));
    if (each.latency_ns && !(*each.latency_ns > 0)) return refuse("latency_ns: give more than 0");
    if (each.distance && *each.distance == 0) return refuse("distance: give 1 or more");
    high += each.priority == Priority::High ? 1 : 0;
    sum += each.share;
  }
  if (request.sls.empty()) return fail(ErrorCode::Invalid, "no SL: give at least one");
  if (std::abs(sum - 1) > 1e-6) {
    return fail(ErrorCode::Invalid, fmt::format("the shares sum to {:.6g}: they must sum to 1", sum));
  }
  if (high == 0) return fail(ErrorCode::Invalid, "no SL has high priority: the high table must not be empty");
  if (!(request.error > 0 && request.error <= 1)) {
    return fail(ErrorCode::Invalid, fmt::format("error {}: give more than 0, at most 1", request.error));
  }
  return {};
}

ArrangeProblem to_problem(const DesignRequest& request, const std::vector<SharedVl>& vls) {
  ArrangeProblem problem;
  problem.rounding = request.rounding;
  problem.packet_bytes = request.rounding == Rounding::Units ? weight_unit_bytes : request.port.mtu;
  auto& shares = problem.shares;
  const std::uint32_t largest = 255 * weight_unit_bytes;
  shares.entry_packets = largest / problem.packet_bytes;
  if (request.rounding == Rounding::Up && largest % problem.packet_bytes != 0) ++shares.entry_packets;
  shares.high_entries = request.port.high_entries;
  shares.low_entries = request.port.low_entries;
  shares.grant = request.grant;
  shares.effort = request.effort;
  const double sum = std::accumulate(vls.begin(), vls.end(), 0.0,
                                     [](double a, const auto& vl) { return a + vl.together.share; });
  for (const auto& vl : vls) {
    const SlRequest& sl = vl.together;
    (sl.priority == Priority::High ? shares.high : shares.low).push_back(sl.share / sum);
    ClassGoal goal;
    if (sl.distance) goal.distance = *sl.distance;
    if (sl.latency_ns) {
      goal.wait_bytes =
          static_cast<std::uint64_t>(std::min(1e15, *sl.latency_ns * request.port.rate.value() / 8e9));
    }
    problem.goals.push_back(goal);
  }
  for (unsigned limit = 0; limit <= std::min<unsigned>(request.largest_limit, 254); ++limit) {
    const std::uint32_t bytes = limit * limit_unit_bytes;
    const std::uint32_t packets = limit == 0 ? 1 : (bytes + problem.packet_bytes - 1) / problem.packet_bytes;
    // Limits below one packet are all alike.
    if (!shares.strides.empty() && shares.strides.back().packets == packets) continue;
    shares.strides.push_back({HighLimit{static_cast<std::uint8_t>(limit)}, packets});
  }
  return problem;
}

Design to_design(const DesignRequest& request, const std::vector<SharedVl>& vls, const Solution& solution) {
  Design out;
  out.tables = solution.best->tables;
  out.largest_distance = solution.best->distance;
  out.proof.least_error = solution.least_error;
  out.proof.least_distance = solution.least_distance;
  out.proof.distance_bound = solution.distance_bound;
  std::size_t others = vls.size() - 1;
  for (std::size_t i = vls.size(); i-- > 0;) {
    if (vls[i].together.priority == Priority::Low) others = i;
  }
  out.map.vl.fill(Vl{static_cast<std::uint8_t>(others)});
  for (std::size_t i = 0; i < vls.size(); ++i) {
    const auto& service = solution.best->analysis.vls[i];
    for (const SlRequest& member : vls[i].members) {
      SlService each{member, service.vl, vls[i].together.share, service, {}};
      if (service.wait_bytes)
        each.wait_ns = static_cast<double>(*service.wait_bytes) * 8e9 / request.port.rate.value();
      out.map.vl[member.sl.raw()] = service.vl;
      out.sls.push_back(each);
    }
    out.largest_error = std::max(out.largest_error, std::abs(service.share.value() - vls[i].together.share));
  }
  return out;
}

}  // namespace

Result<Design> design(const DesignRequest& request) {
  if (auto good = check_port(request); !good) return fail(good.error());
  if (auto good = check_sls(request); !good) return fail(good.error());
  const auto vls = share_vls(request.sls, request.port);
  if (!vls) return fail(vls.error());
  const auto problem = to_problem(request, *vls);
  const Solution solution = solve(problem, request.error);
  if (!solution.best) return fail(refusal(problem, *vls, request));
  return to_design(request, *vls, solution);
}

}  // namespace heddle::qos
