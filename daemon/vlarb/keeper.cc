#include "vlarb/keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heddle::vlarb {

Keeper::Keeper(transport::TransactionEngine& engine, std::uint64_t m_key, NameOf name_of, PaceOf pace)
    : programmer_{engine, m_key, std::move(pace)}, name_of_{std::move(name_of)} {}

Result<void> Keeper::add(std::vector<Assignment>& assignments, Assignment assignment) {
  if (assignment.ports.all()) assignments.clear();
  std::erase_if(assignments,
                [&](const Assignment& each) { return each.ports.text() == assignment.ports.text(); });
  if (assignments.size() == most_assignments) {
    return fail(ErrorCode::Refused,
                fmt::format("{} plans for sets of ports are kept already: push one for all ports first",
                            most_assignments));
  }
  assignments.push_back(std::move(assignment));
  return {};
}

void Keeper::forget() {
  assignments_.clear();
  drift_.clear();
  silent_.clear();
  shortfalls_.clear();
  ports_ = 0;
  verified_.reset();
}

Result<void> Keeper::write(std::shared_ptr<const Survey> survey, std::vector<Assignment> assignments,
                           Instant now, Done done) {
  auto targets = std::make_shared<Targets>(targets_of(*survey, assignments, name_of_));
  return take({Purpose::Write, std::move(survey), std::move(targets), std::move(done)}, now);
}

Result<void> Keeper::check(std::shared_ptr<const Survey> survey, std::vector<Assignment> assignments,
                           Instant now, Done done) {
  auto targets = std::make_shared<Targets>(targets_of(*survey, assignments, name_of_));
  return take({Purpose::Look, std::move(survey), std::move(targets), std::move(done)}, now);
}

Result<void> Keeper::verify(std::shared_ptr<const Survey> survey, Instant now, Done done) {
  auto targets = std::make_shared<Targets>(targets_of(*survey, assignments_, name_of_));
  return take({Purpose::Verify, std::move(survey), std::move(targets), std::move(done)}, now);
}

void Keeper::note(const Survey& survey) {
  std::erase_if(returning_,
                [&](const PortRef& port) { return survey.fabric->find_node(port.node) == no_node; });
  for (const SurveyNode& node : survey.nodes) {
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const SurveyPort& port = node.ports[p];
      if (port.known && port.info.state != PortState::Active)
        returning_.insert({node.guid(), PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
}

Result<void> Keeper::reapply(std::shared_ptr<const Survey> after, Instant now, Done done) {
  std::vector<PortRef> back;
  const auto came_back = [&](LinkEnd end) {
    const PortRef port{after->node(end.node).guid(), end.port};
    if (after->port(end).info.state != PortState::Active || !returning_.contains(port)) return false;
    back.push_back(port);
    return true;
  };
  auto targets = std::make_shared<Targets>(targets_of(*after, assignments_, name_of_, came_back));
  for (const PortRef& port : back) returning_.erase(port);
  if (targets->ports.empty()) return {};
  return take({Purpose::Reapply, std::move(after), std::move(targets), std::move(done)}, now);
}

Result<void> Keeper::take(Order order, Instant now) {
  if (orders_.size() >= most_orders)
    return fail(ErrorCode::Conflict, "too many pushes and checks are waiting; ask again in a moment");
  orders_.push_back(std::move(order));
  if (!programmer_.busy()) next(now);
  return {};
}

void Keeper::next(Instant now) {
  if (orders_.empty() || programmer_.busy()) return;
  auto order = std::make_shared<Order>(std::move(orders_.front()));
  orders_.pop_front();
  const bool writes = order->purpose == Purpose::Write || order->purpose == Purpose::Reapply;
  programmer_.run(order->survey, order->targets, writes ? Mode::Write : Mode::Check, now,
                  [this, order](const Report& report) {
                    finished(*order, report);
                    next(report.ended);
                  });
}

void Keeper::finished(const Order& order, const Report& report) {
  if (order.purpose != Purpose::Look && !report.failure) remember(order, report);
  if (order.purpose == Purpose::Reapply) reapplied_ += report.ports_written;
  if (order.done) order.done({report, order.targets->shortfalls});
}

/// What was looked at is known anew; of a verify, that is everything.
void Keeper::remember(const Order& order, const Report& report) {
  if (order.purpose == Purpose::Verify) {
    drift_.clear();
    silent_.clear();
    shortfalls_ = order.targets->shortfalls;
    ports_ = report.ports;
    verified_ = report.ended;
  } else {
    for (const Target& target : order.targets->ports) {
      const PortRef port{order.survey->node(target.end.node).guid(), target.end.port};
      drift_.erase(port);
      silent_.erase(port);
    }
  }
  for (const Finding& finding : report.differ) drift_[finding.port] = finding.text;
  for (const Finding& finding : report.silent) silent_[finding.port] = finding.text;
}

}  // namespace heddle::vlarb
