#include "cabling/check.h"

#include <fmt/format.h>

#include <utility>

#include "cabling/devices.h"

namespace heddle::cabling {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// Inside of a chassis, or to the aggregation node of a switch: nobody plugs these.
bool is_internal(const Fabric& fabric, const Link& link) {
  const Node& a = fabric.node(link.a.node);
  const Node& b = fabric.node(link.b.node);
  if (a.aggregation || b.aggregation) return true;
  const auto board_a = board_name(a.description);
  const auto board_b = board_name(b.description);
  return board_a && board_b && board_a->board != 0 && board_b->board != 0 &&
         board_a->system == board_b->system;
}

class Check {
 public:
  Check(const CablePlan& plan, const Fabric& fabric)
      : plan_{plan}, fabric_{fabric}, devices_{fabric}, planned_at_(fabric.ports().size(), none) {}

  Result<CableCheck> run() {
    if (auto placed = place_all(); !placed) return fail(placed.error());
    is_right_.resize(wires_.size());
    for (std::size_t i = 0; i < wires_.size(); ++i) compare(i);
    is_swapped_.resize(wires_.size());
    for (std::size_t i = 0; i < wires_.size(); ++i) follow(i);
    for (std::size_t i = 0; i < wires_.size(); ++i) report(i);
    report_unexpected();
    return std::move(result_);
  }

 private:
  /// A planned cable, placed.
  struct Wire {
    const PlannedCable* cable;
    Place start;
    Place end;
  };

  Result<void> place_all() {
    for (const PlannedCable& cable : plan_.cables) {
      const auto start = devices_.find(cable.start);
      if (!start) return wrong(cable, start.error());
      const auto end = devices_.find(cable.end);
      if (!end) return wrong(cable, end.error());
      const Wire wire{&cable, *start, *end};
      if (start->found() && end->found() && start->end() == end->end()) {
        return wrong(cable,
                     {ErrorCode::Conflict, fmt::format("{}/{} has a cable to itself",
                                                       devices_.name(start->node), start->port.raw())});
      }
      const auto again = said_before(wire);
      if (!again) return fail(again.error());
      if (*again) continue;
      for (const Place& place : {wire.start, wire.end}) {
        if (place.found()) planned_at_[port_of(place)] = wires_.size();
      }
      wires_.push_back(wire);
    }
    result_.planned = wires_.size();
    return {};
  }

  /// Lists often have each cable from both its ends.
  Result<bool> said_before(const Wire& wire) const {
    for (const Place& place : {wire.start, wire.end}) {
      if (!place.found() || planned_at_[port_of(place)] == none) continue;
      const Wire& before = wires_[planned_at_[port_of(place)]];
      if (is_same(before, wire)) return true;
      return wrong(*wire.cable,
                   {ErrorCode::Conflict,
                    fmt::format("{}/{} has a cable to {}{} already", devices_.name(place.node),
                                place.port.raw(), other_end(before, place),
                                before.cable->line == 0 ? std::string{}
                                                        : fmt::format(" in line {}", before.cable->line))});
    }
    return false;
  }

  static bool is_same(const Wire& a, const Wire& b) {
    const auto at = [](const Place& x, const Place& y) {
      return x.found() && y.found() && x.end() == y.end();
    };
    const auto alike = [](const PlannedEnd& x, const PlannedEnd& y) {
      return x.device == y.device && x.port == y.port;
    };
    const auto meet = [&](const Place& x, const PlannedEnd& in_x, const Place& y, const PlannedEnd& in_y) {
      return at(x, y) || (!x.found() && !y.found() && alike(in_x, in_y));
    };
    return (meet(a.start, a.cable->start, b.start, b.cable->start) &&
            meet(a.end, a.cable->end, b.end, b.cable->end)) ||
           (meet(a.start, a.cable->start, b.end, b.cable->end) &&
            meet(a.end, a.cable->end, b.start, b.cable->start));
  }

  [[nodiscard]] std::string other_end(const Wire& wire, const Place& place) const {
    const bool at_start = wire.start.found() && wire.start.end() == place.end();
    return at_start ? cable_end(wire.cable->end, wire.end).text()
                    : cable_end(wire.cable->start, wire.start).text();
  }

  [[nodiscard]] std::size_t port_of(const Place& place) const {
    return fabric_.port_index(place.end()).raw();
  }

