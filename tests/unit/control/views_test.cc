#include "control/views.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/printable.h"
#include "control/api.h"
#include "control/list_views.h"
#include "fabric/generators.h"
#include "fabric/unique_names.h"
#include "support/still_answers.h"

namespace heddle::control {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Write>
Result<json::value> read_back(Write write) {
  std::string text;
  const Result<void> written = write([&](std::string_view part) { text += part; });
  if (!written) return fail(written.error());
  return json::parse(text);
}
Result<json::value> links_view(const DaemonState& state, const Query& query) {
  return read_back([&](const TextSink& out) { return write_links(state, query, out); });
}
Result<json::value> nodes_view(const DaemonState& state, const Query& query) {
  return read_back([&](const TextSink& out) { return write_nodes(state, query, out); });
}

/// A 2-ary 2-tree (4 switches, 4 hosts) and a sample of it, whose link 0 is busy from end a.
class ViewsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto fabric = generate("tree:k=2,n=2");
    ASSERT_TRUE(fabric);
    state.fabric = *fabric;
    state.name = [](const Node& node) { return printable(node.description); };
    auto sample = std::make_shared<load::Sample>();
    sample->fabric = state.fabric;
    sample->number = 3;
    sample->ports.resize(state.fabric->ports().size());
    sample->nodes.resize(state.fabric->nodes().size());
    busy = state.fabric->links()[0].a;
    auto& port = sample->ports[state.fabric->port_index(busy).raw()];
    port.status = load::PortStatus::Fresh;
    port.utilization = 0.75F;
    port.congestion = 0.5F;
    port.xmit_bytes_per_second = 3e9F;
    port.known = load::all_counters;
    port.totals[load::at(load::Counter::SymbolErrors)] = 7;
    port.totals[load::at(load::Counter::XmitWait)] = 1000;
    sample->set_names =
        std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"pod", "idle"});
    sample->locality = {{0.5F, 0.25F, 0.4F}, {}};
    state.sample = sample;
  }

  DaemonState state;
  LinkEnd busy;
};

TEST_F(ViewsTest, StatusCountsTheFabric) {
  const auto view = status_view(state);
  EXPECT_EQ(view.at("fabric").at("switches").to_number<int>(), 4);
  EXPECT_EQ(view.at("fabric").at("channel_adapters").to_number<int>(), 4);
  EXPECT_EQ(view.at("fabric").at("links").to_number<int>(), 8);
}

TEST_F(ViewsTest, ANameThatSeveralNodesHaveListsThem) {
  FabricBuilder builder;
  for (const std::uint64_t guid : {0x1a2e0, 0x1b3f1, 0x2c402}) {
    Node node;
    node.guid = NodeGuid{guid};
    node.type = NodeType::Switch;
    node.port_count = 4;
    node.description = guid == 0x2c402 ? "edge" : "Chip";
    ASSERT_TRUE(builder.add_node(node));
  }
  state.sample = nullptr;
  state.fabric = builder.build();
  const ShownNames shown{NodeNames{}, *state.fabric};
  state.name = [&](const Node& node) { return shown.of(node); };
  const auto node = [&](const char* name) { return node_view(state, {{"name", name}}); };
  EXPECT_EQ(node("Chip#a2e0").value().at("name").as_string(), "Chip#a2e0");
  EXPECT_EQ(node("Chip#1b3f1").value().at("name").as_string(), "Chip#b3f1") << "more digits than it takes";
  EXPECT_EQ(node("edge#c402").value().at("name").as_string(), "edge") << "a form of other times";
  EXPECT_EQ(node("Chip").error().code, ErrorCode::Conflict);
  EXPECT_THAT(node("Chip").error().message, HasSubstr("say which: Chip#a2e0, Chip#b3f1"));
  EXPECT_EQ(node("nobody").error().code, ErrorCode::NotFound);
  const auto nodes = nodes_view(state, {{"match", "Chip"}});
  EXPECT_EQ(nodes.value().at("nodes").as_array().size(), 2U)
      << "a pattern over the bare description means all";
  EXPECT_EQ(nodes_view(state, {{"match", "Chip#b*"}}).value().at("nodes").as_array().size(), 1U);
}

