#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "fabric/generators.h"
#include "fabric/ibnetdiscover.h"
#include "fabric/summary.h"

namespace heddle {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Fabric> grow(const std::string& words) {
  auto fabric = generate("grown:" + words);
  EXPECT_TRUE(fabric) << fabric.error().message;
  return fabric ? *fabric : nullptr;
}

bool is_switch(const Fabric& fabric, NodeIndex node) { return fabric.node(node).type == NodeType::Switch; }

TEST(Grown, IsOnePieceWhateverTheSeed) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const auto fabric = grow(fmt::format("seed={}", seed));
    ASSERT_TRUE(fabric);
    const FabricSummary summary = summarize(*fabric);
    const std::size_t hosts = summary.channel_adapters - summary.aggregation_nodes;
    EXPECT_EQ(summary.islands, 1U) << seed;
    EXPECT_GE(hosts, 20U) << seed;
    EXPECT_LE(hosts, 4000U) << seed;
  }
}

TEST(Grown, HasAsManyHostsAsAsked) {
  for (const unsigned hosts : {2U, 3U, 20U, 37U, 59U, 64U, 100U, 1000U, 4000U}) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      const FabricSummary summary = summarize(*grow(fmt::format("seed={},hosts={}", seed, hosts)));
      EXPECT_EQ(summary.channel_adapters - summary.aggregation_nodes, hosts) << seed;
      EXPECT_EQ(summary.islands, 1U) << seed;
    }
  }
}

TEST(Grown, FillsTheUnicastLidsAtMost) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    EXPECT_TRUE(assign_lids(*grow(fmt::format("seed={},hosts=30000", seed)))) << seed;
  }
}

TEST(Grown, IsTheSameForTheSameText) {
  EXPECT_EQ(write_ibnetdiscover(*grow("seed=8")), write_ibnetdiscover(*grow("seed=8")));
  EXPECT_NE(write_ibnetdiscover(*grow("seed=8")), write_ibnetdiscover(*grow("seed=9")));
  EXPECT_EQ(write_ibnetdiscover(*grow("")), write_ibnetdiscover(*grow("seed=1")));
}

/// FNV-1a, 64 bits (draft-eastlake-fnv).
std::uint64_t fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

/// Two draws in one call's arguments come in an order that each compiler chooses.
TEST(Grown, ASeedNamesTheSameSiteWhicheverCompilerMadeHeddle) {
  EXPECT_EQ(fingerprint(write_ibnetdiscover(*grow("seed=9,hosts=203"))), 0x8790b2e3fdc68f15ULL);
  EXPECT_EQ(fingerprint(write_ibnetdiscover(*grow("seed=5,hosts=1000"))), 0x30d522624d1f0a3cULL);
  EXPECT_EQ(fingerprint(write_ibnetdiscover(*grow("seed=8"))), 0x9388f1b4547100eeULL);
}

TEST(Grown, TextOfASpecIsReadAgain) {
  for (const std::string text : {"grown:seed=7", "grown:seed=18446744073709551615,hosts=600"}) {
    const auto spec = parse_generator_spec(text);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(to_string(*spec), text);
  }
}

TEST(Grown, RefusesWhatItWouldNotHeed) {
  const auto error_of = [](const char* text) {
    const auto fabric = generate(text);
    return fabric ? "no error" : fabric.error().message;
  };
  EXPECT_THAT(error_of("grown:seed=1,speed=HDR"), HasSubstr("\"speed\" is not known here"));
  EXPECT_THAT(error_of("grown:hosts=1"), HasSubstr("2 to 30000"));
  EXPECT_THAT(error_of("grown:hosts=30001"), HasSubstr("2 to 30000"));
}

TEST(Grown, GuidsAreTheirOwn) {
  const auto fabric = grow("seed=3,hosts=4000");
  std::set<std::uint64_t> ports;
  for (const Port& port : fabric->ports()) {
    EXPECT_TRUE(port.guid == PortGuid{} || ports.insert(port.guid.raw()).second);
  }
}

