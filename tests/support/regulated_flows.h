/// The paper's experiments at flow level: a fabric of programmed tables with flows on it, regulated by the
/// governor, which has its orders carried out at once. For the test that asserts the shapes of the curves and
/// the program that draws them.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "fabric/generators.h"
#include "regulation/governor.h"
#include "routing/quality.h"
#include "sim/flow/flow_plane.h"

namespace heddle::testing_support {

/// Tables over a set of links, as the flow plane asks for them. One VL; everything but those links is up.
class TableView final : public sim::ForwardingView {
 public:
  TableView(const Fabric& fabric, const routing::SwitchGraph& graph, const routing::ForwardingTables& tables,
            const routing::LinkSet& up, const std::vector<power::LinkMode>& modes)
      : fabric_{fabric}, graph_{graph}, tables_{tables}, up_{up}, modes_{modes} {}

  [[nodiscard]] const Fabric& description() const override { return fabric_; }
  [[nodiscard]] bool forwards(PortIndex port) const override {
    const LinkIndex link = fabric_.port(port).link;
    return link != no_link && up_.contains(link);
  }
  [[nodiscard]] BitRate rate(PortIndex port) const override {
    const LinkIndex link = fabric_.port(port).link;
    if (link == no_link) return BitRate{};
    return data_rate(modes_[link.raw()].width, modes_[link.raw()].speed);
  }
  [[nodiscard]] Lid lid(PortIndex end_port) const override { return fabric_.port(end_port).lid; }
  [[nodiscard]] PortIndex port_of(Lid lid) const override { return fabric_.find_port(lid); }
  [[nodiscard]] PortNum output(NodeIndex node, Lid lid) const override {
    return tables_.port(graph_.find(node), lid);
  }
  [[nodiscard]] Vl vl(NodeIndex, PortNum, PortNum, Sl) const override { return Vl{0}; }
  [[nodiscard]] qos::VlArbitration arbitration(PortIndex) const override { return {}; }

 private:
  const Fabric& fabric_;
  const routing::SwitchGraph& graph_;
  const routing::ForwardingTables& tables_;
  const routing::LinkSet& up_;
  const std::vector<power::LinkMode>& modes_;
};

enum class Pattern : std::uint8_t { Uniform, BitReversal, Neighbour };
[[nodiscard]] inline const char* name(Pattern pattern) {
  return pattern == Pattern::Uniform     ? "uniform"
         : pattern == Pattern::Neighbour ? "neighbour"
                                         : "bit-reversal";
}

/// Each host sends this share of its link. Precondition for bit reversal: hosts are a power of two.
[[nodiscard]] inline std::vector<regulation::HostFlow> flows_of(Pattern pattern, std::uint32_t hosts,
                                                                double rate) {
  std::vector<regulation::HostFlow> flows;
  for (std::uint32_t s = 0; s < hosts; ++s) {
    if (pattern == Pattern::Uniform) {
      for (std::uint32_t d = 0; d < hosts; ++d) {
        if (s != d) flows.push_back({s, d, rate / (hosts - 1)});
      }
      continue;
    }
    std::uint32_t d = (s + 1) % hosts;
    if (pattern == Pattern::BitReversal) {
      d = 0;
      for (std::uint32_t bit = 1, mirror = hosts / 2; bit < hosts; bit *= 2, mirror /= 2) {
        if ((s & bit) != 0) d |= mirror;
      }
    }
    if (s != d) flows.push_back({s, d, rate});
  }
  return flows;
}

/// What the flows come to over one set of tables.
struct Delivery {
  double wanted = 0;     ///< bit/s
  double delivered = 0;  ///< bit/s
  std::size_t lost_flows = 0;
  std::vector<double> sent;  ///< bit/s, by PortIndex
  std::vector<double> waiting;
};

class RegulatedFlows {
 public:
  RegulatedFlows(const std::string& spec, regulation::GovernorOptions given)
      : fabric{*assign_lids(**generate(spec), 1)}, options{std::move(given)}, governor{options} {
    regulation::NetworkOptions make;
    make.planes = 2;
    network = *regulation::Network::make(fabric, make);
    up = tables[0] = tables[1] = routing::LinkSet::all(*fabric);
    modes = power::all_on(*fabric);
  }

