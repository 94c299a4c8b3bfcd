/// A simulated fabric with traffic, managed and sampled as the daemon does it, and judged, in the test's own
/// time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "discovery/table_reader.h"
#include "health/judge.h"
#include "health/route_rules.h"
#include "mad/counters.h"
#include "sampling/detail_reader.h"
#include "sampling/firmware_reader.h"
#include "sampling/phy_reader.h"
#include "sampling/sampler.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "support/managed_world.h"
#include "transport/requests.h"

namespace heddle::health {

using namespace std::chrono_literals;

/// Four switches in a ring, two links between neighbours, two hosts each.
inline constexpr std::string_view ring = "torus:2x2,hosts=2,links=2,speed=HDR";

class HealthWorld {
 public:
  explicit HealthWorld(std::string_view generator, const sim::Options& sim_options = {},
                       const Options& options = {})
      : managed_{generator, sim_options}, judge_{options} {
    fabric().set_change_listener(&plane_);
    fabric().set_counter_source(&plane_);
    managed_.bring_up();
    sampler_.use(managed_.survey->fabric);
    pass(1min);
  }
  ~HealthWorld() {
    fabric().set_counter_source(nullptr);
    fabric().set_change_listener(nullptr);
  }
  HealthWorld(const HealthWorld&) = delete;
  HealthWorld& operator=(const HealthWorld&) = delete;

  /// Sweeps of the fabric and of its counters, every half minute.
  void pass(FabricClock::duration time) {
    for (const Instant end = now() + time; now() < end;) {
      managed_.sim.now += 30s;
      fabric().advance(managed_.sim.ps());
      managed_.discovery.light(now());
      ASSERT_TRUE(managed_.sim.run([&] { return !managed_.discovery.busy() && !managed_.sm.busy(); }));
      if (managed_.survey != judged_) {
        judged_ = managed_.survey;
        judge_.on_survey(judged_, {}, now());
        sampler_.use(judged_->fabric);
        tables_.use(judged_, now());
        firmware_.use(judged_->fabric, now());
      }
      ASSERT_TRUE(sampler_.begin_sweep(now()));
      ASSERT_TRUE(managed_.sim.run([&] { return !sampler_.sweeping(); }));
      phy_.on_timer(now(), sampler_.fabric(), sampler_.agents());
      ASSERT_TRUE(managed_.sim.run([&] { return phy_.next_deadline().has_value(); }));
      details_.on_timer(now(), sampler_.fabric(), sampler_.agents());
      ASSERT_TRUE(managed_.sim.run([&] { return details_.next_deadline().has_value(); }));
      firmware_.on_timer(now());
      ASSERT_TRUE(managed_.sim.run([&] { return firmware_.next_deadline().has_value(); }));
      tables_.on_timer(now());
      ASSERT_TRUE(managed_.sim.run([&] { return tables_.next_deadline().has_value(); }));
    }
  }

  [[nodiscard]] sim::SimulatedFabric& fabric() { return managed_.sim.fabric; }
  [[nodiscard]] const Fabric& truth() const { return managed_.truth(); }
  [[nodiscard]] const std::shared_ptr<const Survey>& survey() const { return judged_; }
  /// As the daemon knows it.
  [[nodiscard]] const Fabric& seen() const { return *judged_->fabric; }
  [[nodiscard]] Judge& judge() { return judge_; }
  [[nodiscard]] Instant now() const { return managed_.sim.now; }
  [[nodiscard]] Picoseconds ps() const { return managed_.sim.ps(); }

  [[nodiscard]] std::vector<Finding> findings(Rule rule) const {
    std::vector<Finding> found;
    for (const Finding& finding : judge_.report()->findings) {
      if (finding.rule == rule) found.push_back(finding);
    }
    return found;
  }
  [[nodiscard]] std::size_t count(Rule rule) const { return findings(rule).size(); }
  [[nodiscard]] std::size_t count() const { return judge_.report()->findings.size(); }

  /// The last link between two switches, or of a host: the first host is where the daemon sits.
  [[nodiscard]] LinkIndex link(NodeType of_a, NodeType of_b) const {
    for (auto i = static_cast<std::uint32_t>(truth().links().size()); i-- > 0;) {
      const Link& link = truth().links()[i];
      const NodeType a = truth().node(link.a.node).type;
      const NodeType b = truth().node(link.b.node).type;
      if ((a == of_a && b == of_b) || (a == of_b && b == of_a)) return LinkIndex{i};
    }
    return no_link;
  }
  [[nodiscard]] LinkIndex trunk_link() const { return link(NodeType::Switch, NodeType::Switch); }
  [[nodiscard]] LinkIndex host_link() const { return link(NodeType::Switch, NodeType::ChannelAdapter); }
  [[nodiscard]] LinkEnd end(LinkIndex link) const { return truth().link(link).a; }

