#include "control/qos_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "support/managed_world.h"

namespace heddle::control {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

/// A fabric of the simulator behind the API, in the test's own time.
class SimQos final : public QosControl {
 public:
  SimQos() { world.bring_up(); }

  void push(const QosPush& order, Pushed done) override {
    orders.push_back(order);
    auto plan = qos::parse_plan(order.plan, order.name);
    if (!plan) return done(fail(plan.error()));
    done(QosPushed{world.push(vlarb::for_ports(order.ports, *plan)), not_written, "/state/plan.json"});
  }
  void verify(Verified done) override { done(world.verify()); }
  void forget(Forgotten done) override {
    world.keeper.forget();
    done({});
  }
  [[nodiscard]] core::QosState state() const override { return core::state_of(world.keeper); }
  [[nodiscard]] std::string name_of(const PortRef& port) const override { return to_string(port.node); }

  vlarb::ManagedWorld world{"tree:k=2,n=2"};
  std::vector<QosPush> orders;
  std::string not_written;
};

class QosApiTest : public testing::Test {
 protected:
  struct Answer {
    unsigned status = 0;
    json::value body;
  };
  Answer ask(const std::string& path, bool post, const std::string& body = "") {
    Answer answer;
    answer_qos(qos, Request{post, path, {}, body, Access::Change}, [&](const Response& response) {
      answer = {response.status, json::parse(*response.body)};
    });
    return answer;
  }
  [[nodiscard]] static std::string push_body() {
    return R"({"name": "a", "ports": "", "plan": )" + qos::plan_text(vlarb::four_lanes()) + "}";
  }
  SimQos qos;
};

TEST_F(QosApiTest, PushVerifyShowForget) {
  const auto pushed = ask("/v1/qos/push", true, push_body());
  ASSERT_EQ(pushed.status, 200U);
  const auto ports = pushed.body.at("ports").to_number<std::uint64_t>();
  EXPECT_GT(ports, 0U);
  EXPECT_EQ(pushed.body.at("ports_written").to_number<std::uint64_t>(), ports);
  EXPECT_FALSE(pushed.body.at("dry_run").as_bool());
  EXPECT_EQ(pushed.body.as_object().if_contains("not_written"), nullptr);

  const auto before = ask("/v1/qos", false);
  EXPECT_TRUE(before.body.at("verified").is_null());
  EXPECT_EQ(before.body.at("plans").at(0).at("qos").at("high_limit").to_number<int>(), 7);

  EXPECT_EQ(ask("/v1/qos/verify", true).body.at("differ_count").to_number<std::uint64_t>(), 0U);
  EXPECT_EQ(ask("/v1/qos", false).body.at("ports").to_number<std::uint64_t>(), ports);
  EXPECT_TRUE(ask("/v1/qos/forget", true).body.at("plans").as_array().empty());
}

TEST_F(QosApiTest, WhatDiffersIsNamedByPort) {
  ASSERT_EQ(ask("/v1/qos/push", true, push_body()).status, 200U);
  const NodeIndex host = qos.world.first(NodeType::ChannelAdapter);
  qos.world.sim.fabric.kill(host, qos.world.sim.ps());
  qos.world.sim.fabric.revive(host, qos.world.sim.ps());
  qos.world.discovery.light(qos.world.sim.now);
  qos.world.settle();
  const auto verified = ask("/v1/qos/verify", true).body;
  ASSERT_GT(verified.at("differ_count").to_number<std::uint64_t>(), 0U);
  EXPECT_FALSE(verified.at("differ").at(0).at("what").as_string().empty());
  EXPECT_EQ(ask("/v1/qos", false).body.at("differ"), verified.at("differ"));
}

TEST_F(QosApiTest, UnderAnotherManagerThePlanFileIsNamed) {
  qos.not_written = "another subnet manager is master";
  const auto pushed = ask("/v1/qos/push", true, push_body());
  EXPECT_EQ(pushed.body.at("not_written").as_string(), "another subnet manager is master");
  EXPECT_EQ(pushed.body.at("plan_file").as_string(), "/state/plan.json");
}

TEST_F(QosApiTest, WrongRequestsAreSentences) {
  const auto error = [&](const std::string& body) {
    const auto answer = ask("/v1/qos/push", true, body);
    EXPECT_EQ(answer.status, 400U) << body;
    return std::string{answer.body.at("error").as_string()};
  };
  EXPECT_THAT(error(""), HasSubstr("must be a JSON object"));
  EXPECT_THAT(error("{}"), HasSubstr("no plan"));
  EXPECT_THAT(error(R"({"plan": 7})"), HasSubstr("'plan' is not known here, or of the wrong kind"));
  EXPECT_THAT(error(R"({"port": "ca"})"), HasSubstr("'port'"));
  EXPECT_THAT(error(R"({"name": "p", "plan_text": "{\n\n]"})"), HasSubstr("p:3: not JSON"));
  EXPECT_EQ(ask("/v1/qos", true).status, 405U);
  EXPECT_EQ(ask("/v1/qos/push", false).status, 405U);
  EXPECT_EQ(ask("/v1/qos/else", true).status, 404U);
}

}  // namespace
}  // namespace heddle::control