  [[nodiscard]] std::uint32_t hosts() const {
    return static_cast<std::uint32_t>(network->graph().host_count());
  }
  /// bit/s of a host's link.
  [[nodiscard]] double link_rate() const { return network->capacity(LinkIndex{0}); }
  void set_traffic(Pattern pattern, double load) {
    flows = flows_of(pattern, hosts(), load * link_rate());
    latest_.reset();
  }

  [[nodiscard]] Delivery deliver(const routing::LinkSet& active, unsigned in_plane) {
    const auto& forwarding = network->tables(active, in_plane);
    const TableView view{*fabric, network->graph(), forwarding, up, modes};
    sim::FlowPlane plane_of_flows{view};
    const auto targets = routing::host_targets(network->graph());
    for (const regulation::HostFlow& flow : flows) {
      sim::TrafficFlow traffic;
      traffic.from = network->graph().targets()[targets[flow.from]].port;
      traffic.to = network->graph().targets()[targets[flow.to]].port;
      traffic.demand = BitRate{flow.rate};
      traffic.path_offset = static_cast<std::uint8_t>(in_plane);
      (void)plane_of_flows.add(traffic, Picoseconds{0});
    }
    const sim::FlowFigures figures = plane_of_flows.figures(Picoseconds{0});
    Delivery result{figures.wanted.value(),
                    figures.delivered.value(),
                    figures.unroutable + figures.into_off_link,
                    {},
                    {}};
    for (std::uint32_t p = 0; p < fabric->ports().size(); ++p) {
      const bool cabled = fabric->ports()[p].link != no_link;
      result.sent.push_back(cabled ? plane_of_flows.sent(PortIndex{p}, Picoseconds{0}).value() : 0);
      result.waiting.push_back(cabled ? plane_of_flows.waiting(PortIndex{p}, Picoseconds{0}).value() : 0);
    }
    return result;
  }
  /// Over the tables in force.
  [[nodiscard]] const Delivery& now() {
    if (!latest_) latest_ = deliver(tables[plane], plane);
    return *latest_;
  }

  /// bit/s in the plane in use, if every link were on.
  [[nodiscard]] double delivered_with_all_on() {
    const routing::LinkSet kept = up;
    const auto kept_modes = modes;
    modes = power::all_on(*fabric);
    up = routing::LinkSet::all(*fabric);
    const double result = deliver(up, plane).delivered;
    up = kept;
    modes = kept_modes;
    return result;
  }

  [[nodiscard]] Watts power() const {
    std::vector<power::LinkMode> drawn = modes;
    for (std::uint32_t i = 0; i < drawn.size(); ++i) {
      if (!up.contains(LinkIndex{i})) drawn[i] = power::off_mode;
    }
    return power::watts(options.power, *fabric, drawn);
  }
  [[nodiscard]] std::size_t off() const { return fabric->links().size() - up.count(); }

  /// With a sample every 20 s.
  void settle(std::chrono::minutes how_long = std::chrono::minutes{90}) {
    if (!governor.reference()) {
      Lid manager;
      for (const auto& target : network->graph().targets()) {
        if (target.kind == routing::TargetKind::Host && manager == no_lid) manager = target.base;
      }
      tell(regulation::TopologyChanged{fabric, {manager}, network->ranks_by_guid()});
    }
    for (const Instant end = time_ + how_long; time_ < end;) {
      const Instant next = time_ + std::chrono::seconds{20};
      while (governor.next_deadline() && *governor.next_deadline() < next) {
        time_ = std::max(time_, *governor.next_deadline());
        tell(regulation::Tick{});
      }
      time_ = next;
      tell(regulation::LoadsMeasured{sample()});
    }
  }

