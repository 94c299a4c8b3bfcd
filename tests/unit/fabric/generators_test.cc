#include "fabric/generators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

namespace heddle {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Fabric> make(std::string_view text) {
  auto fabric = generate(text);
  EXPECT_TRUE(fabric) << fabric.error().message;
  return fabric ? *fabric : nullptr;
}

std::string refusal_of(std::string_view text) {
  const auto fabric = generate(text);
  return fabric ? "no error" : fabric.error().message;
}

bool is_connected(const Fabric& fabric) {
  std::vector<std::vector<NodeIndex>> neighbours(fabric.nodes().size());
  for (const Link& link : fabric.links()) {
    neighbours[link.a.node.raw()].push_back(link.b.node);
    neighbours[link.b.node.raw()].push_back(link.a.node);
  }
  std::vector<NodeIndex> queue{NodeIndex{0}};
  std::set<NodeIndex> seen{NodeIndex{0}};
  while (!queue.empty()) {
    const NodeIndex node = queue.back();
    queue.pop_back();
    for (const NodeIndex next : neighbours[node.raw()]) {
      if (seen.insert(next).second) queue.push_back(next);
    }
  }
  return seen.size() == fabric.nodes().size();
}

NodeIndex named(const Fabric& fabric, std::string_view name) {
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    if (fabric.nodes()[i].description == name) return NodeIndex{i};
  }
  ADD_FAILURE() << "no node is called " << name;
  return NodeIndex{0};
}

std::string peer_of(const Fabric& fabric, std::string_view name, std::uint8_t port) {
  const auto peer = fabric.peer({named(fabric, name), PortNum{port}});
  return peer ? fabric.node(peer->node).description + "/" + std::to_string(peer->port.raw()) : "nothing";
}

/// Links between two switches by their pair, whichever end is first.
std::map<std::set<NodeIndex>, int> trunks(const Fabric& fabric) {
  std::map<std::set<NodeIndex>, int> result;
  for (const Link& link : fabric.links()) {
    if (fabric.node(link.a.node).type == NodeType::Switch &&
        fabric.node(link.b.node).type == NodeType::Switch) {
      ++result[{link.a.node, link.b.node}];
    }
  }
  return result;
}

struct Counts {
  std::string spec;
  std::size_t switches;
  std::size_t hosts;
  std::size_t links;
};
void PrintTo(const Counts& counts, std::ostream* out) { *out << counts.spec; }

class GeneratorCounts : public testing::TestWithParam<Counts> {};

TEST_P(GeneratorCounts, AreThoseOfTheShape) {
  const auto fabric = make(GetParam().spec);
  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric->switch_count(), GetParam().switches);
  EXPECT_EQ(fabric->channel_adapter_count(), GetParam().hosts);
  EXPECT_EQ(fabric->links().size(), GetParam().links);
  EXPECT_TRUE(is_connected(*fabric));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, GeneratorCounts,
    testing::Values(Counts{"xgft:3;18,18,36;1,18,18", 1620, 11664,
                           3 * 11664},                                     // full three levels of 36 ports
                    Counts{"tree:k=18,n=3,full", 1620, 11664, 3 * 11664},  //
                    Counts{"tree:k=4,n=3", 48, 64, 3 * 64},                //
                    Counts{"tree:k=24,n=2", 48, 576, 2 * 576},             //
                    Counts{"tree:k=22,n=3", 3 * 484, 10648, 3 * 10648},    //
                    Counts{"tree:k=1,n=1", 1, 1, 1},                       //
                    Counts{"xgft:2;3,4;2,2", 4 * 2 + 4, 12, 24 + 16},      // hosts with two ports
                    Counts{"fattree:hosts=5000,radix=40", 250 + 260 + 200, 5000, 15200},
                    Counts{"fattree:hosts=1,radix=2", 3, 1, 3},  //
                    Counts{"torus:8x8,hosts=8,links=10", 64, 512, 512 + 64 * 2 * 10},
                    Counts{"torus:8x8x4,hosts=4,links=4", 256, 1024, 1024 + 256 * 3 * 4},
                    Counts{"torus:4x2,hosts=1", 8, 8, 8 + 8 + 4},  // a ring of two is one trunk
                    Counts{"torus:5", 5, 5, 10},                   //
                    Counts{"mesh:3x4,hosts=2,links=2", 12, 24, 24 + 2 * (2 * 4 + 3 * 3)},
                    Counts{"mesh:1x1x1,hosts=0", 1, 0, 0},  //
                    Counts{"dragonfly+:groups=9,leaves=4,spines=4,hosts=4,global=2", 72, 144, 144 + 144 + 36},
                    Counts{"dragonfly+:groups=1,leaves=2,spines=3,hosts=1,global=0,links=2", 5, 2, 2 + 12},
                    Counts{"random:switches=20,hosts=40,links=50,ports=12,seed=7", 20, 40, 90},
                    Counts{"random:switches=2,hosts=0,links=12,ports=12", 2, 0, 12},
                    Counts{"random:switches=1,hosts=3,links=0", 1, 3, 3}));

