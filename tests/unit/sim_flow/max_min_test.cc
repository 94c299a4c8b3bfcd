#include "sim/flow/max_min.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/random.h"

namespace heddle::sim {
namespace {

std::vector<BitRate> rates(std::initializer_list<double> values) {
  std::vector<BitRate> result;
  for (const double value : values) result.emplace_back(value);
  return result;
}

FlowId add(MaxMin& net, std::initializer_list<std::uint32_t> path, BitRate demand = unlimited,
           std::uint32_t weight = 1) {
  std::vector<ChannelId> channels;
  for (const auto channel : path) channels.emplace_back(channel);
  return net.add(channels, demand, weight);
}

// Channels of 10, 24 and 50, each crossed by the flows of the ones before. a and b share the first: 5 each. c
// and d share what a and b leave of the second: 24 - 5 - 5 = 14, 7 each. e and f share what a, c and d leave
// of the third: 50 - 5 - 7 - 7 = 31, 15.5 each.
TEST(MaxMin, ThreeNestedBottlenecks) {
  MaxMin net(rates({10, 24, 50}));
  const FlowId a = add(net, {0, 1, 2});
  const FlowId b = add(net, {0, 1});
  const FlowId c = add(net, {1, 2});
  const FlowId d = add(net, {2, 1});
  const FlowId e = add(net, {2});
  const FlowId f = add(net, {2});
  for (const bool repaired : {false, true}) {
    repaired ? net.update() : net.solve();
    EXPECT_DOUBLE_EQ(net.rate(a).value(), 5);
    EXPECT_DOUBLE_EQ(net.rate(b).value(), 5);
    EXPECT_DOUBLE_EQ(net.rate(c).value(), 7);
    EXPECT_DOUBLE_EQ(net.rate(d).value(), 7);
    EXPECT_DOUBLE_EQ(net.rate(e).value(), 15.5);
    EXPECT_DOUBLE_EQ(net.rate(f).value(), 15.5);
    EXPECT_EQ(net.bottleneck(a), ChannelId{0});
    EXPECT_EQ(net.bottleneck(d), ChannelId{1});
    EXPECT_EQ(net.bottleneck(f), ChannelId{2});
    EXPECT_DOUBLE_EQ(net.carried(ChannelId{2}).value(), 50);
  }
}

TEST(MaxMin, NobodyGetsMoreThanItsDemandAndTheOthersShareTheRest) {
  MaxMin net(rates({30}));
  const FlowId small = add(net, {0}, BitRate{4});
  const FlowId large = add(net, {0}, BitRate{20});
  const FlowId greedy = add(net, {0});
  net.solve();
  EXPECT_DOUBLE_EQ(net.rate(small).value(), 4);
  EXPECT_DOUBLE_EQ(net.rate(large).value(), 13);
  EXPECT_DOUBLE_EQ(net.rate(greedy).value(), 13);
  EXPECT_EQ(net.bottleneck(small), no_channel);
  EXPECT_EQ(net.bottleneck(large), ChannelId{0});
}

TEST(MaxMin, WeightsShareAChannel) {
  MaxMin net(rates({40}));
  const FlowId light = add(net, {0}, unlimited, 1);
  const FlowId heavy = add(net, {0}, unlimited, 3);
  net.solve();
  EXPECT_DOUBLE_EQ(net.rate(light).value(), 10);
  EXPECT_DOUBLE_EQ(net.rate(heavy).value(), 30);
}

TEST(MaxMin, AChannelThatIsOffCarriesNothing) {
  MaxMin net(rates({40, 40}));
  const FlowId flow = add(net, {0, 1});
  const FlowId other = add(net, {0});
  net.solve();
  net.set_capacity(ChannelId{1}, BitRate{0});
  net.update();
  EXPECT_EQ(net.rate(flow).value(), 0);
  EXPECT_DOUBLE_EQ(net.rate(other).value(), 40);
}

TEST(MaxMin, TellsWhichRatesChanged) {
  MaxMin net(rates({10, 10}));
  const FlowId first = add(net, {0});
  const FlowId far = add(net, {1});
  net.solve();
  EXPECT_THAT(net.changed(), testing::UnorderedElementsAre(first, far));
  const FlowId second = add(net, {0});
  net.update();
  EXPECT_THAT(net.changed(), testing::UnorderedElementsAre(first, second));
  net.update();
  EXPECT_THAT(net.changed(), testing::IsEmpty());
  net.remove(second);
  net.update();
  EXPECT_THAT(net.changed(), testing::ElementsAre(first));
}

struct Scene {
  struct Flow {
    std::vector<ChannelId> path;
    double demand;
    std::uint32_t weight;
  };
  std::vector<BitRate> capacities;
  std::vector<Flow> flows;
};

enum class Values { Few, Any };

// Few values make ties, which are the rule on real fabrics.
double value(Random& random, Values values) {
  return values == Values::Few ? static_cast<double>(1 + random.below(4)) * 12 : 1 + random.unit() * 99;
}

Scene::Flow random_flow(Random& random, Values values, std::size_t channels) {
  std::vector<ChannelId> path;
  for (std::uint32_t c = 0; c < channels; ++c) path.emplace_back(c);
  random.shuffle(path);
  path.resize(1 + random.below(std::min<std::size_t>(6, channels)));
  const double demand = random.chance(0.5) ? unlimited.value() : value(random, values) / 4;
  const auto weight = static_cast<std::uint32_t>(random.chance(0.7) ? 1 : 1 + random.below(4));
  return {path, demand, weight};
}

Scene random_scene(Random& random, Values values) {
  Scene scene;
  const std::size_t channels = 1 + random.below(24);
  for (std::size_t c = 0; c < channels; ++c) scene.capacities.emplace_back(value(random, values));
  const std::size_t flows = random.below(60);
  for (std::size_t f = 0; f < flows; ++f) scene.flows.push_back(random_flow(random, values, channels));
  return scene;
}

/// By the definition: all levels rise together in steps to the next event, every channel and flow looked at
/// in each.
std::vector<double> by_definition(const Scene& scene) {
  std::vector<long double> rate(scene.flows.size(), 0);
  std::vector<bool> stopped(scene.flows.size(), false);
  for (;;) {
    std::vector<long double> left(scene.capacities.size());
    std::vector<long double> weight(scene.capacities.size(), 0);
    for (std::size_t c = 0; c < left.size(); ++c) left[c] = scene.capacities[c].value();
    long double step = std::numeric_limits<long double>::infinity();
    for (std::size_t f = 0; f < scene.flows.size(); ++f) {
      for (const ChannelId c : scene.flows[f].path) {
        left[c.raw()] -= rate[f];
        if (!stopped[f]) weight[c.raw()] += scene.flows[f].weight;
      }
      if (!stopped[f]) step = std::min(step, (scene.flows[f].demand - rate[f]) / scene.flows[f].weight);
    }
    for (std::size_t c = 0; c < left.size(); ++c) {
      if (weight[c] > 0) step = std::min(step, left[c] / weight[c]);
    }
    if (std::isinf(step)) break;
    for (std::size_t f = 0; f < scene.flows.size(); ++f) {
      if (!stopped[f]) rate[f] += step * scene.flows[f].weight;
    }
    for (std::size_t f = 0; f < scene.flows.size(); ++f) {
      if (stopped[f]) continue;
      bool stops = scene.flows[f].demand - rate[f] < 1e-12L;
      for (const ChannelId c : scene.flows[f].path) {
        stops = stops || left[c.raw()] - step * weight[c.raw()] < 1e-12L;
      }
      stopped[f] = stops;
    }
  }
  return {rate.begin(), rate.end()};
}

void expect_rates(const MaxMin& net, const std::vector<FlowId>& ids, const Scene& scene) {
  const auto expected = by_definition(scene);
  for (std::size_t f = 0; f < ids.size(); ++f) {
    RC_ASSERT(std::abs(net.rate(ids[f]).value() - expected[f]) < 100 * MaxMin::tolerance);
  }
}

void check_solve(std::uint64_t seed, Values values) {
  Random random(seed);
  const Scene scene = random_scene(random, values);
  MaxMin net(scene.capacities);
  std::vector<FlowId> ids;
  for (const auto& flow : scene.flows) ids.push_back(net.add(flow.path, BitRate{flow.demand}, flow.weight));
  net.solve();
  expect_rates(net, ids, scene);
}

TEST(MaxMin, AgreesWithTheDefinition) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) { check_solve(seed, Values::Any); }));
  EXPECT_TRUE(rc::check([](std::uint64_t seed) { check_solve(seed, Values::Few); }));
}

