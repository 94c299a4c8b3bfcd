#include "planned/subnet.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "planned/route_maker.h"
#include "unit/planned/subnets.h"

namespace heddle::planned {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Subnet, DoesNotDependOnTheOrderOfRecords) {
  const SubnetRecords records = records_of(*fabric_of("tree:k=3,n=2"));
  SubnetRecords other = records;
  std::ranges::reverse(other.nodes);
  std::ranges::reverse(other.cables);
  const Subnet x = make_subnet(records, {});
  const Subnet y = make_subnet(other, {});
  EXPECT_TRUE(compare(*x.fabric, *y.fabric).empty());
  for (std::size_t i = 0; i < x.fabric->nodes().size(); ++i) {
    EXPECT_EQ(x.fabric->nodes()[i].guid, y.fabric->nodes()[i].guid);
  }
}

TEST(Subnet, CablesThatAreAbsentStayInTheTopologyAndAreNotUsed) {
  SubnetRecords records = records_of(*fabric_of("tree:k=3,n=2"));
  const LinkRef off = trunks_of(records).front();
  remove(records, off);
  const Subnet subnet = make_subnet(records, std::vector{off, off});
  EXPECT_THAT(subnet.remarks, IsEmpty());
  EXPECT_FALSE(subnet.usable.contains(find_link(*subnet.fabric, off)));
  EXPECT_EQ(subnet.usable.count(), subnet.fabric->links().size() - 1);
}

TEST(Subnet, AnAbsentCableWhosePortHasAnotherIsLeftOut) {
  const SubnetRecords records = records_of(*fabric_of("tree:k=3,n=2"));
  const auto trunks = trunks_of(records);
  const LinkRef never{trunks[0].a, trunks[1].b};
  const Subnet subnet = make_subnet(records, std::vector{never});
  EXPECT_EQ(subnet.fabric->links().size(), records.cables.size());
  const LinkRef nowhere{{NodeGuid{1}, PortNum{1}}, {NodeGuid{2}, PortNum{1}}};
  EXPECT_EQ(make_subnet(records, std::vector{nowhere}).fabric->links().size(), records.cables.size());
}

TEST(Subnet, BeingBroughtUpUsesLinksThatAreNotActive) {
  SubnetRecords records = records_of(*fabric_of("tree:k=3,n=2"));
  for (Cable& cable : records.cables) cable.active = false;
  const Subnet subnet = make_subnet(records, {});
  EXPECT_EQ(subnet.usable.count(), records.cables.size());
  EXPECT_EQ(subnet.waiting, 0U);
}

// Random run 230103 of the real programs: cuts and a dead switch had left no cable of a ring that was Active.
TEST(Subnet, ThatWasUpIsNotBroughtUpOnceMore) {
  SubnetRecords records = records_of(*fabric_of("tree:k=3,n=2"));
  const std::size_t trunks = trunks_of(records).size();
  CableMemory cables;
  (void)cables.missing(records);
  for (Cable& cable : records.cables) cable.active = false;
  (void)cables.missing(records);
  const Subnet subnet = make_subnet(records, {});
  EXPECT_EQ(subnet.usable.count(), records.cables.size() - trunks);
  EXPECT_EQ(subnet.waiting, trunks);
}

TEST(Subnet, ThatIsUpDoesNotUseALinkBeforeItIsActive) {
  SubnetRecords records = records_of(*fabric_of("tree:k=3,n=2"));
  const auto coming = std::ranges::find_if(records.cables, [](const Cable& c) { return c.joins_switches; });
  coming->active = false;
  const LinkRef link = coming->link;
  const Subnet subnet = make_subnet(records, {});
  EXPECT_FALSE(subnet.usable.contains(find_link(*subnet.fabric, link)));
  EXPECT_EQ(subnet.waiting, 1U);
}

// Random run 600204 of the real programs: a spine was back, and joined all in the order, before its links
// took packets; ways around it went away until they did.
TEST(Subnet, ASwitchThatHasJustComeChangesNothingOfTheOthers) {
  const SubnetRecords whole = records_of(*fabric_of("tree:k=3,n=3"));
  for (const Node& node : whole.nodes) {
    if (node.type != NodeType::Switch) continue;
    SubnetRecords records = whole;
    const auto its = [&](const Cable& cable) {
      return cable.link.a.node == node.guid || cable.link.b.node == node.guid;
    };
    std::size_t trained = 0;
    for (Cable& cable : records.cables) {
      if (!cable.joins_switches || !its(cable)) continue;
      cable.active = false;
      ++trained;
    }
    const Subnet subnet = make_subnet(records, {});
    EXPECT_EQ(subnet.waiting, trained);
    EXPECT_EQ(subnet.fabric->links().size(), whole.cables.size() - trained);
    RouteMaker maker;
    const ForwardingTables with = maker.make(subnet, nullptr, 0).value().tables;
    std::erase_if(records.cables, [&](const Cable& cable) { return cable.joins_switches && its(cable); });
    RouteMaker other;
    EXPECT_EQ(with, other.make(make_subnet(records, {}), nullptr, 0).value().tables);
  }
}