TEST(Generators, NothingHasALidAndLinksWaitForASubnetManager) {
  const auto fabric = make("tree:k=2,n=2,width=2x,speed=NDR");
  for (const Port& port : fabric->ports()) EXPECT_EQ(port.lid, no_lid);
  for (const Link& link : fabric->links()) {
    EXPECT_EQ(link.width, LinkWidth::X2);
    EXPECT_EQ(link.speed, LinkSpeed::Ndr);
    for (const LinkEnd& end : {link.a, link.b}) {
      EXPECT_EQ(fabric->port(end).state, PortState::Init);
      EXPECT_EQ(fabric->port(end).physical, PhysState::LinkUp);
      EXPECT_EQ(fabric->port(end).width, LinkWidth::X2);
    }
  }
}

TEST(Generators, EveryGuidIsItsOwn) {
  const auto fabric = make("xgft:2;4,4;2,4");
  std::set<std::uint64_t> ports;
  for (std::uint32_t i = 0; i < fabric->ports().size(); ++i) {
    const Port& port = fabric->ports()[i];
    if (port.guid == PortGuid{}) continue;
    EXPECT_TRUE(ports.insert(port.guid.raw()).second);
    EXPECT_EQ(fabric->find_port(port.guid), PortIndex{i});
  }
  EXPECT_EQ(ports.size(), 16 * 2 + 8 + 8U);
}

TEST(Generators, PortsOfATree) {
  const auto fabric = make("tree:k=4,n=3");
  EXPECT_EQ(peer_of(*fabric, "host-17 mlx5_0", 1), "leaf-1-0/2");
  EXPECT_EQ(peer_of(*fabric, "leaf-1-2", 5), "spine-1-0/3");
  EXPECT_EQ(peer_of(*fabric, "leaf-1-2", 8), "spine-1-3/3");
  EXPECT_EQ(peer_of(*fabric, "spine-1-3", 5), "core-3-0/2");
  EXPECT_EQ(peer_of(*fabric, "spine-1-3", 6), "core-3-1/2");
  EXPECT_EQ(peer_of(*fabric, "core-3-1", 5), "nothing");
  EXPECT_EQ(fabric->node(named(*fabric, "core-3-1")).port_count, 8);
}

TEST(Generators, FatTreeHasTrunksWherePodsAreFew) {
  const auto fabric =
      make("fattree:hosts=16,radix=8");  // one pod: each spine's four links go to one core switch
  EXPECT_EQ(fabric->switch_count(), 4U + 4 + 4);
  EXPECT_EQ(peer_of(*fabric, "spine-0-2", 5), "core-2-0/1");
  EXPECT_EQ(peer_of(*fabric, "spine-0-2", 8), "core-2-0/4");
}

TEST(Generators, PortsOfATorus) {
  const auto fabric = make("torus:4x4,hosts=2,links=2,ports=24");
  EXPECT_EQ(fabric->node(named(*fabric, "sw-0-0")).port_count, 24);
  EXPECT_EQ(peer_of(*fabric, "sw-1-3", 2), "host-15 mlx5_0/1");
  EXPECT_EQ(peer_of(*fabric, "sw-1-3", 3), "sw-2-3/5");
  EXPECT_EQ(peer_of(*fabric, "sw-1-3", 4), "sw-2-3/6");
  EXPECT_EQ(peer_of(*fabric, "sw-1-3", 7), "sw-1-0/9");
  EXPECT_EQ(peer_of(*fabric, "sw-3-3", 3), "sw-0-3/5");
  for (const auto& [pair, links] : trunks(*fabric)) EXPECT_EQ(links, 2);
}

