// Ports whose settings nobody took are tried again, without a sweep that would say anything of them.

#include <gtest/gtest.h>

#include "provision_world.h"

namespace heddle::provision {
namespace {

using namespace std::chrono_literals;

bool arms(const mad::Packet& packet) {
  const mad::Header header = mad::read_header(packet.mad);
  return header.method == mad::Method::Set && mad::is_smp(header) &&
         static_cast<mad::SmAttr>(header.attribute) == mad::SmAttr::PortInfo &&
         mad::decode<mad::PortInfo>(mad::smp_data(packet.mad)).state == PortState::Armed;
}

// 6514502603 of the swarm: a switch did not answer for 300 ms when its port was raised, and the link stayed
// in Init until the next heavy sweep, ten minutes by default.
TEST(Provisioner, APortThatNobodyRaisedIsRaisedSoonAfter) {
  KeptWorld kept{"tree:k=4,n=2"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  kept.settle();
  const LinkIndex link = kept.switch_link(1);
  const Link& cable = world.truth().link(link);
  const auto is_active = [&] {
    const auto state = [&](LinkEnd end) {
      return world.sim.fabric.port_info(world.truth().port_index(end)).state;
    };
    return state(cable.a) == PortState::Active && state(cable.b) == PortState::Active;
  };
  world.sim.fabric.cut(link, world.sim.ps());
  world.discovery.full(world.sim.now);
  kept.settle();
  bool is_mute = false;
  world.sim.on_send = [&](const mad::Packet& packet) {
    if (is_mute || !arms(packet)) return;
    is_mute = true;
    for (const LinkEnd end : {cable.a, cable.b})
      world.sim.fabric.set_agent_faults(end.node, {.mute_sma = true});
  };
  world.sim.fabric.mend(link, world.sim.ps());
  ASSERT_TRUE(world.sim.run([&] { return is_mute; }, 10s));
  (void)world.sim.run([] { return false; }, 500ms);
  EXPECT_FALSE(is_active());
  for (const LinkEnd end : {cable.a, cable.b}) world.sim.fabric.set_agent_faults(end.node, {});
  EXPECT_TRUE(world.sim.run(is_active, 5s));
}

// World 2687629794: an answer was damaged, what it gave for the host's M_Key was written back, and nobody
// could set the port any more.
TEST(Provisioner, WritesNoMKeyThatItHasRead) {
  World world{"tree:k=2,n=2"};
  world.sim.receive_with([&](const mad::Packet& packet, Instant at) {
    mad::Packet changed = packet;
    if (mad::read_header(packet.mad).attribute == static_cast<std::uint16_t>(mad::SmAttr::PortInfo))
      changed.mad[mad::smp_data_offset] ^= 0x40;
    world.sim.engine.on_packet(changed, at);
  });
  world.bring_up();
  for (std::uint32_t p = 0; p < world.truth().ports().size(); ++p)
    EXPECT_EQ(world.sim.fabric.port_info(PortIndex{p}).m_key, 0U);
  expect_works(world);
}

}  // namespace
}  // namespace heddle::provision
