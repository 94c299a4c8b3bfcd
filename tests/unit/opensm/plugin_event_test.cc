#include "authority/opensm/plugin_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/events.h"

namespace heddle::opensm {
namespace {

using Kind = PluginEvent::Kind;

// A recording has them so.
TEST(PluginEvents, SurviveARoundTrip) {
  PluginEvent event;
  event.kind = Kind::RoutingDone;
  event.epoch = 7;
  event.reroute = event.relaxed = event.errors = event.window = event.taken = true;
  event.switches_behind = 2;
  event.unconnected = 3;
  event.stages = {0, 4};
  event.groups = 5;
  event.blocks = 6;
  event.staying = {Lid{4}, Lid{49151}};
  event.packet_life = std::chrono::microseconds{8};
  event.state = "master";
  event.message = "\"so\"";
  const auto read = parse_plugin_event(to_line(event)).value();
  EXPECT_EQ(to_line(read), to_line(event));
  EXPECT_EQ(read.kind, event.kind);
  EXPECT_EQ(read.stages, event.stages);
  EXPECT_EQ(read.staying, event.staying);
  EXPECT_EQ(read.message, event.message);
  EXPECT_TRUE(read.reroute && read.relaxed && read.errors && read.window && read.taken);
  for (const Kind kind : {Kind::Hello, Kind::Plan, Kind::MulticastDone, Kind::SubnetUp, Kind::HeavySweepStart,
                          Kind::HeavySweepDone, Kind::SmState, Kind::Other}) {
    event.kind = kind;
    EXPECT_EQ(parse_plugin_event(to_line(event)).value().kind, kind);
  }
}

/// What the plugin writes is what the daemon reads.
TEST(PluginEvents, OfThePluginAreUnderstood) {
  plugin::Confirmation done;
  done.epoch = 9;
  done.reroute = true;
  done.switches_behind = 2;
  done.relaxed = true;
  done.stages = {0, 4};
  done.groups = 3;
  done.blocks = 5;
  done.staying = {Lid{7}};
  done.packet_life = std::chrono::milliseconds{20};
  const auto routed = parse_plugin_event(plugin::routing_line(done)).value();
  EXPECT_EQ(routed.kind, Kind::RoutingDone);
  EXPECT_EQ(routed.epoch, 9U);
  EXPECT_TRUE(routed.reroute && routed.relaxed && !routed.errors);
  EXPECT_EQ(routed.switches_behind, 2U);
  EXPECT_EQ(routed.stages, (std::vector<std::uint32_t>{0, 4}));
  EXPECT_EQ(routed.groups, 3U);
  EXPECT_EQ(routed.blocks, 5U);
  EXPECT_EQ(routed.staying, std::vector{Lid{7}});
  EXPECT_EQ(routed.packet_life, std::chrono::milliseconds{20});

  const auto hello =
      parse_plugin_event(plugin::hello_line({"OpenSM", "/p", "master", 0, true}, done)).value();
  EXPECT_EQ(hello.kind, Kind::Hello);
  EXPECT_EQ(hello.state, "master");
  EXPECT_TRUE(hello.window);
  EXPECT_EQ(hello.staying, std::vector{Lid{7}});
  EXPECT_EQ(parse_plugin_event(plugin::multicast_line(9, true)).value().kind, Kind::MulticastDone);
  EXPECT_TRUE(parse_plugin_event(plugin::multicast_line(9, true)).value().errors);
  EXPECT_EQ(parse_plugin_event(plugin::subnet_up_line(false, 9)).value().kind, Kind::SubnetUp);
  EXPECT_EQ(parse_plugin_event(plugin::plain_line("heavy_sweep_start")).value().kind, Kind::HeavySweepStart);
  EXPECT_EQ(parse_plugin_event(plugin::state_line("standby")).value().state, "standby");
  EXPECT_FALSE(parse_plugin_event(plugin::plan_line(1, false, "why")).value().taken);
  EXPECT_EQ(parse_plugin_event(plugin::trap_line(1, 128, 5)).value().kind, Kind::Other);
}

TEST(PluginEvents, NonsenseIsRefused) {
  for (const char* line : {"", "{", "[]", "{}", R"({"event":7})", "\xff\xfe"}) {
    EXPECT_FALSE(parse_plugin_event(line)) << line;
  }
  EXPECT_FALSE(parse_plugin_event(R"({"event":"hello","protocol":2})"));
  EXPECT_TRUE(parse_plugin_event(R"({"event":"routing_done","epoch":"x","stages":7,"relaxed":1})"));
  const auto odd =
      parse_plugin_event(R"({"event":"hello","protocol":1,"last":7,"staying":[0,-1,"x",49152,3]})");
  EXPECT_EQ(odd.value().staying, std::vector{Lid{3}});
}

}  // namespace
}  // namespace heddle::opensm
