// Which switches a manager reaches by directed route, where no table leads to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "fabric/source.h"
#include "regulation/network.h"

namespace heddle::regulation {
namespace {

using routing::LinkSet;
using routing::SwitchIndex;
using testing::ElementsAre;
using testing::IsEmpty;

/// A ring of four switches, and the links around two neighbours of it taken for such as no table leads to.
class DirectedRoutes : public testing::Test {
 protected:
  const std::shared_ptr<const Fabric> fabric_ = *assign_lids(*load_fabric("torus:4,hosts=1")->fabric);
  const std::unique_ptr<Network> network_ = *Network::make(fabric_);
  const std::vector<SwitchIndex> never_led_{SwitchIndex{1}, SwitchIndex{2}};

  void erase_between(LinkSet& active, SwitchIndex x, SwitchIndex y) const {
    for (const routing::Hop& hop : network_->graph().hops(x)) {
      if (hop.peer == y) active.erase(hop.link);
    }
  }
};

TEST_F(DirectedRoutes, LeadOverAnyLinkAlsoByOneAnother) {
  LinkSet active = LinkSet::all(*fabric_);
  EXPECT_THAT(out_of_sight(*network_, never_led_, active), IsEmpty());
  erase_between(active, SwitchIndex{0}, SwitchIndex{1});
  EXPECT_THAT(out_of_sight(*network_, never_led_, active), IsEmpty()) << "1 hangs on 2";
  erase_between(active, SwitchIndex{2}, SwitchIndex{3});
  EXPECT_THAT(out_of_sight(*network_, never_led_, active), ElementsAre(SwitchIndex{1}, SwitchIndex{2}));
}

TEST_F(DirectedRoutes, ASwitchThatTablesLeadToIsNobodysConcern) {
  LinkSet active = LinkSet::all(*fabric_);
  erase_between(active, SwitchIndex{0}, SwitchIndex{3});
  erase_between(active, SwitchIndex{2}, SwitchIndex{3});
  EXPECT_THAT(out_of_sight(*network_, never_led_, active), IsEmpty());
}

}  // namespace
}  // namespace heddle::regulation
