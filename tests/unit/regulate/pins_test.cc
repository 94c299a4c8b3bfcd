#include "regulate/pins.h"

#include <gmock/gmock.h>

#include "fabric/generators.h"
#include "support/trunks.h"

namespace heddle::regulate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PinsTest : public ::testing::Test {
 protected:
  [[nodiscard]] Pins find(const std::vector<std::string>& patterns) const {
    return find_pins(fabric_, NodeNames{}, patterns);
  }
  [[nodiscard]] std::size_t between_switches() const { return test::trunk_links(*fabric_).size(); }
  std::shared_ptr<const Fabric> fabric_ = *generate("torus:2x2,hosts=1,links=2");
};

TEST_F(PinsTest, ByLinkByEndAndBySwitch) {
  EXPECT_EQ(find({"*"}).links.size(), between_switches());
  EXPECT_EQ(find({"sw-0-0"}).links.size(), 4U);
  const Pins one = find({"sw-0-0/2"});
  ASSERT_EQ(one.links.size(), 1U);
  const Link& link = fabric_->link(fabric_->port(fabric_->find_port(one.links[0].a)).link);
  const auto end = [&](LinkEnd at) {
    return fabric_->node(at.node).description + "/" + std::to_string(at.port.raw());
  };
  EXPECT_EQ(find({end(link.a) + " -- " + end(link.b)}).links, one.links);
  EXPECT_EQ(find({end(link.b) + " -- " + end(link.a)}).links, one.links);
  EXPECT_EQ(find({"sw-0-0/2", "sw-0-0"}).links.size(), 4U);
}

TEST_F(PinsTest, SaysWhatNoLinkIsCalled) {
  const Pins pins = find({"spine-*", "sw-*", "host-0*"});
  EXPECT_THAT(pins.unmatched, ElementsAre("spine-*", "host-0*"));  // hosts' links are never turned off
  EXPECT_THAT(find({}).unmatched, IsEmpty());
}

}  // namespace
}  // namespace heddle::regulate