TEST_F(ViewsTest, StatusBeforeTheFirstSweepSaysSo) {
  DaemonState first;
  first.met = 7;
  const auto view = status_view(first);
  EXPECT_TRUE(view.at("fabric").is_null());
  EXPECT_EQ(view.at("nodes_so_far").to_number<int>(), 7);
  EXPECT_FALSE(links_view(DaemonState{}, {}));
  EXPECT_FALSE(locality_view(DaemonState{}));
}

TEST_F(ViewsTest, LinksSortedByUtilizationBeginWithTheBusyOne) {
  const auto view = links_view(state, {{"sort", "utilization"}, {"top", "2"}});
  ASSERT_TRUE(view) << view.error().message;
  const auto& links = view->at("links").as_array();
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(view->at("matched").to_number<int>(), 8);
  EXPECT_DOUBLE_EQ(links[0].at("a_to_b").at("utilization").as_double(), 0.75);
  EXPECT_EQ(links[0].at("a_to_b").at("errors_total").to_number<int>(), 7);
  EXPECT_TRUE(links[1].at("a_to_b").at("utilization").is_null());
}

TEST_F(ViewsTest, BitErrorsAreThoseWhereADirectionComesIn) {
  const Link& link = state.fabric->links()[2];
  health::PortBitErrors at_b;
  at_b.port = state.fabric->ref(link.b);
  at_b.window = {1e-6, 0};
  at_b.long_window = {2e-6, 3e-15};
  health::PortBitErrors full = at_b;  // its counter of what could be corrected is full
  full.port = state.fabric->ref(link.a);
  full.window = full.long_window = {std::nullopt, 0};
  state.bit_errors = std::make_shared<const std::vector<health::PortBitErrors>>(
      std::vector<health::PortBitErrors>{at_b, full});
  const auto view = links_view(state, {{"sort", "ber"}, {"top", "2"}});
  ASSERT_TRUE(view) << view.error().message;
  const auto& worst = view->at("links").at(0);
  EXPECT_EQ(worst.at("b").at("guid").as_string(), to_string(state.fabric->node(link.b.node).guid));
  EXPECT_DOUBLE_EQ(worst.at("a_to_b").at("effective_ber").as_double(), 3e-15) << "the higher window";
  EXPECT_DOUBLE_EQ(worst.at("a_to_b").at("raw_ber").as_double(), 2e-6);
  EXPECT_DOUBLE_EQ(worst.at("b_to_a").at("effective_ber").as_double(), 0);
  EXPECT_TRUE(worst.at("b_to_a").at("raw_ber").is_null()) << "not known is not 0";
  EXPECT_TRUE(view->at("links").at(1).at("a_to_b").at("effective_ber").is_null());
  const std::string name =
      state.name(state.fabric->node(link.a.node)) + fmt::format("/{}", link.a.port.raw());
  EXPECT_EQ(link_view(state, {{"name", name}})->at("a_to_b"), worst.at("a_to_b"));
}

TEST_F(ViewsTest, LinksCanBeChosen) {
  const auto count = [&](const Query& query) {
    return links_view(state, query)->at("links").as_array().size();
  };
  EXPECT_EQ(count({}), 8U);
  EXPECT_EQ(count({{"kind", "host"}}), 4U);
  EXPECT_EQ(count({{"kind", "switch"}}), 4U);
  EXPECT_EQ(count({{"min_utilization", "0.5"}}), 1U);
  EXPECT_EQ(count({{"match", "nothing*"}}), 0U);
  EXPECT_EQ(count({{"match", "*host-*"}}), 4U);
}