TEST(Generators, EveryPairOfDragonflyGroupsHasTheSameLinks) {
  const auto fabric = make("dragonfly+:groups=5,leaves=2,spines=4,hosts=1,global=3");
  std::map<std::set<std::string>, int> pairs;
  std::map<NodeIndex, int> of_a_spine;
  const auto group = [&](NodeIndex node) {
    const std::string& name = fabric->node(node).description;
    return name.substr(name.find('-'), name.rfind('-') - name.find('-'));
  };
  for (const auto& [pair, links] : trunks(*fabric)) {
    const NodeIndex a = *pair.begin();
    const NodeIndex b = *pair.rbegin();
    if (group(a) == group(b)) continue;
    EXPECT_EQ(links, 1);
    pairs[{group(a), group(b)}] += links;
    of_a_spine[a] += links;
    of_a_spine[b] += links;
  }
  EXPECT_EQ(pairs.size(), 10U);
  for (const auto& [pair, links] : pairs) EXPECT_EQ(links, 3);
  for (const auto& [spine, links] : of_a_spine) EXPECT_EQ(links, 3);
}

TEST(Generators, ASeedNamesARandomFabric) {
  const auto cables = [](std::string_view text) {
    std::vector<std::pair<LinkEnd, LinkEnd>> result;
    const auto fabric = make(text);
    for (const Link& link : fabric->links()) result.emplace_back(link.a, link.b);
    return result;
  };
  EXPECT_EQ(cables("random:switches=9,hosts=9,links=20,seed=3"),
            cables("random:switches=9,hosts=9,links=20,seed=3"));
  EXPECT_NE(cables("random:switches=9,hosts=9,links=20,seed=3"),
            cables("random:switches=9,hosts=9,links=20,seed=4"));
}

RC_GTEST_PROP(Generators, RandomFabricsAreConnectedAndAsLargeAsAsked, ()) {
  RandomSpec shape;
  shape.switches = *rc::gen::inRange(1U, 30U);
  shape.hosts = *rc::gen::inRange(0U, 60U);
  shape.links = shape.switches == 1 ? 0 : shape.switches - 1 + *rc::gen::inRange(0U, 60U);
  shape.seed = *rc::gen::arbitrary<std::uint64_t>();
  GeneratorSpec spec;
  spec.shape = shape;
  const auto fabric = generate(spec);
  RC_ASSERT(fabric.has_value());
  RC_ASSERT((*fabric)->links().size() == shape.hosts + shape.links);
  RC_ASSERT((*fabric)->switch_count() == shape.switches);
  RC_ASSERT(is_connected(**fabric));
  for (const Link& link : (*fabric)->links()) RC_ASSERT(link.a.node != link.b.node);
}

TEST(Generators, EveryPortOfEverySwitchCanBeUsed) {
  const auto fabric = make("random:switches=10,hosts=10,links=25,ports=6,seed=5");
  for (const Port& port : fabric->ports()) {
    if (port.num == PortNum{0}) continue;
    EXPECT_NE(port.link, no_link);
  }
}

TEST(GeneratorSpec, TextAndBack) {
  for (const char* text :
       {"xgft:3;18,18,36;1,18,18,width=4x,speed=HDR", "tree:k=4,n=3,width=4x,speed=HDR",
        "tree:k=4,n=3,full,width=4x,speed=HDR", "fattree:hosts=5000,radix=40,width=4x,speed=HDR",
        "torus:8x8,hosts=4,links=2,width=1x,speed=FDR10",
        "mesh:2x3x4,hosts=1,links=1,width=4x,speed=HDR,ports=36",
        "dragonfly+:groups=9,leaves=4,spines=4,hosts=4,global=2,links=1,width=4x,speed=EDR",
        "random:switches=20,hosts=40,links=50,seed=7,width=4x,speed=HDR,ports=12"}) {
    const auto spec = parse_generator_spec(text);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(to_string(*spec), text);
  }
}

TEST(GeneratorSpec, ToldFromFileNames) {
  EXPECT_TRUE(is_generator_spec("torus:4x4"));
  EXPECT_FALSE(is_generator_spec("torus.ibnetdiscover"));
  EXPECT_FALSE(is_generator_spec("./torus:4x4"));
}