  void compare(std::size_t i) {
    const Wire& wire = wires_[i];
    if (!wire.start.found() || !wire.end.found()) return;
    const auto peer = fabric_.peer(wire.start.end());
    if (!peer || *peer != wire.end.end()) return;
    is_right_[i] = true;
    const Link& link = fabric_.link(fabric_.port(wire.start.end()).link);
    const NominalRate real = nominal_rate(link.width, link.speed);
    if (!wire.cable->rate || real.gbit <= 0 || real == *wire.cable->rate) {
      ++result_.as_planned;
      result_.right.push_back(cable_end(wire.cable->start, wire.start));
      return;
    }
    Difference slow = difference(wire);
    slow.expected = to_string(*wire.cable->rate);
    slow.actual = fmt::format("{}{}", to_string(link.width), to_string(link.speed));
    result_.wrong_rate.push_back(std::move(slow));
  }

  /// From a planned cable to the real one in its end's port, to the planned one of the port where that leads,
  /// and on: a circle is an exchange of plugs.
  void follow(std::size_t first) {
    if (is_right_[first] || is_swapped_[first]) return;
    std::vector<std::size_t> seen;
    std::size_t wire = first;
    Place leave = wires_[first].end;
    while (true) {
      seen.push_back(wire);
      if (!leave.found()) return;
      const auto peer = fabric_.peer(leave.end());
      if (!peer) return;
      const std::size_t next = planned_at_[fabric_.port_index(*peer).raw()];
      if (next == none) return;
      const bool at_start = wires_[next].start.found() && wires_[next].start.end() == *peer;
      if (next == first && at_start) break;  // back where it began
      if (seen.size() > wires_.size()) return;
      wire = next;
      leave = at_start ? wires_[next].end : wires_[next].start;
    }
    for (const std::size_t i : seen) is_swapped_[i] = true;
  }

  void report(std::size_t i) {
    if (is_right_[i]) return;
    const Wire& wire = wires_[i];
    Difference found = difference(wire);
    found.expected = found.end.text();
    const Place& there = wire.start.found() ? wire.start : wire.end;
    if (there.found()) {
      if (const auto peer = fabric_.peer(there.end())) found.actual = real_end(*peer).text();
    }
    (is_swapped_[i] ? result_.swapped : result_.missing).push_back(std::move(found));
  }

  void report_unexpected() {
    for (const Link& link : fabric_.links()) {
      const std::size_t a = planned_at_[fabric_.port_index(link.a).raw()];
      const std::size_t b = planned_at_[fabric_.port_index(link.b).raw()];
      if (a != none && a == b && is_right_[a]) continue;
      if (a != none && b != none && is_swapped_[a] && is_swapped_[b]) continue;  // told there
      if (plan_.scope == Scope::Cables && a == none && b == none && is_internal(fabric_, link)) continue;
      Difference extra;
      extra.start = real_end(link.a);
      extra.end = real_end(link.b);
      extra.actual = extra.end.text();
      result_.unexpected.push_back(std::move(extra));
    }
  }

  [[nodiscard]] Difference difference(const Wire& wire) const {
    Difference result;
    result.start = cable_end(wire.cable->start, wire.start);
    result.end = cable_end(wire.cable->end, wire.end);
    result.line = wire.cable->line;
    return result;
  }

  [[nodiscard]] CableEnd cable_end(const PlannedEnd& planned, const Place& place) const {
    if (place.node == no_node) {
      return {planned.device, std::nullopt, std::nullopt, planned.port, planned.location};
    }
    CableEnd end{devices_.name(place.node), fabric_.node(place.node).guid, std::nullopt, planned.port,
                 planned.location};
    if (place.found()) end.number = place.port;
    return end;
  }

  [[nodiscard]] CableEnd real_end(LinkEnd end) const {
    return {devices_.name(end.node), fabric_.node(end.node).guid, end.port, {}, {}};
  }

  [[nodiscard]] tl::unexpected<Error> wrong(const PlannedCable& cable, Error error) const {
    return fail(cable.line == 0 ? plan_.file : fmt::format("{}:{}", plan_.file, cable.line),
                std::move(error));
  }

  const CablePlan& plan_;
  const Fabric& fabric_;
  Devices devices_;
  std::vector<std::size_t> planned_at_;  ///< by PortIndex: the wire that should be in it
  std::vector<Wire> wires_;
  std::vector<bool> is_right_;  ///< by wire: where it should be
  std::vector<bool> is_swapped_;
  CableCheck result_;
};

}  // namespace

std::string CableEnd::text() const {
  return fmt::format("{}/{}", node, number ? std::to_string(number->raw()) : port);
}

bool CableCheck::same() const {
  return missing.empty() && unexpected.empty() && swapped.empty() && wrong_rate.empty();
}

Result<CableCheck> check_cables(const CablePlan& plan, const Fabric& fabric) {
  return Check{plan, fabric}.run();
}

}  // namespace heddle::cabling
