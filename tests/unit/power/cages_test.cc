#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "power/energy_account.h"

namespace heddle::power {
namespace {

constexpr LinkMode ndr{LinkWidth::X4, LinkSpeed::Ndr};

/// Two switches whose cages take a module of 15 W for two ports, joined by links that fill cages.
class CagesTest : public testing::Test {
 protected:
  CagesTest() {
    FabricBuilder builder;
    for (const std::uint64_t guid : {1, 2}) {
      Node node;
      node.guid = NodeGuid{guid};
      node.type = NodeType::Switch;
      node.port_count = 4;
      nodes_.push_back(builder.add_node(std::move(node)).value());
    }
    for (const std::uint8_t port : {1, 2, 3}) {
      EXPECT_TRUE(builder.add_link({nodes_[0], PortNum{port}}, {nodes_[1], PortNum{port}}, LinkWidth::X4,
                                   LinkSpeed::Ndr));
    }
    fabric_ = builder.build();
    DeviceModel model;
    model.pattern = "*";
    model.base = Watts{100};
    model.ports = {{ndr, Watts{2}}};
    model.ports_a_cage = 2;
    model.modules[static_cast<std::size_t>(Cable::Optical)] = {Watts{15}, {}};
    account_.use(PowerModel{{model}, Unmatched::Unknown, Cable::Optical});
  }

  /// Saved by both ends of everything with these links off.
  double saving(std::initializer_list<std::size_t> off) {
    std::vector<LinkMode> modes(3, ndr);
    for (const std::size_t link : off) modes[link] = off_mode;
    account_.set(Instant{}, *fabric_, modes, std::vector<LinkMode>(3, ndr));
    return account_.saving().value();
  }

  std::vector<NodeIndex> nodes_;
  std::shared_ptr<const Fabric> fabric_;
  EnergyAccount account_;
};

TEST_F(CagesTest, AModuleIsSavedOnlyWhenBothOfItsPortsAreOff) {
  EXPECT_DOUBLE_EQ(saving({}), 0);
  EXPECT_DOUBLE_EQ(account_.power().value(), 2 * (100 + 3 * 2 + 2 * 15));
  EXPECT_DOUBLE_EQ(saving({0}), 2 * 2);
  EXPECT_DOUBLE_EQ(saving({0, 1}), 2 * (2 * 2 + 15));
  // The third link has the cage for itself.
  EXPECT_DOUBLE_EQ(saving({2}), 2 * (2 + 15));
  EXPECT_DOUBLE_EQ(saving({0, 1, 2}) + account_.power().value(), 2 * (100 + 3 * 2 + 2 * 15));
}

TEST_F(CagesTest, ALinkThatIsOffSavesNoMoreThanIsSaved) {
  saving({0});
  account_.advance(Instant{} + std::chrono::seconds{1});
  const LinkRef first = link_ref(*fabric_, fabric_->link(LinkIndex{0}));
  const LinkRef second = link_ref(*fabric_, fabric_->link(LinkIndex{1}));
  EXPECT_DOUBLE_EQ(account_.link(first).saved.value(), 2 * 2);
  EXPECT_DOUBLE_EQ(account_.link(second).saved.value(), 0);
}

}  // namespace
}  // namespace heddle::power