  void errors(LinkEnd end, sim::ErrorCounter counter, std::uint64_t count) {
    fabric().add_errors(truth().port_index(end), counter, count, ps());
  }
  void errors(LinkEnd end, sim::ErrorDetail detail, std::uint64_t count) {
    fabric().add_error_details(truth().port_index(end), detail, count, ps());
  }
  void bits(LinkEnd end, const sim::BitErrors& errors) {
    fabric().set_bit_errors(truth().port_index(end), errors, ps());
  }
  [[nodiscard]] std::optional<PortBitErrors> bit_errors(LinkEnd end) const {
    for (const PortBitErrors& port : *judge_.bit_errors()) {
      if (port.port == truth().ref(end)) return port;
    }
    return std::nullopt;
  }
  /// Takes this share of what its link brings.
  void take_in(LinkEnd end, Ratio share) { fabric().set_intake(truth().port_index(end), share, ps()); }
  void cut(LinkIndex link) { fabric().cut(link, ps()); }
  void mend(LinkIndex link) { fabric().mend(link, ps()); }
  /// As an operator does with ibportstate.
  void set_physical(LinkEnd end, PhysState physical) {
    mad::PortInfo info = fabric().port_info(truth().port_index(end));
    info.state = PortState::NoChange;
    info.physical = physical;
    auto packet = transport::directed_smp(
        {.method = mad::Method::Set, .attribute = mad::SmAttr::PortInfo, .modifier = end.port.raw()}, {});
    mad::encode(info, mad::smp_data(packet.mad));
    ASSERT_TRUE(fabric().ask(truth().node(end.node).first_port, packet.mad, ps()));
  }

  /// The port of a host, by its number.
  [[nodiscard]] LinkEnd host_end(std::size_t host) const {
    std::size_t number = 0;
    for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) {
      const bool is_host = truth().nodes()[i].type == NodeType::ChannelAdapter;
      if (is_host && number++ == host) return {NodeIndex{i}, PortNum{1}};
    }
    return {};
  }
  /// From one host to another, at most at this rate.
  sim::TrafficId send(std::size_t from, std::size_t to, BitRate rate) {
    const auto port = [&](std::size_t host) { return truth().port_index(host_end(host)); };
    const auto added = plane_.add({.from = port(from), .to = port(to), .demand = rate}, ps());
    EXPECT_TRUE(added);
    return *added;
  }

  /// What somebody writes into a switch's table, past all who should: this LID leaves by this port.
  void lead(NodeIndex sw, Lid lid, PortNum port) {
    const std::uint32_t number = lid.raw() / 64U;
    auto packet = transport::directed_smp(
        {.method = mad::Method::Set, .attribute = mad::SmAttr::LinearForwardingTable, .modifier = number},
        {});
    mad::LftBlock block;
    const auto table = fabric().forwarding_table(sw);
    for (std::size_t i = 0; i < block.ports.size(); ++i) block.ports[i] = table[number * 64U + i];
    block.ports[lid.raw() % 64U] = port;
    mad::encode(block, mad::smp_data(packet.mad));
    ASSERT_TRUE(fabric().ask(truth().node(sw).first_port, packet.mad, ps()));
  }

  void stop(sim::TrafficId flow) { plane_.remove(flow, ps()); }

 private:
  vlarb::ManagedWorld managed_;
  sim::FabricView view_{managed_.sim.fabric};
  sim::FlowPlane plane_{view_};
  Judge judge_;
  std::shared_ptr<const Survey> judged_;
  sampling::PhyReader phy_{
      managed_.sim.engine, {}, [this](const PhyRound& round) { judge_.on_round(round); }};
  sampling::DetailReader details_{managed_.sim.engine,
                                  {},
                                  [this] { return judge_.unexplained(); },
                                  [this](const DetailRound& round) { judge_.on_details(round); }};
  sampling::FirmwareReader firmware_{
      managed_.sim.engine, {.interval = 1min}, [this](const std::shared_ptr<const Firmwares>& known) {
        judge_.on_firmware(known);
      }};
  discovery::TableReader tables_{managed_.sim.engine,
                                 {.smps_per_second = 0, .interval = 1min},
                                 {},
                                 [this](const std::shared_ptr<const discovery::TablesRead>& read) {
                                   judge_.on_routes(judge_routes(*read->fabric, *read->before, read->tables));
                                 }};
  sampling::Sampler sampler_{
      managed_.sim.engine,
      {.interval = {}, .history = 2},
      [this](const std::shared_ptr<const load::Sample>& sample) { judge_.on_sample(*sample); }};
};

}  // namespace heddle::health
