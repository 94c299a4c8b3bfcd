#include "metrics/selection.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "fabric/generators.h"
#include "metrics/health_families.h"
#include "metrics/metrics.h"
#include "metrics/names.h"
#include "metrics/notify_families.h"
#include "metrics/opensm_families.h"
#include "metrics/problem_families.h"
#include "metrics/qos_metrics.h"
#include "metrics/regulation_metrics.h"
#include "metrics/subnet_manager_families.h"
#include "metrics_fabric.h"

namespace heddle::metrics {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A sweep over a fat tree of 4 hosts, whose every cabled port has 7 symbol errors and has sent something.
class SelectionTest : public testing::Test {
 protected:
  SelectionTest() { publish(); }
  void publish() { metrics_.publish(a_sample(*generate("tree:k=2,n=2")), {}, engine_); }

  [[nodiscard]] std::string scrape(const Selection& selection) const {
    return metrics_.scrape(selection).rest();
  }
  [[nodiscard]] std::string query(const std::map<std::string, std::string>& query) const {
    const auto selection = narrowed({}, query);
    return selection ? scrape(*selection) : selection.error().message;
  }
  /// Lines that are no comment, without their values.
  static std::multiset<std::string> series(const std::string& text) {
    std::multiset<std::string> all;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('#')) all.insert(line.substr(0, line.rfind(' ')));
    }
    return all;
  }

  NoTransport transport_;
  transport::TransactionEngine engine_{transport_, {}};
  Metrics metrics_;
};

TEST_F(SelectionTest, ShardsTogetherHaveEverySeriesOnce) {
  const auto whole = series(scrape({}));
  for (const unsigned shards : {1U, 2U, 3U, 7U}) {
    std::multiset<std::string> together;
    std::size_t largest = 0;
    for (unsigned i = 1; i <= shards; ++i) {
      const auto part = series(query({{"shard", fmt::format("{}/{}", i, shards)}}));
      largest = std::max(largest, part.size());
      together.insert(part.begin(), part.end());
    }
    EXPECT_EQ(together, whole) << shards;
    if (shards == 2) {
      EXPECT_LT(largest, whole.size() * 3 / 4);
    }
  }
}

TEST_F(SelectionTest, APortIsInTheSameShardAfterItsNodeHasGone) {
  metrics_.publish(a_sample(a_fabric()), {}, engine_);
  const auto shard_with = [&](const char* line) {
    std::set<unsigned> found;
    for (unsigned i = 1; i <= 5; ++i) {
      if (query({{"shard", fmt::format("{}/5", i)}}).find(line) != std::string::npos) found.insert(i);
    }
    return found;
  };
  const auto before = shard_with("infiniband_hca_port_state{guid=\"0x000000000000000b\",port=\"1\"");
  metrics_.publish(a_sample(a_fabric({.with_host = false})), {}, engine_);
  EXPECT_EQ(before.size(), 1U);
  EXPECT_EQ(shard_with("hca=\"node01 HCA-1\"} 0\n"), before);
}

TEST_F(SelectionTest, OnlyTheChosenPortsHaveSeries) {
  const std::string all = scrape({});
  EXPECT_THAT(all, AllOf(HasSubstr("infiniband_hca_port_"), HasSubstr("uplink_type=\"CA\"")));
  const std::string of_switches = scrape({.ports = PortChoice::Switch});
  EXPECT_THAT(of_switches, AllOf(Not(HasSubstr("infiniband_hca")), HasSubstr("uplink_type=\"CA\"")));
  const std::string uplinks = scrape({.ports = PortChoice::Uplink});
  EXPECT_THAT(uplinks, AllOf(Not(HasSubstr("infiniband_hca")), Not(HasSubstr("uplink_type=\"CA\"")),
                             HasSubstr("uplink_type=\"SW\""), HasSubstr("heddle_sweeps_total")));
  // 4 cables between switches, 4 to hosts.
  const auto count = [](const std::string& text) {
    std::size_t n = 0;
    for (const auto& line : series(text)) n += line.starts_with("heddle_link_utilization_ratio") ? 1 : 0;
    return n;
  };
  EXPECT_EQ(count(all), 16U);
  EXPECT_EQ(count(of_switches), 12U);
  EXPECT_EQ(count(uplinks), 8U);
}

TEST_F(SelectionTest, FamiliesAreNamedByGroupsNamesAndPatterns) {
  const std::string errors = query({{"collect[]", "errors"}});
  EXPECT_THAT(errors, AllOf(HasSubstr("symbol_error_total{"), Not(HasSubstr("data_bytes")),
                            Not(HasSubstr("_info")), Not(HasSubstr("process_"))));
  EXPECT_THAT(query({{"collect[]", "heddle_link_*,process_threads"}}),
              AllOf(HasSubstr("heddle_link_utilization_ratio{"), HasSubstr("process_threads "),
                    Not(HasSubstr("infiniband"))));
  const auto base = Selection{.families = {"errors", "state"}};
  const auto within = narrowed(base, {{"collect[]", "traffic,state"}});
  EXPECT_THAT(scrape(*within),
              AllOf(HasSubstr("port_state{"), Not(HasSubstr("symbol")), Not(HasSubstr("data_bytes"))))
      << "a scrape narrows what the configuration gives, and does not widen it";
  // Every family is in one of the groups.
  std::multiset<std::string> together;
  for (const std::string_view group : family_groups()) {
    const auto part = series(query({{"collect[]", std::string{group}}}));
    EXPECT_FALSE(part.empty() && group != "energy") << group;
    together.insert(part.begin(), part.end());
  }
  EXPECT_EQ(together, series(scrape({})));
}