TEST(GeneratorSpec, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(refusal_of("ring:4"), HasSubstr("one of xgft, tree"));
  EXPECT_THAT(refusal_of("tree:k=4"), HasSubstr("n=NUMBER is missing"));
  EXPECT_THAT(refusal_of("tree:k=4,n=2,m=1"), HasSubstr("\"m\" is not known"));
  EXPECT_THAT(refusal_of("tree:k=4,k=4,n=2"), HasSubstr("given twice"));
  EXPECT_THAT(refusal_of("tree:k=-4,n=2"), HasSubstr("k=-4"));
  EXPECT_THAT(refusal_of("tree:k=400,n=2"), HasSubstr("k from 1 to 127"));
  EXPECT_THAT(refusal_of("tree:k=60,n=9"), HasSubstr("more than 200000 nodes"));
  EXPECT_THAT(refusal_of("xgft:2;4,4;1"), HasSubstr("all three must agree"));
  EXPECT_THAT(refusal_of("xgft:2;4,0;1,1"), HasSubstr("1 or more"));
  EXPECT_THAT(refusal_of("xgft:0;;"), HasSubstr("not a number"));
  EXPECT_THAT(refusal_of("torus:8x,hosts=1"), HasSubstr("not a number"));
  EXPECT_THAT(refusal_of("torus:2x2x2x2"), HasSubstr("1 to 3 dimensions"));
  EXPECT_THAT(refusal_of("torus:4x4,hosts=8,links=10,ports=40"), HasSubstr("has 48 cables"));
  EXPECT_THAT(refusal_of("torus:4x4,links=90"), HasSubstr("254 is the most"));
  EXPECT_THAT(refusal_of("torus:4x4,speed=FAST"), HasSubstr("like HDR"));
  EXPECT_THAT(refusal_of("torus:4294967295x4294967295x2"), HasSubstr("nodes"));
  EXPECT_THAT(refusal_of("fattree:hosts=5000,radix=7"), HasSubstr("even number"));
  EXPECT_THAT(refusal_of("fattree:hosts=5000,radix=8"), HasSubstr("1 to 128 hosts"));
  EXPECT_THAT(refusal_of("dragonfly+:groups=9,leaves=2,spines=2,hosts=1,global=1"),
              HasSubstr("reach 2 other groups"));
  EXPECT_THAT(refusal_of("random:switches=5,hosts=1,links=3"), HasSubstr("at least 4"));
  EXPECT_THAT(refusal_of("random:switches=5,hosts=1,links=30,ports=4"), HasSubstr("ports=4 is too few"));
  EXPECT_THAT(refusal_of("random:switches=2,hosts=0,links=4294967295"), HasSubstr("254 is the most"));
}

TEST(AssignLids, EveryPortThatIsAddressedHasItsOwnAlignedBlock) {
  const auto fabric = assign_lids(*make("xgft:2;4,4;2,4"), 2);
  ASSERT_TRUE(fabric);
  std::set<std::uint16_t> lids;
  for (const Port& port : (*fabric)->ports()) {
    const bool is_switch = (*fabric)->node(port.node).type == NodeType::Switch;
    if (is_switch != (port.num == PortNum{0})) {
      EXPECT_EQ(port.lid, no_lid);
      continue;
    }
    ASSERT_NE(port.lid, no_lid);
    EXPECT_EQ(port.lmc, is_switch ? 0 : 2);
    EXPECT_EQ(port.lid.raw() % (1U << port.lmc), 0U);
    EXPECT_EQ(port.state, PortState::Active);
    for (unsigned i = 0; i < 1U << port.lmc; ++i) {
      EXPECT_TRUE(lids.insert(static_cast<std::uint16_t>(port.lid.raw() + i)).second);
    }
  }
  for (const Link& link : (*fabric)->links()) EXPECT_EQ((*fabric)->port(link.a).state, PortState::Active);
}

TEST(AssignLids, SaysWhenThereAreNotEnough) {
  const auto fabric = assign_lids(*make("tree:k=18,n=3,full"), 3);
  ASSERT_FALSE(fabric);
  EXPECT_THAT(fabric.error().message, HasSubstr("unicast LIDs"));
  EXPECT_FALSE(assign_lids(*make("tree:k=2,n=1"), 8));
}

}  // namespace
}  // namespace heddle
