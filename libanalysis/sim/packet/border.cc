#include "sim/packet/border.h"

#include <algorithm>
#include <numeric>

#include "sim/packet/levels.h"

namespace heddle::packet {
namespace {

constexpr std::uint8_t in_no_part = 0xff;

/// Gives switches to parts one by one and keeps count of the work, which goes with the number of ports.
class Divider {
 public:
  Divider(const Network& net, unsigned parts)
      : net_{net}, graph_{switch_neighbours(net)}, of_(net.switches.size(), in_no_part), work_(parts) {
    for (const SwitchElement& element : net.switches) all_ += element.ports;
  }

  std::vector<std::uint8_t> divide() {
    divide_leaves();
    while (std::ranges::find(of_, in_no_part) != of_.end()) divide_next();
    return std::move(of_);
  }

 private:
  void give(std::uint32_t at, std::size_t part) {
    of_[at] = static_cast<std::uint8_t>(part);
    work_[part] += net_.switches[at].ports;
  }

  /// Those with hosts in the order of the fabric, which is how generators and plugs place neighbours.
  void divide_leaves() {
    std::vector<bool> leaf(of_.size());
    for (const HostElement& host : net_.hosts) {
      if (host.leaf != nothing) leaf[host.leaf] = true;
    }
    const auto count = static_cast<std::size_t>(std::ranges::count(leaf, true));
    for (std::uint32_t at = 0, seen = 0; at < of_.size(); ++at) {
      if (leaf[at]) give(at, seen++ * work_.size() / count);
    }
  }

  /// Those beside what has been given away; the first of the others where there is none.
  void divide_next() {
    std::vector<std::uint32_t> next;
    for (std::uint32_t at = 0; at < of_.size(); ++at) {
      const auto given = [&](std::uint32_t other) { return of_[other] != in_no_part; };
      if (of_[at] == in_no_part && std::ranges::any_of(graph_[at], given)) next.push_back(at);
    }
    if (next.empty()) {
      const auto first = std::ranges::find(of_, in_no_part) - of_.begin();
      next.push_back(static_cast<std::uint32_t>(first));
    }
    for (const std::uint32_t at : next) give(at, best_part(at));
  }

  /// Where most of its neighbours are, if that part has not its share of the work already; of several the one
  /// with least work.
  [[nodiscard]] std::size_t best_part(std::uint32_t at) const {
    std::vector<std::size_t> neighbours(work_.size());
    for (const std::uint32_t other : graph_[at]) {
      if (of_[other] != in_no_part) ++neighbours[of_[other]];
    }
    const std::size_t share = (all_ + work_.size() - 1) / work_.size();
    const auto value = [&](std::size_t part) {
      const bool full = work_[part] + net_.switches[at].ports > share;
      return std::tuple{!full, full ? 0 : neighbours[part], all_ - work_[part]};
    };
    std::size_t best = 0;
    for (std::size_t part = 1; part < work_.size(); ++part) {
      if (value(part) > value(best)) best = part;
    }
    return best;
  }

  const Network& net_;
  SwitchGraphLists graph_;
  std::vector<std::uint8_t> of_;
  std::vector<std::size_t> work_;  ///< by part
  std::size_t all_ = 0;
};

}  // namespace

Division divide(const Network& net, unsigned parts) {
  Division made;
  made.parts =
      std::clamp(parts, 1U, std::max(1U, std::min(most_parts, static_cast<unsigned>(net.switches.size()))));
  made.of_switch = Divider{net, made.parts}.divide();
  made.of_port.resize(net.ports.size());
  for (std::size_t id = 0; id < net.ports.size(); ++id) {
    const Port& port = net.ports[id];
    const std::uint32_t at = port.host_side ? net.hosts[port.host].leaf : port.at_switch;
    made.of_port[id] = at == nothing ? 0 : made.of_switch[at];
  }
  return made;
}

/// A packet is routed at the far end after its flight, room comes back after the credit's.
Cycle look_ahead(const DataPlane& plane) {
  const StageDelays& delays = plane.delays;
  return std::min(delays.flight + delays.input + delays.routing, delays.credit);
}

}  // namespace heddle::packet