TEST_F(SelectionTest, WhatIsAskedForInVainIsSaid) {
  EXPECT_THAT(query({{"collect[]", "error"}}),
              AllOf(HasSubstr("'error' is neither a group"), HasSubstr("errors")));
  // It was answered with no series at all.
  EXPECT_THAT(query({{"collect[]", "heddle_lnk_*"}}),
              AllOf(HasSubstr("'heddle_lnk_*' is neither"), HasSubstr("did you mean 'heddle_link_*'?")));
  EXPECT_THAT(query({{"collect[]", "heddle_link_utilisation_ratio"}}),
              HasSubstr("did you mean 'heddle_link_utilization_ratio'?"));
  EXPECT_THAT(query({{"collect[]", "node_*"}}), AllOf(HasSubstr("'node_*'"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(query({{"collect[]", std::string(1000, '*')}}), HasSubstr("up to 64 characters"));
  std::string many;
  for (int i = 0; i < 65; ++i) many += "errors,";
  EXPECT_THAT(query({{"collect[]", many}}), HasSubstr("up to 64 words"));
  // What there can be is no mistake, though there is none of it.
  EXPECT_EQ(series(query({{"collect[]", "heddle_energy_*,heddle_qos_drift_ports"}})).size(), 0U);
  for (const char* shard : {"", "1", "0/2", "3/2", "1/0", "1/65", "a/2", "1/2x", "-1/2", "1/99999999999"}) {
    EXPECT_THAT(query({{"shard", shard}}), HasSubstr("shard is I/N")) << shard;
  }
}

/// Else asking for one that is left out of the list is refused.
TEST_F(SelectionTest, EveryFamilyThatAnyPartMakesIsKnownByName) {
  const auto problems = std::make_shared<ProblemMetrics>();
  const auto master = std::make_shared<SubnetManagerMetrics>();
  SubnetManagerFigures managed;
  managed.role = "master";
  managed.master = SubnetManagerFigures::Master{};
  master->set(managed);
  const auto regulation = std::make_shared<RegulationMetrics>();
  RegulationFigures regulated;
  regulated.links.emplace_back().energy.emplace();
  regulated.links.back().wake = 4.5;
  regulated.switches.emplace_back();
  regulated.drained.emplace_back();
  regulation->publish(regulated);
  const auto notices = std::make_shared<NotifyMetrics>();
  notices->set({{"oncall", 1, 2, 3, 4}});
  const auto health = std::make_shared<HealthMetrics>();
  health::PortBitErrors wrong;
  wrong.uncorrectable_long = 1;
  wrong.window.effective = 1e-9;
  health->set({}, std::make_shared<const std::vector<health::PortBitErrors>>(1, wrong));
  const cabling::CableCheck as_planned;
  health->set_cables(&as_planned);
  QosMetrics qos;
  QosFigures pushed;
  pushed.verified = 1.0;
  qos.set(pushed);
  for (const std::shared_ptr<prometheus::Collectable>& part :
       {std::shared_ptr<prometheus::Collectable>{problems},
        {master},
        {regulation},
        {notices},
        {health},
        {qos.part()},
        {std::make_shared<OpenSmMetrics>()}})
    metrics_.add(part);
  std::set<std::string> made;
  std::istringstream lines{scrape({})};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) made.insert(line.substr(7, line.rfind(' ') - 7));
  }
  const std::set<std::string> known{family_names().begin(), family_names().end()};
  EXPECT_EQ(made, known);
}

TEST_F(SelectionTest, TheFabricsNameIsOnEveryLine) {
  Metrics named{{}, {.fabric = "hall \"2\""}};
  named.publish(a_sample(a_fabric()), {}, engine_);
  for (const auto& line : series(named.render()))
    EXPECT_THAT(line, HasSubstr("{fabric=\"hall \\\"2\\\"\"")) << line;
}

// Families of two makers: one wrote control sequences as they came, the other question marks.
TEST_F(SelectionTest, TheFabricsNameIsPrintableAndTheSameOnEveryLine) {
  Metrics named{{}, {.fabric = "a\x1b[2J\nb"}};
  named.publish(a_sample(a_fabric()), {}, engine_);
  for (const auto& line : series(named.render())) {
    EXPECT_THAT(line, HasSubstr("{fabric=\"a?[2J?b\""));
  }
}

TEST_F(SelectionTest, OpenMetricsCallsCountersWithoutTotalAndHasAnEnd) {
  const std::string text = scrape({.format = Format::OpenMetrics});
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_EQ(text.find("# EOF"), text.rfind("# EOF"));
  EXPECT_THAT(text, AllOf(HasSubstr("# TYPE infiniband_switch_port_symbol_error counter\n"),
                          HasSubstr("infiniband_switch_port_symbol_error_total{"),
                          HasSubstr("# TYPE heddle_sweeps counter\n"), HasSubstr("\nheddle_sweeps_total ")));
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ") && line.ends_with(" counter")) {
      EXPECT_THAT(line, Not(HasSubstr("_total")));
    }
  }
  EXPECT_EQ(series(text), series(scrape({}))) << "the same series, by the same names";
  const Metrics empty;
  EXPECT_TRUE(empty.scrape({.format = Format::OpenMetrics}).rest().ends_with("\n# EOF\n"));
}

}  // namespace
}  // namespace heddle::metrics
