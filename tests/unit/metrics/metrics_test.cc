#include "metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include "metrics_fabric.h"

namespace heddle::metrics {
namespace {

using load::Counter;
using testing::HasSubstr;
using testing::Not;

class MetricsTest : public testing::Test {
 protected:
  void publish(const std::shared_ptr<const load::Sample>& sample) {
    metrics.publish(sample, {.sweeps = 3, .saturated = 2}, engine);
  }

  NoTransport transport;
  transport::TransactionEngine engine{transport, {}};
  Metrics metrics;
};

TEST_F(MetricsTest, BeforeTheFirstSweepThereIsTheDaemonOnly) {
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes"));
  EXPECT_THAT(text, Not(HasSubstr("infiniband_")));
}

TEST_F(MetricsTest, NamesAndLabelsAreThoseOfInfinibandExporter) {
  publish(a_sample(a_fabric()));
  const std::string text = metrics.render();
  for (const char* line : {
           "infiniband_switch_port_transmit_data_bytes_total{guid=\"0x0000000000000001\",port=\"1\","
           "switch=\"spine\"} 4000\n",
           "infiniband_hca_port_receive_data_bytes_total{guid=\"0x000000000000000b\",port=\"1\","
           "hca=\"node01 HCA-1\"} 4000\n",
           "infiniband_switch_port_symbol_error_total{guid=\"0x0000000000000001\",port=\"1\","
           "switch=\"spine\"} 7\n",
           "infiniband_switch_uplink_info{guid=\"0x0000000000000001\",port=\"1\",switch=\"spine\","
           "uplink=\"node01 HCA-1\",uplink_guid=\"0x000000000000000b\",uplink_type=\"CA\",uplink_port=\"1\","
           "uplink_lid=\"11\"} 1\n",
           "infiniband_hca_uplink_info{guid=\"0x000000000000000b\",port=\"1\",hca=\"node01 HCA-1\","
           "uplink=\"spine\",uplink_guid=\"0x0000000000000001\",uplink_type=\"SW\",uplink_port=\"1\","
           "uplink_lid=\"1\"} 1\n",
           "infiniband_switch_info{guid=\"0x0000000000000001\",switch=\"spine\",lid=\"1\"} 1\n",
           "infiniband_switch_port_rate_bytes_per_second{guid=\"0x0000000000000001\",port=\"1\","
           "switch=\"spine\"} 2.5e+10\n",
           "infiniband_switch_port_state{guid=\"0x0000000000000001\",port=\"1\",switch=\"spine\"} 1\n",
           "infiniband_switch_port_state{guid=\"0x0000000000000001\",port=\"3\",switch=\"spine\"} 0\n",
           "heddle_link_utilization_ratio{guid=\"0x0000000000000001\",port=\"1\",node=\"spine\"} 0.25\n",
           "heddle_locality_ratio{set=\"racks\",kind=\"generated\"} 0.5\n",
           "heddle_sweep_duration_seconds 0.25\n",
           "heddle_saturated_readings_total 2\n",
           "heddle_port_saturated_total{guid=\"0x0000000000000001\",port=\"1\",node=\"spine\"} 9\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, HasSubstr("# TYPE infiniband_switch_port_transmit_data_bytes_total counter\n"));
  // What is not known is not exported.
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("kind=\"consumed\"")));
  EXPECT_THAT(text, Not(HasSubstr("infiniband_switch_port_unicast_transmit_packets_total{")));
}

TEST_F(MetricsTest, APortWhoseNodeIsGoneReadsZeroUntilItIsBack) {
  publish(a_sample(a_fabric()));
  const char* gone =
      "infiniband_hca_port_state{guid=\"0x000000000000000b\",port=\"1\",hca=\"node01 HCA-1\"} 0\n";
  EXPECT_THAT(metrics.render(), Not(HasSubstr(gone)));
  publish(a_sample(a_fabric({.with_host = false})));
  EXPECT_THAT(metrics.render(), HasSubstr(gone));
  publish(a_sample(a_fabric()));
  EXPECT_THAT(metrics.render(), Not(HasSubstr(gone)));
}

TEST_F(MetricsTest, HostileNamesAreEscaped) {
  publish(a_sample(a_fabric({.host_name = "a\"} 1\nevil{x=\"\\\xff\x1b[2J"})));
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("hca=\"a\\\"} 1?evil{x=\\\"\\\\??[2J\"} "));
  EXPECT_THAT(text, Not(HasSubstr("\nevil")));
}

TEST_F(MetricsTest, NodesHaveTheNamesThatTheOperatorGave) {
  metrics.name_nodes([](const Node& node) { return "my " + node.description; });
  publish(a_sample(a_fabric()));
  EXPECT_THAT(metrics.render(), HasSubstr("switch=\"my spine\""));
}

TEST_F(MetricsTest, PiecesMakeTheSameTextAndEachFamilyHasOneHead) {
  publish(a_sample(a_fabric()));
  Exposition whole = metrics.scrape();
  Exposition pieces = whole;
  std::string text;
  std::size_t calls = 1;
  while (pieces.next(text, 1)) ++calls;
  EXPECT_EQ(text, whole.rest());
  EXPECT_GT(calls, 20U);
  std::size_t heads = 0;
  for (auto at = text.find("# TYPE infiniband_switch_port_state "); at != std::string::npos;
       at = text.find("# TYPE infiniband_switch_port_state ", at + 1)) {
    ++heads;
  }
  EXPECT_EQ(heads, 1U);
}

TEST_F(MetricsTest, AScrapeKeepsItsSweepWhileOthersArePublished) {
  publish(a_sample(a_fabric()));
  Exposition scrape = metrics.scrape();
  publish(a_sample(a_fabric({.with_host = false})));
  EXPECT_THAT(scrape.rest(), HasSubstr("infiniband_hca_info{guid=\"0x000000000000000b\""));
}

TEST_F(MetricsTest, OtherPartsOfTheDaemonAddTheirOwn) {
  const auto registry = std::make_shared<prometheus::Registry>();
  prometheus::BuildCounter().Name("heddle_other_total").Help("x").Register(*registry).Add({}).Increment(5);
  metrics.add(registry);
  EXPECT_THAT(metrics.render(), HasSubstr("heddle_other_total 5\n"));
}

}  // namespace
}  // namespace heddle::metrics
