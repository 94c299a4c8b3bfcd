#include "simserve/commands.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "fabric/generators.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"

namespace heddle::simserve {
namespace {

using namespace std::chrono_literals;

class CommandsTest : public testing::Test {
 protected:
  CommandsTest() {
    sim::bring_up(fabric);
    fabric.set_counter_source(&plane);
    fabric.set_change_listener(&plane);
    plane.set_schedule(&player);
  }
  ~CommandsTest() override {
    fabric.set_counter_source(nullptr);
    fabric.set_change_listener(nullptr);
  }

  Result<boost::json::object> run(const char* request) {
    return commands.run(boost::json::parse(request).as_object(), now);
  }
  void expect_error(const char* request, const char* part) {
    const auto result = run(request);
    ASSERT_FALSE(result) << request;
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  }

  sim::SimulatedFabric fabric{generate("tree:k=2,n=2").value()};
  sim::FabricView view{fabric};
  sim::FlowPlane plane{view};
  sim::ScenarioPlayer player{fabric.description()};
  Commands commands{fabric, {&plane, &player}};
  Picoseconds now{0};
};

TEST_F(CommandsTest, CutsAndMendsALink) {
  EXPECT_EQ(run(R"({"command":"link","node":"leaf-0","port":3,"action":"down"})").value().at("state"),
            "Down");
  EXPECT_EQ(run(R"({"command":"link","node":"leaf-0","port":3,"action":"up"})").value().at("state"), "Init");
  expect_error(R"({"command":"link","node":"leaf-0","port":3,"action":"sideways"})", "down, up, flap");
  expect_error(R"({"command":"link","node":"leaf-0","port":99,"action":"down"})", "\"port\" is 99");
  expect_error(R"({"command":"link","node":"leaf-9","port":1,"action":"down"})", "leaf-9");
  expect_error(R"({"command":"link","node":"leaf-0","port":0,"action":"down"})", "no cable");
}

TEST_F(CommandsTest, KillsAndRevivesANode) {
  EXPECT_EQ(run(R"({"command":"node","node":"leaf-0","action":"kill"})").value().at("alive"), false);
  EXPECT_EQ(run(R"({"command":"node","node":"leaf-0","action":"revive"})").value().at("alive"), true);
}

TEST_F(CommandsTest, TrafficMovesCounters) {
  const auto added =
      run(R"({"command":"traffic","action":"add","from":"host-0 mlx5_0","to":"host-3 mlx5_0","rate":8e9})");
  ASSERT_TRUE(added) << added.error().message;
  now += 1s;
  const auto counters = run(R"({"command":"counters","node":"host-0 mlx5_0","port":1})").value();
  EXPECT_EQ(counters.at("xmit_bytes").to_number<std::uint64_t>(), 1'000'000'000U);
  EXPECT_EQ(run(R"({"command":"traffic","action":"list"})").value().at("flows").as_array().size(), 1U);
  ASSERT_TRUE(run(R"({"command":"traffic","action":"remove","flow":1})"));
  expect_error(R"({"command":"traffic","action":"remove","flow":1})", "no flow 1");
  now += 1s;
  EXPECT_EQ(run(R"({"command":"counters","node":"host-0 mlx5_0","port":1})").value().at("xmit_bytes"),
            counters.at("xmit_bytes"));
}

TEST_F(CommandsTest, SaysWhichLidsAHostReaches) {
  const auto ends = [this] {
    std::vector<std::string> all;
    const auto result = run(R"({"command":"reach","from":"host-0 mlx5_0","to":"host-3 mlx5_0"})").value();
    for (const auto& row : result.at("lids").as_array()) {
      all.emplace_back(row.at("end").as_string());
    }
    return all;
  };
  EXPECT_EQ(ends(), std::vector<std::string>{"delivered"});
  // host-3's own.
  run(R"({"command":"link","node":"leaf-1","port":2,"action":"down"})").value();
  EXPECT_EQ(ends(), std::vector<std::string>{"link off"});
  expect_error(R"({"command":"reach","from":"host-0 mlx5_0"})", "\"to\"");
  expect_error(R"({"command":"reach","from":"nobody","to":"host-3 mlx5_0"})", "nobody");
}

TEST_F(CommandsTest, PhasesStartAndStop) {
  const auto started =
      run(R"({"command":"traffic","action":"start","phase":"pattern = \"neighbour\"\nload = 0.5"})");
  ASSERT_TRUE(started) << started.error().message;
  now += 1s;
  const auto list = run(R"({"command":"traffic","action":"list"})").value();
  EXPECT_GT(list.at("delivered_bits_per_second").to_number<double>(), 0);
  ASSERT_TRUE(run(R"({"command":"traffic","action":"stop","phase":0})"));
  expect_error(R"({"command":"traffic","action":"start","phase":"pattern = 7"})", "pattern");
}

TEST_F(CommandsTest, ErrorsAndPresets) {
  ASSERT_TRUE(run(R"({"command":"errors","node":"leaf-0","port":1,"counter":"symbol","count":3})"));
  expect_error(R"({"command":"errors","node":"leaf-0","port":1,"counter":"dust"})", "symbol, link_recovers");
  ASSERT_TRUE(run(R"({"command":"counters","node":"leaf-0","port":1,"set_xmit_data":25})"));
  EXPECT_EQ(run(R"({"command":"counters","node":"leaf-0","port":1})").value().at("xmit_bytes"), 100);
}

TEST_F(CommandsTest, WhatMakesNoSenseIsRefused) {
  expect_error(R"({})", "\"command\"");
  expect_error(R"({"command":"dance"})", "dance");
  expect_error(R"({"command":"faults","lost":2})", "\"lost\" is 2");
  expect_error(R"({"command":"faults","lost":"much"})", "\"lost\"");
  expect_error(R"({"command":"agent","node":"leaf-0","mute_sma":1})", "mute_sma");
  EXPECT_TRUE(run(R"({"command":"faults"})"));
  EXPECT_TRUE(run(R"({"command":"status"})"));
}

}  // namespace
}  // namespace heddle::simserve
