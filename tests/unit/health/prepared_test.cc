// A judge makes ready for the fabric of the first survey; samples of another one are judged all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "health/judge.h"

namespace heddle::health {
namespace {

using namespace std::chrono_literals;

constexpr const char* four_in_a_ring = "torus:4,hosts=1,links=2";

std::shared_ptr<const Survey> survey_of(const std::string& generator) {
  auto survey = std::make_shared<Survey>();
  survey->fabric = *generate(generator);
  for (const Node& node : survey->fabric->nodes()) {
    SurveyNode known;
    known.info.type = node.type;
    known.info.node_guid = node.guid;
    known.description = node.description;
    known.ports.resize(node.port_count + 1U);
    survey->nodes.push_back(std::move(known));
  }
  return survey;
}

load::Sample sample_of(const std::shared_ptr<const Fabric>& fabric, Instant ended) {
  load::Sample sample;
  sample.fabric = fabric;
  sample.ended = ended;
  sample.ports.resize(fabric->ports().size());
  for (load::PortSample& port : sample.ports) {
    port.status = load::PortStatus::Fresh;
    port.known = load::all_counters;
    port.utilization = 0.5F;
    port.congestion = 0;
  }
  return sample;
}

/// Errors at one port, and a host that takes little, over a window.
std::vector<std::pair<Rule, PortRef>> judged(Judge& judge, const std::shared_ptr<const Survey>& survey) {
  const Fabric& fabric = *survey->fabric;
  judge.on_sample(sample_of(survey->fabric, Instant{1s}));
  judge.on_survey(survey, {}, Instant{2s});
  load::Sample later = sample_of(survey->fabric, Instant{13min});
  for (const Link& link : fabric.links()) {
    const bool to_host = fabric.node(link.b.node).type != NodeType::Switch;
    load::PortSample& port = later.ports[fabric.port_index(link.a).raw()];
    if (to_host) {
      port.congestion = 0.9F;
    } else {
      port.totals[load::at(load::Counter::SymbolErrors)] = 1000;
      break;
    }
  }
  judge.on_sample(later);
  std::vector<std::pair<Rule, PortRef>> found;
  for (const Finding& finding : judge.report()->findings) found.emplace_back(finding.rule, finding.at);
  return found;
}

TEST(HealthPrepared, SamplesOfAnotherFabricThanTheFirstSurveyWasOf) {
  const auto survey = survey_of(four_in_a_ring);
  Judge ready;
  ready.on_survey(survey, {}, Instant{});
  Judge surprised;
  surprised.on_survey(survey_of("tree:k=2,n=2"), {}, Instant{});
  Judge unprepared;  // no survey before the first sample
  const auto found = judged(ready, survey);
  EXPECT_FALSE(found.empty());
  const auto has = [&](Rule rule) {
    return std::ranges::any_of(found, [&](const auto& each) { return each.first == rule; });
  };
  EXPECT_TRUE(has(Rule::SymbolErrors));
  EXPECT_TRUE(has(Rule::SlowReceiver));
  EXPECT_EQ(judged(surprised, survey), found);
  EXPECT_EQ(judged(unprepared, survey), found);
}

}  // namespace
}  // namespace heddle::health