TEST(Subnet, AHostIsRoutedToBeforeItsLinkIsActive) {
  SubnetRecords records = records_of(*fabric_of("tree:k=3,n=2"));
  for (Cable& cable : records.cables) cable.active = cable.joins_switches;
  const Subnet subnet = make_subnet(records, {});
  EXPECT_EQ(subnet.usable.count(), records.cables.size());
  EXPECT_EQ(subnet.waiting, 0U);
}

TEST(Subnet, WrongLidsAreLeftOutWithARemark) {
  SubnetRecords records = records_of(*fabric_of("tree:k=3,n=2"));
  records.lids[0].base = Lid{0xc001};
  records.lids[1].base = records.lids[2].base;
  records.lids[3].lmc = 3;
  records.lids[3].base = Lid{0x101};
  records.lids[4].lmc = 200;
  const Subnet subnet = make_subnet(records, {});
  EXPECT_THAT(subnet.remarks, ElementsAre(HasSubstr("LID 49153 with LMC 0"), HasSubstr("belongs to another"),
                                          HasSubstr("LID 257 with LMC 3"), HasSubstr("LMC 200")));
}

TEST(Subnet, NonsenseIsRemarkedNotUsed) {
  SubnetRecords records = records_of(*fabric_of("tree:k=3,n=2"));
  records.nodes.push_back(records.nodes.front());
  records.cables.push_back(records.cables.front());
  records.cables.push_back({{{NodeGuid{1}, PortNum{1}}, {NodeGuid{2}, PortNum{1}}}, true, true});
  records.cables.push_back(
      {{{records.nodes[0].guid, PortNum{250}}, {records.nodes[1].guid, PortNum{250}}}, true, true});
  const Subnet subnet = make_subnet(records, {});
  EXPECT_EQ(subnet.remarks.size(), 3U);
}

TEST(CableMemory, KeepsCablesThatGoUntilTheirPortsAreUsedOtherwise) {
  SubnetRecords all = records_of(*fabric_of("tree:k=3,n=2"));
  const LinkRef gone = trunks_of(all).front();
  CableMemory memory;
  EXPECT_THAT(memory.missing(all), IsEmpty());
  SubnetRecords without = all;
  remove(without, gone);
  EXPECT_THAT(memory.missing(without), ElementsAre(gone));
  EXPECT_THAT(memory.missing(without), ElementsAre(gone));
  SubnetRecords moved = without;
  const PortRef spare{gone.b.node, PortNum{200}};
  moved.cables.push_back({{gone.a, spare}, true, true});
  EXPECT_THAT(memory.missing(moved), IsEmpty());
}

TEST(HostMemory, KeepsHostsThatDoNotAnswerWhileTheirLinksAreActive) {
  const auto fabric = fabric_of("tree:k=3,n=2", 1);
  SubnetRecords all = records_of(*fabric);
  HostMemory memory;
  SubnetRecords seen = all;
  EXPECT_EQ(memory.recall(seen), 0U);
  const Cable cable =
      *std::ranges::find_if(all.cables, [](const Cable& each) { return !each.joins_switches; });
  const bool a_is_host = fabric->node(fabric->find_node(cable.link.a.node)).type != NodeType::Switch;
  const PortRef host = a_is_host ? cable.link.a : cable.link.b;
  const PortRef at = a_is_host ? cable.link.b : cable.link.a;
  SubnetRecords without = all;
  remove(without, cable.link);
  std::erase_if(without.nodes, [&](const Node& node) { return node.guid == host.node; });
  std::erase_if(without.lids, [&](const PortLids& lids) { return lids.port == host; });
  const auto tables = [](const SubnetRecords& records) {
    RouteMaker maker;
    return maker.make(make_subnet(records, {}), nullptr, 1).value().tables;
  };
  SubnetRecords mute = without;
  mute.open = {at};
  EXPECT_EQ(memory.recall(mute), 1U);
  EXPECT_EQ(tables(mute), tables(all));
  // For as long as it takes.
  mute = without;
  mute.open = {at};
  EXPECT_EQ(memory.recall(mute), 1U);
  // Its LID is somebody else's.
  SubnetRecords other = without;
  other.open = {at};
  Node stranger;
  stranger.guid = NodeGuid{0x77};
  stranger.type = NodeType::ChannelAdapter;
  stranger.port_count = 1;
  other.nodes.push_back(stranger);
  const auto lids = *std::ranges::find_if(all.lids, [&](const PortLids& each) { return each.port == host; });
  other.lids.push_back({{stranger.guid, PortNum{1}}, PortGuid{0x78}, lids.base, lids.lmc});
  EXPECT_EQ(memory.recall(other), 0U);
  // Its link is down: it is gone, and stays so until it is seen.
  seen = all;
  EXPECT_EQ(memory.recall(seen), 0U);
  SubnetRecords down = without;
  EXPECT_EQ(memory.recall(down), 0U);
  mute = without;
  mute.open = {at};
  EXPECT_EQ(memory.recall(mute), 0U);
}

}  // namespace
}  // namespace heddle::planned