TEST_F(ViewsTest, PagesMakeTheWholeListOnce) {
  const auto whole = links_view(state, {{"sort", "name"}})->at("links");
  json::array joined;
  Query query{{"sort", "name"}, {"limit", "3"}};
  for (int pages = 1;; ++pages) {
    const auto page = links_view(state, query);
    ASSERT_TRUE(page) << page.error().message;
    for (const auto& link : page->at("links").as_array()) joined.push_back(link);
    if (page->at("next").is_null()) {
      EXPECT_EQ(pages, 3);
      break;
    }
    query["after"] = page->at("next").as_string();
  }
  EXPECT_EQ(joined, whole.as_array());
  const auto nodes = nodes_view(state, {{"limit", "2"}});
  EXPECT_EQ(nodes->at("nodes").as_array().size(), 2U);
  const auto rest = nodes_view(state, {{"after", std::string(nodes->at("next").as_string())}});
  EXPECT_EQ(rest->at("nodes").as_array().size(), state.fabric->nodes().size() - 2);
  EXPECT_EQ(rest->as_object().if_contains("next"), nullptr);
  EXPECT_EQ(links_view(state, {{"after", "nothing"}}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(links_view(state, {{"limit", "0"}}).error().code, ErrorCode::Invalid);
}

TEST_F(ViewsTest, TheGraphIsWholeJson) {
  const auto graph = read_back([&](const TextSink& out) { return write_fabric(state, out); });
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->at("nodes").as_array().size(), 8U);
  EXPECT_EQ(graph->at("links").as_array().size(), 8U);
}

TEST_F(ViewsTest, WrongParametersAreNamed) {
  EXPECT_THAT(links_view(state, {{"sort", "size"}}).error().message, HasSubstr("sort must be"));
  EXPECT_THAT(links_view(state, {{"top", "-1"}}).error().message, HasSubstr("top must be"));
  EXPECT_THAT(links_view(state, {{"kind", "x"}}).error().message, HasSubstr("kind must be"));
  EXPECT_THAT(nodes_view(state, {{"type", "x"}}).error().message, HasSubstr("type must be"));
  EXPECT_EQ(node_view(state, {{"name", "nobody"}}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(profile_view(state, {{"name", "nobody/1"}}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(profile_view(state, {}).error().code, ErrorCode::Invalid);
}

TEST_F(ViewsTest, ANodeByNameAndByGuid) {
  const Node& node = state.fabric->node(busy.node);
  const auto by_name = node_view(state, {{"name", node.description}});
  const auto by_guid = node_view(state, {{"name", to_string(node.guid)}});
  ASSERT_TRUE(by_name);
  ASSERT_TRUE(by_guid);
  EXPECT_EQ(*by_name, *by_guid);
  bool seen = false;
  for (const auto& port : by_name->at("details").as_array()) {
    if (port.at("port").to_number<unsigned>() != busy.port.raw()) continue;
    seen = true;
    EXPECT_EQ(port.at("counters").at("symbol_errors").to_number<int>(), 7);
    EXPECT_DOUBLE_EQ(port.at("xmit").at("congestion").as_double(), 0.5);
  }
  EXPECT_TRUE(seen);
}

TEST_F(ViewsTest, LocalityOfAnIdleSetIsUndefined) {
  const auto view = locality_view(state);
  ASSERT_TRUE(view);
  const auto& sets = view->at("sets").as_array();
  EXPECT_DOUBLE_EQ(sets[0].at("generated").as_double(), 0.5);
  EXPECT_TRUE(sets[1].at("total").is_null());
}

/// A daemon that is nothing but its state.
class StillDaemon final : public Daemon {
 public:
  explicit StillDaemon(DaemonState state) : state_{std::move(state)} {}
  [[nodiscard]] DaemonState state() const override { return state_; }
  Result<void> look_at_queues(const std::vector<PortIndex>& ports, sampling::QueueProbe::Done done) override {
    sampling::QueueLook look;
    look.port = state_.fabric->ref(ports.front());
    look.depth[3] = 2;
    done({look});
    return {};
  }
  [[nodiscard]] Answers& answers() override { return answers_; }
  [[nodiscard]] Result<Scrape> metrics(const std::map<std::string, std::string>& query,
                                       bool open_metrics) override {
    if (query.contains("shard")) return fail(ErrorCode::Invalid, "no shards here");
    return Scrape{"", open_metrics ? "application/openmetrics-text" : "text/plain", Scrape::Kind::Whole,
                  [](BodyWriter& out) {
                    out.write("up 1\n");
                    return Result<void>{};
                  }};
  }
  Result<std::string> take_subnet(const std::string& by) override {
    taken.push_back(by);
    return "taken";
  }

  std::vector<std::string> taken;

 private:
  DaemonState state_;
  Answers answers_{at_once(), back_at_once()};
};

TEST_F(ViewsTest, TheApiKnowsItsPaths) {
  StillDaemon daemon{state};
  const auto handler = api_handler(daemon);
  const auto ask = [&](const std::string& path, const Query& query = {}, bool post = false) {
    Response answer;
    handler(Request{post, path, query, "", Access::Change},
            [&](Response response) { answer = std::move(response); });
    return answer;
  };
  for (const char* path :
       {"/v1/status", "/v1/links", "/v1/nodes", "/v1/locality", "/v1/fabric", "/metrics"}) {
    EXPECT_EQ(ask(path).status, 200U) << path;
  }
  EXPECT_THAT(body_of(ask("/v1/fabric", {{"format", "ibnetdiscover"}})), HasSubstr("Switch\t"));
  EXPECT_EQ(ask("/v1/fabric", {{"format", "png"}}).status, 400U);
  EXPECT_EQ(ask("/v1/nothing").status, 404U);
  EXPECT_THAT(*ask("/v1/queues", {{"name", "leaf-0/1"}}).body, HasSubstr("\"depth_bytes\":[0,0,0,128,"));
  EXPECT_EQ(ask("/v1/queues", {{"name", "leaf-0"}}).status, 200U);
  EXPECT_EQ(ask("/v1/queues", {{"name", "leaf-0/99"}}).status, 404U);
  EXPECT_EQ(ask("/v1/queues").status, 400U);
  EXPECT_EQ(ask("/v1/status", {}, true).status, 405U);
}

// GET, but PortSamplesControl is written at the port: no reader may cause that, and no web page.
TEST_F(ViewsTest, ReadersMayNotLookIntoQueues) {
  StillDaemon daemon{state};
  Response answer;
  api_handler(daemon)(Request{false, "/v1/queues", {{"name", "leaf-0/1"}}, "", Access::Read},
                      [&](Response response) { answer = std::move(response); });
  EXPECT_EQ(answer.status, 403U);
}

// Members of control.group turn links off; a fabric that another manager may still have is root's to take.
TEST_F(ViewsTest, OnlyRootMakesTheDaemonStandForSubnetManager) {
  StillDaemon daemon{state};
  const auto take = [&](Access access) {
    Response answer;
    api_handler(daemon)(Request{true, "/v1/sm/take", {}, R"({"force":true,"by":"eve"})", access, {}, "uid 0"},
                        [&](Response response) { answer = std::move(response); });
    return answer.status;
  };
  EXPECT_EQ(take(Access::Read), 403U);
  EXPECT_EQ(take(Access::Change), 403U);
  EXPECT_THAT(daemon.taken, IsEmpty());
  EXPECT_EQ(take(Access::Root), 200U);
  EXPECT_THAT(daemon.taken, ElementsAre("uid 0 for eve"));
}

TEST_F(ViewsTest, ALinkThatIsAPlaneSaysSo) {
  FabricBuilder builder;
  for (std::uint64_t guid = 1; guid <= 4; ++guid) {
    Node node;
    node.guid = NodeGuid{guid};
    node.type = NodeType::Switch;
    node.port_count = 1;
    node.system_image_guid = guid <= 2 ? 10 : 20;
    ASSERT_TRUE(builder.add_node(node));
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(builder.add_link({NodeIndex{i}, PortNum{1}}, {NodeIndex{i + 2}, PortNum{1}}, LinkWidth::X1,
                                 LinkSpeed::Xdr));
  }
  state.fabric = builder.build();
  state.sample = nullptr;
  state.planes = std::make_shared<const Planes>(*state.fabric);
  const auto links = links_view(state, {});
  ASSERT_TRUE(links);
  const auto& second = links->at("links").at(1);
  EXPECT_EQ(second.at("speed").as_string(), "XDR");
  EXPECT_EQ(second.at("plane").to_number<int>(), 2);
  EXPECT_EQ(second.at("planes").to_number<int>(), 2);
  const auto node = node_view(state, {{"name", "0x0000000000000001"}});
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->at("details").at(1).at("plane").to_number<int>(), 1);
}

TEST_F(ViewsTest, JsonStaysValidWhateverANodeCallsItself) {
  FabricBuilder builder;
  Node node;
  node.guid = NodeGuid{1};
  node.description = std::string("\xff\xfe<b>\"\x1b[31m", 10);
  ASSERT_TRUE(builder.add_node(node));
  state.fabric = builder.build();
  state.sample = nullptr;
  const auto view = nodes_view(state, {});
  ASSERT_TRUE(view);
  const std::string text = json::serialize(*view);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace heddle::control
