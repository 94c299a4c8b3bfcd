#include "web/standing.h"

#include <gtest/gtest.h>

#include <boost/json/object.hpp>

#include "fabric/change.h"
#include "unit/web/sampled_fabric.h"

namespace heddle::web {
namespace {

using regulation::LinkState;
using regulation::LinkStatus;
using regulation::Wish;

LinkStatus status(LinkState state, Wish wish = Wish::Auto) {
  LinkStatus link;
  link.state = state;
  link.wish = wish;
  return link;
}

TEST(Standing, TellsWhatAnOperatorWantsFromWhatRegulationDoes) {
  EXPECT_EQ(power_state(status(LinkState::Active)), PowerState::On);
  EXPECT_EQ(power_state(status(LinkState::Active, Wish::Pin)), PowerState::OnByOperator);
  EXPECT_EQ(power_state(status(LinkState::Off)), PowerState::Off);
  EXPECT_EQ(power_state(status(LinkState::Off, Wish::Off)), PowerState::OffByOperator);
  EXPECT_EQ(power_state(status(LinkState::Lost, Wish::On)), PowerState::Off);
  for (const auto state : {LinkState::Leaving, LinkState::Draining, LinkState::Closing, LinkState::Opening,
                           LinkState::Ready, LinkState::Joining})
    EXPECT_EQ(power_state(status(state, Wish::Off)), PowerState::Changing) << to_string(state);
}

TEST(Standing, StandsAtTheLinksAndDirectionsThatItIsOf) {
  const SampledFabric made{"torus:4x4,hosts=1"};
  Picture picture = blank_picture(made.blank);
  EXPECT_EQ(picture.drift[0], unknown_drift);
  const Link& link = made.fabric->links()[5];
  LinkStatus off = status(LinkState::Off);
  off.link = link_ref(*made.fabric, link);
  LinkStatus gone = status(LinkState::Off);
  gone.link.a.node = NodeGuid{0xdead};
  add_power(picture, made.blank, {off, gone});
  const PortRef b{made.fabric->node(link.b.node).guid, link.b.port};
  add_drift(picture, made.blank, {{b, "other tables"}, {PortRef{NodeGuid{0xdead}, PortNum{1}}, "no matter"}});
  for (std::size_t i = 0; i < picture.power.size(); ++i) EXPECT_EQ(picture.power[i], i == 5 ? 1 : 0);
  for (std::size_t i = 0; i < picture.drift.size(); ++i) EXPECT_EQ(picture.drift[i], i == 11 ? 1 : 0);
}

TEST(Standing, BitErrorsStandAtTheDirectionThatBringsThem) {
  EXPECT_EQ(bit_errors_shown({}), unknown_bits);
  EXPECT_EQ(bit_errors_shown(0), 0);
  EXPECT_EQ(bit_errors_shown(1e-15), 500);
  EXPECT_EQ(bit_errors_shown(1e-30), 1) << "not none";
  const SampledFabric made{"torus:4x4,hosts=1"};
  const Link& link = made.fabric->links()[5];
  const auto at = [&](LinkEnd end) { return PortRef{made.fabric->node(end.node).guid, end.port}; };
  const auto rates = [](const PortRef& port, std::optional<double> window,
                        std::optional<double> long_window) {
    health::PortBitErrors made_of;
    made_of.port = port;
    made_of.window = {1e-6, window};
    made_of.long_window = {1e-6, long_window};
    return made_of;
  };
  const std::vector ports{rates(at(link.a), 1e-12, 1e-13), rates(at(link.b), {}, {}),
                          rates(PortRef{NodeGuid{0xdead}, PortNum{1}}, 1, {})};
  const Column column = bit_errors_of(*made.fabric, ports);
  for (std::size_t i = 0; i < column.size(); ++i)
    EXPECT_EQ(column[i], i == 11 ? 800 : unknown_bits) << "what comes in at a was sent by b";
}

TEST(Standing, CountsWhereRoutesLeadTo) {
  FabricBuilder builder;
  const auto add = [&](std::uint64_t guid, NodeType type, std::uint8_t port, std::uint16_t lid,
                       std::uint8_t lmc) {
    Node node;
    node.guid = NodeGuid{guid};
    node.type = type;
    node.port_count = 2;
    const NodeIndex index = *builder.add_node(node);
    Port with_lid;
    with_lid.num = PortNum{port};
    with_lid.guid = PortGuid{guid};
    with_lid.lid = Lid{lid};
    with_lid.lmc = lmc;
    EXPECT_TRUE(builder.set_port(index, with_lid));
  };
  add(1, NodeType::Switch, 0, 1, 0);
  add(2, NodeType::ChannelAdapter, 1, 4, 1);
  add(3, NodeType::ChannelAdapter, 1, 6, 1);
  const auto fabric = builder.build();
  EXPECT_TRUE(routes_view(*fabric, std::nullopt).is_null());
  // Both LIDs of one host, one of the other, and one that nobody answers to.
  const auto view = routes_view(*fabric, std::vector{Lid{1}, Lid{4}, Lid{5}, Lid{6}, Lid{40}});
  EXPECT_EQ(view.at("lids").to_number<int>(), 5);
  EXPECT_EQ(view.at("hosts").to_number<int>(), 2);
  EXPECT_EQ(view.at("switches").to_number<int>(), 1);
}

}  // namespace
}  // namespace heddle::web
