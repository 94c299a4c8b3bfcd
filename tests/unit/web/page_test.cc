#include "web/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "unit/web/sampled_fabric.h"
#include "web/asset_response.h"

namespace heddle::web {
namespace {

namespace json = boost::json;
using control::Request;
using control::Response;
using testing::HasSubstr;

class PageTest : public testing::Test {
 protected:
  PageTest() { history.rebase(fabric.fabric); }

  Response ask(const std::string& path, const std::map<std::string, std::string>& query = {},
               const std::string& tag = "") {
    Response answer;
    const Request request{false, path, query, "", control::Access::Read, tag};
    page.handler([](const Request&, const control::Respond& respond) {
      respond(control::text_response("text/plain", "of the API"));
    })(request, [&](Response response) { answer = std::move(response); });
    return answer;
  }
  json::value json_of(const Response& response) { return json::parse(control::body_of(response)); }
  std::string header(const Response& response, const std::string& name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }
  void sweep(float utilization) {
    const auto sample = fabric.sample(utilization);
    history.append(*sample);
    daemon.state_ = fabric.state(sample);
    daemon.state_.history = &history;
    daemon.answers_.outdate();
  }

  SampledFabric fabric{"tree:k=2,n=2"};
  load::History history{8};
  StillDaemon daemon{{}};
  Page page{daemon, [](const std::function<void()>& then) { then(); }};
};

TEST_F(PageTest, HandsOnWhatIsNotItsOwn) {
  EXPECT_EQ(*ask("/v1/status").body, "of the API");
  EXPECT_EQ(*ask("/assets/../../etc/passwd").body, "of the API");
}

TEST_F(PageTest, SaysThatNothingIsThereBeforeTheFirstSample) {
  for (const char* path :
       {"/v1/page/topology", "/v1/page/events", "/v1/page/times", "/v1/page/slice", "/v1/page/profile"})
    EXPECT_EQ(ask(path).status, 503U) << path;
}

TEST_F(PageTest, TellsTheFabricColumnByColumn) {
  sweep(0.5F);
  const auto answer = ask("/v1/page/topology");
  const auto topology = json_of(answer);
  EXPECT_EQ(topology.at("nodes").at("name").as_array().size(), 8U);
  EXPECT_EQ(topology.at("nodes").at("type").as_string(), "sssscccc");
  EXPECT_EQ(topology.at("links").at("a").as_array().size(), 8U);
  EXPECT_EQ(topology.at("rates").at(0).at("gbit").to_number<double>(), 200);
  EXPECT_EQ(topology.at("layout").at("kind").as_string(), "levels");
  EXPECT_EQ(topology.at("sets").as_array().size(), 2U);
  EXPECT_EQ(topology.at("sets").at(0).at("hosts").to_number<int>(), 2);
  const std::string tag = header(answer, "ETag");
  EXPECT_EQ(ask("/v1/page/topology", {}, tag).status, 304U);
  EXPECT_EQ(ask("/v1/page/topology", {}, "\"other\"").status, 200U);
}

TEST_F(PageTest, KeepsTheShapeWhileOnlyPortStatesChange) {
  sweep(0.5F);
  const auto before = json_of(ask("/v1/page/topology")).at("shape");
  auto same = generate("tree:k=2,n=2");
  fabric.fabric = *same;
  fabric.blank.fabric = *same;
  history.rebase(*same);
  sweep(0.5F);
  EXPECT_EQ(json_of(ask("/v1/page/topology")).at("shape"), before);
}

TEST_F(PageTest, GoesBackToTheSweepNearestToATime) {
  for (const float load : {0.1F, 0.2F, 0.3F}) sweep(load);
  const auto times = json_of(ask("/v1/page/times"));
  EXPECT_EQ(times.at("times").as_array().size(), 3U);
  const auto slice = json_of(ask("/v1/page/slice", {{"at", "2.2"}}));
  EXPECT_DOUBLE_EQ(slice.at("at").to_number<double>(), 2);
  EXPECT_TRUE(slice.at("total").is_null());
  EXPECT_FALSE(slice.at("utilization").as_string().empty());
  for (const char* wrong : {"", "x", "1e999", "nan", "2 "})
    EXPECT_EQ(ask("/v1/page/slice", {{"at", wrong}}).status, 400U) << wrong;
}

TEST_F(PageTest, SumsProfilesUp) {
  for (const float load : {0.1F, 0.2F}) sweep(load);
  const Node& leaf = fabric.fabric->node(NodeIndex{0});
  const auto profile = json_of(ask("/v1/page/profile", {{"node", to_string(leaf.guid)}}));
  EXPECT_EQ(profile.at("ports").to_number<int>(), 4);
  EXPECT_NEAR(profile.at("out").at(1).to_number<double>(), 0.2 * 200 * 4, 0.1);
  EXPECT_NEAR(profile.at("in").at(0).to_number<double>(), 0.1 * 200 * 4, 0.1);
  EXPECT_NEAR(profile.at("utilization").at(1).to_number<double>(), 0.2, 1e-4);
  const auto port = json_of(ask("/v1/page/profile", {{"node", to_string(leaf.guid)}, {"port", "1"}}));
  EXPECT_NEAR(port.at("out").at(1).to_number<double>(), 0.2 * 200, 0.1);
  const auto set = json_of(ask("/v1/page/profile", {{"set", fabric.sets->names()->front()}}));
  EXPECT_EQ(set.at("ports").to_number<int>(), 2);
  EXPECT_EQ(ask("/v1/page/profile").status, 400U);
  EXPECT_EQ(ask("/v1/page/profile", {{"node", "leaf"}}).status, 400U);
  EXPECT_EQ(ask("/v1/page/profile", {{"node", "0xdead"}}).status, 404U);
  EXPECT_EQ(ask("/v1/page/profile", {{"node", to_string(leaf.guid)}, {"port", "300"}}).status, 404U);
  EXPECT_EQ(ask("/v1/page/profile", {{"set", "none"}}).status, 404U);
}

TEST_F(PageTest, TellsALinkWithItsCounters) {
  sweep(0.5F);
  const Node& leaf = fabric.fabric->node(NodeIndex{0});
  const auto link = json_of(ask("/v1/page/link", {{"name", to_string(leaf.guid) + "/1"}}));
  EXPECT_DOUBLE_EQ(link.at("a_to_b").at("utilization").to_number<double>(), 0.5);
  EXPECT_TRUE(link.at("a").at("counters").is_object());
  EXPECT_EQ(link.at("sweep").to_number<int>(), 1);
  EXPECT_EQ(ask("/v1/page/link", {{"name", "leaf-0-0/99"}}).status, 404U);
  EXPECT_EQ(ask("/v1/page/link").status, 400U);
}

TEST_F(PageTest, TellsWhatALinkLeadsTo) {
  sweep(0.5F);
  const Node& leaf = fabric.fabric->node(NodeIndex{0});
  const auto link = [&] { return json_of(ask("/v1/page/link", {{"name", to_string(leaf.guid) + "/1"}})); };
  EXPECT_TRUE(link().at("routes").at("a_to_b").is_null());
  EXPECT_TRUE(link().at("regulation").is_null());
  daemon.lids = {Lid{1}, Lid{2}};
  EXPECT_EQ(link().at("routes").at("a_to_b").at("lids").to_number<int>(), 2);
}

TEST_F(PageTest, PushesEventsWhosePictureIsComplete) {
  sweep(0.5F);
  page.publish(daemon.state_.sample);
  const auto answer = ask("/v1/page/events");
  EXPECT_EQ(answer.content_type, "text/event-stream");
  ASSERT_TRUE(answer.pieces);
  std::string text;
  answer.pieces([&](const control::Piece& piece) { text = *piece; });
  EXPECT_THAT(text, HasSubstr("event: whole\ndata: {\"seq\":1,"));
}

TEST(Layout, FollowsTheCables) {
  const auto kind = [](const std::string& spec) {
    SampledFabric fabric{spec};
    const auto state = fabric.state(fabric.sample(0));
    return std::string(json::parse(*make_topology(state).text).at("layout").at("kind").as_string());
  };
  EXPECT_EQ(kind("tree:k=4,n=3"), "levels");
  EXPECT_EQ(kind("torus:5x5,hosts=2"), "grid");
  EXPECT_EQ(kind("mesh:3x4x2"), "grid");
  EXPECT_EQ(kind("random:switches=20,hosts=40,links=50,seed=7"), "free");
}

TEST(Topology, IsJsonWhateverANodeCallsItself) {
  FabricBuilder builder;
  Node node;
  node.guid = NodeGuid{1};
  node.type = NodeType::Switch;
  node.port_count = 1;
  node.description = "<img src=x onerror=alert(1)>\"\\\x01\xc3";
  ASSERT_TRUE(builder.add_node(node));
  SampledFabric fabric{builder.build()};
  const auto topology = json::parse(*make_topology(fabric.state(fabric.sample(0))).text);
  EXPECT_EQ(topology.at("nodes").at("name").at(0).as_string(), printable(node.description));
}

TEST(AssetResponse, HasTypePolicyAndTag) {
  const std::vector<Asset> assets{{"/index.html", "<p>"}, {"/assets/a-1.js", "1"}};
  const auto ask = [&](const std::string& path, const std::string& tag = "") {
    return asset_response(assets, Request{false, path, {}, "", control::Access::Read, tag});
  };
  const auto index = ask("/");
  ASSERT_TRUE(index);
  EXPECT_EQ(index->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(*index->body, "<p>");
  std::map<std::string, std::string> headers{index->headers.begin(), index->headers.end()};
  EXPECT_THAT(headers.at("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_EQ(headers.at("Cache-Control"), "no-cache");
  EXPECT_EQ(ask("/", headers.at("ETag"))->status, 304U);
  EXPECT_EQ(ask("/assets/a-1.js")->content_type, "text/javascript; charset=utf-8");
  EXPECT_FALSE(ask("/assets/b.js"));
  EXPECT_FALSE(ask("/assets/"));
}

}  // namespace
}  // namespace heddle::web