/// What the sites of some seeds have, each as the number of seeds that show it.
struct Features {
  int speeds = 0;        ///< three speeds between switches
  int shared_names = 0;  ///< switches of one description
  int chassis = 0;       ///< two devices of several switches
  int aggregation = 0;
  int trunks = 0;       ///< of three sizes
  int high_hosts = 0;   ///< on switches that lead to ten others
  int thin_leaves = 0;  ///< hosts on a switch with two links
};

void count(const Fabric& fabric, Features& features) {
  std::set<LinkSpeed> speeds;
  std::map<std::set<NodeIndex>, int> trunks;
  std::map<NodeIndex, std::set<NodeIndex>> around;
  std::map<NodeIndex, int> links;
  std::set<NodeIndex> with_hosts;
  for (const Link& link : fabric.links()) {
    if (is_switch(fabric, link.a.node) && is_switch(fabric, link.b.node)) {
      speeds.insert(link.speed);
      ++trunks[{link.a.node, link.b.node}];
      around[link.a.node].insert(link.b.node);
      around[link.b.node].insert(link.a.node);
      ++links[link.a.node];
      ++links[link.b.node];
      continue;
    }
    const NodeIndex host = is_switch(fabric, link.a.node) ? link.b.node : link.a.node;
    if (!fabric.node(host).aggregation) with_hosts.insert(host == link.a.node ? link.b.node : link.a.node);
  }
  std::map<std::string, int> names;
  std::map<std::uint64_t, int> devices;
  bool aggregation = false;
  for (const Node& node : fabric.nodes()) {
    aggregation = aggregation || node.aggregation;
    if (node.type != NodeType::Switch) continue;
    ++names[node.description];
    ++devices[node.system_image_guid];
  }
  std::set<int> sizes;
  for (const auto& [ends, size] : trunks) sizes.insert(size);
  const auto several = [](const auto& entry) { return entry.second > 1; };
  features.speeds += speeds.size() >= 3 ? 1 : 0;
  features.shared_names += std::ranges::any_of(names, several) ? 1 : 0;
  features.chassis += std::ranges::count_if(devices, several) >= 2 ? 1 : 0;
  features.aggregation += aggregation ? 1 : 0;
  features.trunks += sizes.size() >= 3 ? 1 : 0;
  const auto high = [&](NodeIndex node) { return around[node].size() >= 10; };
  const auto thin = [&](NodeIndex node) { return links[node] == 2; };
  features.high_hosts += std::ranges::any_of(with_hosts, high) ? 1 : 0;
  features.thin_leaves += std::ranges::any_of(with_hosts, thin) ? 1 : 0;
}

TEST(Grown, SitesHaveWhatRealOnesHave) {
  Features features;
  for (unsigned seed = 1; seed <= 100; ++seed) count(*grow(fmt::format("seed={}", seed)), features);
  EXPECT_GE(features.speeds, 20);
  EXPECT_GE(features.shared_names, 50);
  EXPECT_GE(features.chassis, 20);
  EXPECT_GE(features.aggregation, 30);
  EXPECT_GE(features.trunks, 30);
  EXPECT_GE(features.high_hosts, 30);
  EXPECT_GE(features.thin_leaves, 30);
}

TEST(Grown, SomeCablesAreMissing) {
  // A switch numbers its cables in turn, so that a gap below the last one is a cable that is gone.
  int sites = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto fabric = grow(fmt::format("seed={},hosts=200", seed));
    bool gap = false;
    for (const Node& node : fabric->nodes()) {
      if (node.type != NodeType::Switch) continue;
      bool later = false;
      for (unsigned p = std::min<unsigned>(node.port_count, 36); p >= 1; --p) {
        const bool cabled = fabric->port(PortIndex{node.first_port.raw() + p}).link != no_link;
        gap = gap || (later && !cabled);
        later = later || cabled;
      }
    }
    sites += gap ? 1 : 0;
  }
  EXPECT_GE(sites, 20);
  EXPECT_LT(sites, 50);
}

}  // namespace
}  // namespace heddle
