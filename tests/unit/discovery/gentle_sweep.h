/// A guest's sweeps beside another subnet manager, at a pace, on the simulated clock. For the tests of light
/// ones and of full ones.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "discovery_world.h"

namespace heddle::discovery {

using namespace std::chrono_literals;

/// Beside another subnet manager: every port is looked at, at a pace.
class GentleSweepTest : public testing::Test {
 protected:
  static constexpr std::uint32_t pace = 1000;

  void SetUp() override {
    sim::bring_up(world.sim.fabric);
    world.full();
    world.sim.receive_with([this](const mad::Packet& packet, Instant at) {
      const auto header = mad::read_header(packet.mad);
      (header.mgmt_class == mad::MgmtClass::SubnLid ? by_lid : by_route) += 1;
      if (header.attribute == static_cast<std::uint16_t>(mad::SmAttr::NodeInfo)) ++hosts_asked;
      world.sim.engine.on_packet(packet, at);
    });
  }
  /// Runs what is due until something is reported.
  const SweepReport* until_report(FabricClock::duration limit) {
    const auto before = world.reports.size();
    const Instant end = world.sim.now + limit;
    const auto reported = [&] { return world.reports.size() > before; };
    const auto due = [&] {
      const auto next = world.discovery.next_deadline();
      return reported() || (next && *next <= world.sim.now);
    };
    while (!reported() && world.sim.now < end) {
      if (!world.sim.run(due, end - world.sim.now)) {
        // Nothing is on its way: the pace is waited for.
        world.sim.now = std::max(world.sim.now, std::min(end, world.discovery.next_deadline().value_or(end)));
      }
      if (!reported()) world.discovery.on_timer(world.sim.now);
    }
    return world.reports.size() > before ? &world.reports.back() : nullptr;
  }
  [[nodiscard]] std::size_t ports_of_switches() const {
    std::size_t ports = 0;
    for (const Node& node : world.truth().nodes()) {
      if (node.type == NodeType::Switch) ports += node.port_count + 1U;
    }
    return ports;
  }

  World world{"tree:k=3,n=3", {}, {.guest_smps_per_second = pace}};
  std::size_t by_lid = 0;
  std::size_t by_route = 0;
  std::size_t hosts_asked = 0;
};

}  // namespace heddle::discovery
