#include "sim/scenario_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace heddle::sim {
namespace {

std::vector<PortIndex> ports(std::uint32_t count, std::uint32_t first = 0) {
  std::vector<PortIndex> result;
  for (std::uint32_t i = 0; i < count; ++i) result.emplace_back(first + i);
  return result;
}

Phase phase(Pattern pattern) {
  Phase result;
  result.pattern = pattern;
  return result;
}

/// With the keys of a phase after its pattern.
Phase phase(Pattern pattern, const std::string& keys) {
  return *parse_phase("pattern = \"" + std::string(to_string(pattern)) + "\"\n" + keys, "test");
}

std::vector<TrafficPair> pairs(const Phase& what, std::uint32_t hosts) {
  Random random(1);
  const auto all = ports(hosts);
  return make_pairs(what, all, all, random);
}

/// Where host i sends; itself if nowhere.
std::vector<std::uint32_t> destinations(Pattern pattern, std::uint32_t hosts) {
  std::vector<std::uint32_t> result(hosts);
  for (std::uint32_t i = 0; i < hosts; ++i) result[i] = i;
  for (const auto& pair : pairs(phase(pattern), hosts)) result[pair.from.raw()] = pair.to.raw();
  return result;
}

using testing::ElementsAre;

TEST(Patterns, OverTheNumbersOfHosts) {
  EXPECT_THAT(destinations(Pattern::BitReversal, 8), ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
  EXPECT_THAT(destinations(Pattern::BitComplement, 8), ElementsAre(7, 6, 5, 4, 3, 2, 1, 0));
  EXPECT_THAT(destinations(Pattern::Transpose, 9), ElementsAre(0, 3, 6, 1, 4, 7, 2, 5, 8));
  EXPECT_THAT(destinations(Pattern::Tornado, 8), ElementsAre(3, 4, 5, 6, 7, 0, 1, 2));
  EXPECT_THAT(destinations(Pattern::Neighbour, 4), ElementsAre(1, 2, 3, 0));
}

TEST(Patterns, HostsThatDoNotFitStaySilent) {
  EXPECT_THAT(destinations(Pattern::BitComplement, 6), ElementsAre(3, 2, 1, 0, 4, 5));
  EXPECT_THAT(destinations(Pattern::Transpose, 6), ElementsAre(0, 2, 1, 3, 4, 5));
}

TEST(Patterns, APermutationReachesEveryHostOnceAndNeverItself) {
  auto to = destinations(Pattern::Permutation, 100);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_NE(to[i], i);
  std::sort(to.begin(), to.end());
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(to[i], i);
}

TEST(Patterns, UniformTrafficAmongManyHostsKeepsAFewDestinationsEach) {
  const auto all = pairs(phase(Pattern::Uniform, "destinations = 8"), 5000);
  EXPECT_EQ(all.size(), 40'000U);
  std::map<PortIndex, std::set<PortIndex>> to;
  for (const auto& pair : all) {
    EXPECT_NE(pair.from, pair.to);
    EXPECT_DOUBLE_EQ(pair.share, 1.0 / 8);
    to[pair.from].insert(pair.to);
  }
  for (const auto& [from, receivers] : to) EXPECT_EQ(receivers.size(), 8U);
}

TEST(Patterns, UniformTrafficAmongFewHostsReachesAll) {
  EXPECT_EQ(pairs(phase(Pattern::Uniform, "destinations = 8"), 5).size(), 5U * 4);
  EXPECT_EQ(pairs(phase(Pattern::AllToAll, "destinations = 8"), 9).size(), 9U * 8);
}

TEST(Patterns, AllToAllLoadsEveryReceiverAlike) {
  std::map<PortIndex, double> received;
  for (const auto& pair : pairs(phase(Pattern::AllToAll, "destinations = 4"), 50)) {
    received[pair.to] += pair.share;
  }
  for (const auto& [to, share] : received) EXPECT_DOUBLE_EQ(share, 1);
}

TEST(Patterns, IncastSendsEverythingToTheTargets) {
  const auto all = pairs(phase(Pattern::Incast, "targets = 2"), 10);
  std::set<PortIndex> targets;
  for (const auto& pair : all) targets.insert(pair.to);
  EXPECT_EQ(targets.size(), 2U);
  EXPECT_EQ(all.size(), 8U);
  for (const auto& pair : all) EXPECT_FALSE(targets.contains(pair.from));
}

TEST(Patterns, AHotspotTakesItsShareOfEverySender) {
  std::map<PortIndex, double> received;
  std::map<PortIndex, double> sent;
  for (const auto& pair : pairs(phase(Pattern::Hotspot, "targets = 1\nhot = 0.5"), 40)) {
    received[pair.to] += pair.share;
    sent[pair.from] += pair.share;
  }
  for (const auto& [from, share] : sent) EXPECT_NEAR(share, 1, 1e-12);
  const auto most = std::max_element(received.begin(), received.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_GE(most->second, 39 * 0.5);
}

TEST(Patterns, ReceiversOfTheirOwn) {
  Random random(1);
  const auto senders = ports(10);
  const auto receivers = ports(3, 100);
  Phase with_to = phase(Pattern::Incast, "to = \"*\"");
  for (const auto& pair : make_pairs(with_to, senders, receivers, random)) EXPECT_GE(pair.to.raw(), 100U);
  with_to.pattern = Pattern::Uniform;
  EXPECT_EQ(make_pairs(with_to, senders, receivers, random).size(), 30U);
}

TEST(Patterns, FewHostsAreNoTrouble) {
  for (int i = 0; i <= static_cast<int>(Pattern::Flows); ++i) {
    for (std::uint32_t hosts = 0; hosts < 4; ++hosts) {
      for (const auto& pair : pairs(phase(static_cast<Pattern>(i)), hosts)) {
        EXPECT_NE(pair.from, pair.to);
        EXPECT_LT(pair.to.raw(), hosts);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::sim