/// Changes one thing at a time and repairs.
void check_updates(std::uint64_t seed, Values values) {
  Random random(seed);
  Scene scene = random_scene(random, values);
  MaxMin net(scene.capacities);
  std::vector<FlowId> ids;
  for (const auto& flow : scene.flows) ids.push_back(net.add(flow.path, BitRate{flow.demand}, flow.weight));
  net.solve();
  for (int change = 0; change < 20; ++change) {
    const auto kind = random.below(4);
    if (kind == 0 || scene.flows.empty()) {
      scene.flows.push_back(random_flow(random, values, scene.capacities.size()));
      const auto& flow = scene.flows.back();
      ids.push_back(net.add(flow.path, BitRate{flow.demand}, flow.weight));
    } else if (kind == 1) {
      const std::size_t gone = random.below(ids.size());
      net.remove(ids[gone]);
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(gone));
      scene.flows.erase(scene.flows.begin() + static_cast<std::ptrdiff_t>(gone));
    } else if (kind == 2) {
      const std::size_t f = random.below(ids.size());
      scene.flows[f].demand = value(random, values) / 3;
      net.set_demand(ids[f], BitRate{scene.flows[f].demand});
    } else {
      const std::size_t c = random.below(scene.capacities.size());
      scene.capacities[c] = BitRate{random.chance(0.3) ? 0 : value(random, values)};
      net.set_capacity(ChannelId{static_cast<std::uint32_t>(c)}, scene.capacities[c]);
    }
    net.update();
    expect_rates(net, ids, scene);
  }
}

TEST(MaxMin, RepairsToTheSameRatesAfterEveryChange) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) { check_updates(seed, Values::Any); }));
  EXPECT_TRUE(rc::check([](std::uint64_t seed) { check_updates(seed, Values::Few); }));
}

}  // namespace
}  // namespace heddle::sim
