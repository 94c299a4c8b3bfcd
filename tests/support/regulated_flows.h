/// The paper's experiments at flow level: a fabric of programmed tables with flows on it, regulated by the
/// governor, which has its orders carried out at once. For the test that asserts the shapes of the curves and
/// the program that draws them.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

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

  /// An hour and a half with a sample every 20 s.
  void settle() {
    if (!governor.reference()) {
      Lid manager;
      for (const auto& target : network->graph().targets()) {
        if (target.kind == routing::TargetKind::Host && manager == no_lid) manager = target.base;
      }
      tell(regulation::TopologyChanged{fabric, {manager}, network->ranks_by_guid()});
    }
    for (const Instant end = time_ + std::chrono::minutes{90}; time_ < end;) {
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
  options.most_closing = 64;
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

/// Links off, in steps, as the trunk rule would take them: one of every trunk, then a second of every trunk,
/// then a third.
struct CurvePoint {
  std::size_t off = 0;
  double watts = 0;
  double delivered = 0;  ///< share of what is wanted
};
[[nodiscard]] inline std::vector<CurvePoint> curve(RegulatedFlows& site, std::size_t step) {
  std::vector<LinkIndex> order;
  for (std::size_t nth = 1; nth < 4; ++nth) {
    for (const regulation::Trunk& trunk : site.network->trunks()) {
      if (nth < trunk.links.size()) order.push_back(trunk.links[trunk.links.size() - nth]);
    }
  }
  std::vector<CurvePoint> points;
  site.up = routing::LinkSet::all(*site.fabric);
  for (std::size_t off = 0; off <= order.size(); ++off) {
    if (off > 0) site.up.erase(order[off - 1]);
    if (off % step != 0 && off != order.size()) continue;
    const Delivery delivery = site.deliver(site.up, 0);
    points.push_back({off, site.power().value(), delivery.delivered / delivery.wanted});
  }
  site.up = routing::LinkSet::all(*site.fabric);
  return points;
}

}  // namespace heddle::testing_support
