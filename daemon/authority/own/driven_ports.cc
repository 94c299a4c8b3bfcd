#include "authority/own/driven_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/own/survey_change.h"

namespace heddle::provision {

using regulate::LinkOrder;
using regulate::LinkTo;

DrivenPorts::DrivenPorts(transport::TransactionEngine& engine, regulate::FabricSeat& seat,
                         const std::set<LinkRef>& closed, PortRules rules, const LinkDriverOptions& options,
                         LateSets& late_sets)
    : seat_{seat},
      closed_{closed},
      rules_{std::move(rules)},
      driver_{engine, options, late_sets,
              [this](const std::vector<NodeGuid>& nodes, Instant at) { seat_.look_at(nodes, at); }} {
  driver_.tell_of_states(rules_.on_state);
}

void DrivenPorts::run(const std::vector<LinkOrder>& orders, Instant now, Done done) {
  done_ = std::move(done);
  failures_.assign(orders.size(), std::nullopt);
  driven_.clear();
  nodes_.clear();
  const auto survey = seat_.survey();
  std::vector<LinkJob> jobs;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const LinkOrder& order = orders[i];
    const PortRef& other = order.port == order.link.a ? order.link.b : order.link.a;
    const PortIndex near = survey ? survey->fabric->find_port(order.port) : no_port;
    const PortIndex far = survey ? survey->fabric->find_port(other) : no_port;
    // What was cut off with the link is seen when it is back.
    const bool far_is_needed = order.to != LinkTo::On;
    if (near == no_port || (far == no_port && far_is_needed)) {
      failures_[i] = Error{
          ErrorCode::Unreachable,
          fmt::format("{} is not in the fabric at present", to_string(near == no_port ? order.port : other))};
      continue;
    }
    if (rules_.why_not && (failures_[i] = rules_.why_not(order))) continue;
    const auto end = [&](PortIndex port) {
      return LinkEnd{survey->fabric->port(port).node, survey->fabric->port(port).num};
    };
    const auto to = order.to == LinkTo::Off  ? LinkJob::To::Off
                    : order.to == LinkTo::On ? LinkJob::To::On
                                             : LinkJob::To::Reduced;
    jobs.push_back(
        {end(near), far == no_port ? std::nullopt : std::optional{end(far)}, to, order.mode, order.patience});
    driven_.push_back(i);
    nodes_.insert(nodes_.end(), {order.port.node, other.node});
  }
  if (jobs.empty()) return answer({}, now);
  // Our own way to the ports must not end in the middle of it.
  const auto with_routes = with_routes_avoiding(*survey, std::vector(closed_.begin(), closed_.end()));
  const bool closes = std::any_of(driven_.begin(), driven_.end(),
                                  [&](std::size_t order) { return orders[order].to != LinkTo::On; });
  if (closes) {
    // Nor must that of sweeps, and of whatever is under way.
    seat_.take_routes(with_routes);
    if (rules_.on_routes) rules_.on_routes(*with_routes);
  }
  driver_.run(
      with_routes, std::move(jobs), now,
      [this](const std::vector<std::optional<Error>>& failures, Instant at) { answer(failures, at); });
}

void DrivenPorts::tell(There there) {
  driver_.tell([this, there = std::move(there)](const std::vector<std::size_t>& jobs, Instant at) {
    std::vector<std::size_t> orders;
    for (const std::size_t job : jobs) orders.push_back(driven_[job]);
    there(orders, at);
  });
}

void DrivenPorts::call_off(std::size_t order) {
  const auto job = std::find(driven_.begin(), driven_.end(), order);
  if (job != driven_.end()) driver_.call_off(static_cast<std::size_t>(job - driven_.begin()));
}

void DrivenPorts::answer(const std::vector<std::optional<Error>>& failures, Instant now) {
  for (std::size_t i = 0; i < failures.size(); ++i) failures_[driven_[i]] = failures[i];
  if (rules_.on_set && !nodes_.empty()) rules_.on_set(nodes_, now);
  std::exchange(done_, nullptr)(failures_, now);
}

}  // namespace heddle::provision
