#include "routing/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "routing/dor.h"
#include "routing/grid.h"
#include "routing/proof.h"
#include "routing/quality.h"
#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Fabric> made(const char* spec, std::uint8_t lmc = 0) {
  return assign_lids(*generate(spec).value(), lmc).value();
}

std::vector<std::uint32_t> sizes(const Fabric& fabric) {
  const Grid grid = find_grid(fabric, SwitchGraph::make(fabric).value()).value();
  std::vector<std::uint32_t> result;
  for (const Dimension& dimension : grid.dimensions) result.push_back(dimension.size);
  std::sort(result.begin(), result.end());
  return result;
}

TEST(Grid, FindsMeshesAndTori) {
  EXPECT_EQ(sizes(*made("mesh:3x5x2")), (std::vector<std::uint32_t>{2, 3, 5}));
  EXPECT_EQ(sizes(*made("torus:5x6,links=3")), (std::vector<std::uint32_t>{5, 6}));
  EXPECT_EQ(sizes(*made("torus:3x7x5")), (std::vector<std::uint32_t>{3, 5, 7}));
  EXPECT_EQ(sizes(*made("torus:4x4")), (std::vector<std::uint32_t>{2, 2, 2, 2}));
}

TEST(Grid, WhateverTheOrderOfGuidsAndPorts) {
  shapes::Sketch sketch = shapes::torus(5, 7, 1, 2);
  sketch.shuffle(11);
  EXPECT_EQ(sizes(*sketch.build()), (std::vector<std::uint32_t>{5, 7}));
}

TEST(Grid, RefusesATreeAndATangle) {
  const auto tree = made("tree:k=3,n=2");
  const auto grid = find_grid(*tree, SwitchGraph::make(*tree).value());
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(grid.error().message, HasSubstr("use updn"));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto tangle = shapes::tangle(9, 9, 3, seed).build();
    const auto none = find_grid(*tangle, SwitchGraph::make(*tangle).value());
    EXPECT_FALSE(none && none->dimensions.size() > 1 &&
                 none->dimensions[0].size * none->dimensions[1].size != 9);
  }
}

class DimOrderTest : public testing::TestWithParam<const char*> {};

TEST_P(DimOrderTest, IsCompleteAndFreeOfDeadlock) {
  for (const std::uint8_t lmc : {0, 1}) {
    const auto fabric = made(GetParam(), lmc);
    const Routes routes = route(*fabric, LinkSet::all(*fabric), Engine::DimOrder).value();
    ProofOptions options;
    if (routes.vls) options.vls = &*routes.vls;
    const Proof proof = prove(routes.graph, routes.tables, options);
    EXPECT_TRUE(proof.holds()) << describe(proof.findings[0], *fabric, routes.graph);
    EXPECT_EQ(proof.broken, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, DimOrderTest,
                         testing::Values("mesh:4x3,hosts=2", "torus:4x4,links=2", "torus:5x5",
                                         "torus:8x8,hosts=4,links=2", "torus:6x3x5", "mesh:2x2x2",
                                         "torus:7"));

TEST(DimOrder, WithoutTheSecondVlARingDeadlocks) {
  const auto fabric = made("torus:6x6");
  const Routes routes = route(*fabric, LinkSet::all(*fabric), Engine::DimOrder).value();
  ASSERT_TRUE(routes.vls);
  EXPECT_EQ(routes.vls->vl_count(), 2U);
  EXPECT_FALSE(prove(routes.graph, routes.tables).holds());
}

TEST(DimOrder, RefusesOneVlOnRingsAndALostNeighbour) {
  const auto fabric = made("torus:6x6");
  RouteOptions one;
  one.vls = 1;
  const auto refused = route(*fabric, LinkSet::all(*fabric), Engine::DimOrder, one);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("two data VLs"));
  LinkSet active = LinkSet::all(*fabric);
  active.erase(SwitchGraph::make(*fabric)->hops(SwitchIndex{0})[0].link);
  const auto around = route(*fabric, active, Engine::DimOrder);
  ASSERT_FALSE(around);
  EXPECT_THAT(around.error().message, HasSubstr("no active link is left"));
}

// OpenSM's dor reaches 1.25 there, as it goes one way where both are equally long.
TEST(DimOrder, BalanceOfATorus) {
  const auto fabric = made("torus:8x8,hosts=4,links=2");
  const Routes routes = route(*fabric, LinkSet::all(*fabric), Engine::DimOrder).value();
  const Loads loads = all_to_all(routes.graph, routes.tables);
  EXPECT_LE(loads.largest() / loads.mean(routes.graph, LinkSet::all(*fabric)), 1.01);
}

TEST(FatTree, TakesTreesAndRefusesATorus) {
  const auto tree = made("tree:k=3,n=3,full");
  EXPECT_TRUE(route(*tree, LinkSet::all(*tree), Engine::FatTree));
  const auto torus = made("torus:5x5");
  const auto refused = route(*torus, LinkSet::all(*torus), Engine::FatTree);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no fat tree"));
}

TEST(FatTree, ADamagedTreeStaysBalancedAndLegal) {
  const auto tree = made("tree:k=6,n=3,full");
  LinkSet active = LinkSet::all(*tree);
  const SwitchGraph graph = SwitchGraph::make(*tree).value();
  Random random(3);
  for (unsigned i = 0; i < 8; ++i) {
    const SwitchIndex s{static_cast<std::uint32_t>(random.below(graph.size()))};
    active.erase(graph.hops(s)[random.below(graph.hops(s).size())].link);
  }
  const Routes routes = route(*tree, active, Engine::FatTree).value();
  ProofOptions options;
  options.active = &active;
  EXPECT_TRUE(prove(routes.graph, routes.tables, options).holds());
  EXPECT_LT(all_to_all(routes.graph, routes.tables).largest() / lower_bound(routes.graph, active), 2.1);
}

TEST(Engine, NamesAreFoundAgain) {
  for (const Engine engine : {Engine::UpDown, Engine::FatTree, Engine::DimOrder, Engine::MinHop}) {
    EXPECT_EQ(engine_from(to_string(engine)), engine);
  }
  EXPECT_EQ(engine_from("lash"), std::nullopt);
}

TEST(Engine, MinhopWarnsAndPartsAreSaid) {
  const auto fabric = made("torus:4x4");
  EXPECT_THAT(route(*fabric, LinkSet::all(*fabric), Engine::MinHop)->warnings,
              testing::ElementsAre(HasSubstr("deadlock")));
  shapes::Sketch parts(2);
  parts.hosts(0, 1);
  parts.hosts(1, 1);
  const auto two = parts.build();
  EXPECT_THAT(route(*two, LinkSet::all(*two), Engine::UpDown)->warnings,
              testing::ElementsAre(HasSubstr("0x0000000000000100")));
}

}  // namespace
}  // namespace heddle::routing