  std::shared_ptr<const Fabric> fabric;
  regulation::GovernorOptions options;
  regulation::Governor governor;
  std::unique_ptr<regulation::Network> network;
  std::vector<regulation::HostFlow> flows;
  routing::LinkSet up;
  std::vector<power::LinkMode> modes;  ///< of what is up
  routing::LinkSet tables[2];
  unsigned plane = 0;
  std::size_t into_off = 0;  ///< flows that ever met a link that was off
  std::size_t transitions = 0;

 private:
  [[nodiscard]] std::shared_ptr<const load::Sample> sample() {
    auto result = std::make_shared<load::Sample>();
    result->fabric = fabric;
    result->began = time_;
    result->ports.resize(fabric->ports().size());
    const Delivery& delivery = now();
    into_off += delivery.lost_flows;
    for (std::size_t p = 0; p < delivery.sent.size(); ++p) {
      result->ports[p].xmit_bytes_per_second = static_cast<float>(delivery.sent[p] / 8);
      result->ports[p].congestion = static_cast<float>(delivery.waiting[p]);
    }
    return result;
  }

  template <class What>
  void tell(What what) {
    std::vector<regulation::Action> todo = governor.on({time_, std::move(what)});
    for (std::size_t i = 0; i < todo.size(); ++i) {
      const regulation::Action action = todo[i];
      std::optional<regulation::StepId> step;
      if (const auto* write = std::get_if<regulation::WriteTables>(&action)) {
        step = write->step;
        for (unsigned p = 0; p < 2; ++p) {
          if (!write->plane || *write->plane == p) tables[p] = write->active;
        }
      } else if (const auto* migrate = std::get_if<regulation::Migrate>(&action)) {
        step = migrate->step;
        plane = migrate->plane;
      } else if (const auto* ports = std::get_if<regulation::SetPorts>(&action)) {
        step = ports->step;
        for (const regulation::PortOrder& order : ports->ports) {
          const LinkIndex link = fabric->port(fabric->find_port(order.link.a)).link;
          ++transitions;
          if (order.mode.on()) {
            modes[link.raw()] = order.mode;
            up.insert(link);
          } else {
            up.erase(link);
          }
        }
      }
      if (const auto* look = std::get_if<regulation::LookAtQueues>(&action)) {
        const auto then = governor.on({time_, regulation::QueuesSeen{look->step, {}}});
        todo.insert(todo.end(), then.begin(), then.end());
      }
      if (!step) continue;
      latest_.reset();
      const auto more = governor.on({time_, regulation::StepDone{*step}});
      todo.insert(todo.end(), more.begin(), more.end());
    }
  }

  Instant time_{};
  std::optional<Delivery> latest_;
};

[[nodiscard]] inline std::string paper_torus(unsigned side) {
  return "torus:" + std::to_string(side) + "x" + std::to_string(side) + ",hosts=1,links=4,speed=DDR,ports=24";
}

[[nodiscard]] inline regulation::GovernorOptions paper_options(regulation::SelectPolicy policy) {
  regulation::GovernorOptions options;
  options.mode = regulation::Mode::Enforce;
  options.select.policy = policy;
  options.first_closing = options.most_closing = 64;
  options.plan_every = std::chrono::minutes{2};
  options.select.thresholds = {Ratio{0.39}, Ratio{0.8}};
  options.quiet = std::chrono::minutes{2};
  options.least_on = std::chrono::minutes{2};
  return options;
}

/// Links that stay on may run in 1x or 4x SDR.
[[nodiscard]] inline regulation::GovernorOptions with_reduction(regulation::GovernorOptions options) {
  options.select.reductions = {{LinkWidth::X4, LinkSpeed::Sdr}, {LinkWidth::X1, LinkSpeed::Sdr}};
  return options;
}

/// Orders in which links leave, until one of each trunk is left.
using Order = std::vector<LinkIndex>;
/// One of every trunk, then a second of every trunk, and so on.
[[nodiscard]] inline Order by_turns(const regulation::Network& network) {
  Order order;
  std::size_t longest = 0;
  for (const auto& trunk : network.trunks()) longest = std::max(longest, trunk.links.size());
  for (std::size_t nth = 1; nth < longest; ++nth) {
    for (const regulation::Trunk& trunk : network.trunks()) {
      if (nth < trunk.links.size()) order.push_back(trunk.links[trunk.links.size() - nth]);
    }
  }
  return order;
}
/// Any link that is not the last of its trunk may be next.
[[nodiscard]] inline Order at_random(const regulation::Network& network, std::uint64_t seed) {
  Random random{seed};
  Order all;
  std::vector<std::size_t> left;
  for (const regulation::Trunk& trunk : network.trunks()) {
    all.insert(all.end(), trunk.links.begin(), trunk.links.end());
    left.push_back(trunk.links.size());
  }
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  std::erase_if(all, [&](LinkIndex link) {
    std::size_t& on = left[network.trunk_of(link)];
    return on == 1 || on-- == 0;
  });
  return all;
}

/// What is delivered as links leave, as a mean over several orders.
struct CurvePoint {
  std::size_t off = 0;
  double watts = 0;
  double delivered = 0;  ///< share of what is wanted
  double least = 1;      ///< of the orders
  double most = 0;
};
[[nodiscard]] inline std::vector<CurvePoint> curve(RegulatedFlows& site, std::size_t step,
                                                   std::span<const Order> orders) {
  std::vector<CurvePoint> points;
  for (const Order& order : orders) {
    std::size_t at = 0;
    site.up = routing::LinkSet::all(*site.fabric);
    for (std::size_t off = 0; off <= order.size(); ++off) {
      if (off > 0) site.up.erase(order[off - 1]);
      if (off % step != 0 && off != order.size()) continue;
      const Delivery delivery = site.deliver(site.up, 0);
      const double share = delivery.delivered / delivery.wanted;
      if (at == points.size()) points.push_back({off, site.power().value()});
      CurvePoint& point = points[at++];
      point.delivered += share / static_cast<double>(orders.size());
      point.least = std::min(point.least, share);
      point.most = std::max(point.most, share);
    }
  }
  site.up = routing::LinkSet::all(*site.fabric);
  return points;
}

/// Least squares over what is delivered from the last point on that keeps all but 0.5 % of what all links
/// deliver.
struct Line {
  std::size_t from = 0;  ///< links off
  double at_from = 0;    ///< delivered, on the line
  double per_link = 0;   ///< change of it with each link
  double explained = 0;  ///< share of the variance (R squared)
  double farthest = 0;   ///< of a point from the line
};
[[nodiscard]] inline Line fit_line(std::span<const CurvePoint> points) {
  std::size_t first = 0;
  while (first + 1 < points.size() && points[first + 1].delivered > points[0].delivered - 0.005) ++first;
  points = points.subspan(first);
  double x = 0;
  double y = 0;
  for (const CurvePoint& point : points) {
    x += static_cast<double>(point.off) / static_cast<double>(points.size());
    y += point.delivered / static_cast<double>(points.size());
  }
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const CurvePoint& point : points) {
    const double dx = static_cast<double>(point.off) - x;
    const double dy = point.delivered - y;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  Line line{points.front().off};
  if (xx <= 0 || yy <= 0) return line;
  line.per_link = xy / xx;
  line.at_from = y + line.per_link * (static_cast<double>(line.from) - x);
  line.explained = xy * xy / (xx * yy);
  for (const CurvePoint& point : points) {
    const double there = line.at_from + line.per_link * static_cast<double>(point.off - line.from);
    line.farthest = std::max(line.farthest, std::abs(point.delivered - there));
  }
  return line;
}

}  // namespace heddle::testing_support
