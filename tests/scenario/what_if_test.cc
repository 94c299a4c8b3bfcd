// What a twin says of a drain, against the drain itself: the same traffic, every port.

#include "drains.h"
#include "routing/outage.h"
#include "twin/predict.h"
#include "twin/router.h"

namespace heddle::test {
namespace {

class WhatIf : public Drains {
 protected:
  [[nodiscard]] const Fabric& reference() const {
    return *world_->daemon->regulator().governor().reference();
  }

  /// By the tables that were read back, as heddled's own.
  [[nodiscard]] twin::Router router() {
    const auto& regulator = world_->daemon->regulator();
    const auto& read = world_->daemon->core().tables();
    EXPECT_TRUE(read);
    EXPECT_TRUE(read && read->unread.empty());
    const auto graph = routing::SwitchGraph::make(reference());
    const auto in_force = twin::reordered(read->tables, *graph);
    twin::RouterOptions options;
    options.order.ranks = regulator.governor().ranks();
    options.order.turns = regulator.known().turns;
    options.order.planes = regulator.planes();
    auto found = twin::Router::find(regulator.governor().reference(), routing::LinkSet::all(reference()),
                                    &in_force, options);
    EXPECT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->agreement(), 1.0);
    EXPECT_EQ(found->name(), "heddled");
    return *std::move(found);
  }
  /// The flows that there are, in the daemon's numbers.
  [[nodiscard]] twin::Fill flows() {
    return [this](sim::TrafficPlane& plane) -> Result<void> {
      for (const sim::TrafficId id : flows_) {
        sim::TrafficFlow flow = world_->plane.flow(id);
        flow.from = reference().find_port(truth().ref(flow.from));
        flow.to = reference().find_port(truth().ref(flow.to));
        if (const auto added = plane.add(flow, Picoseconds{0}); !added) return fail(added.error());
      }
      return {};
    };
  }
  [[nodiscard]] twin::Prediction predict(const twin::Router& router, const std::vector<std::string>& spines,
                                         unsigned plane) {
    routing::Failure failure;
    for (const std::string& name : spines)
      failure.nodes.push_back(reference().find_node(truth().node(node(name)).guid));
    const routing::LinkSet left = routing::links_left(reference(), failure);
    const auto tables = router.tables(left);
    const auto graph = routing::SwitchGraph::make(reference());
    const twin::View view{reference(), *graph, *tables, left, nullptr};
    auto found = twin::predict(view, flows(), Picoseconds{0}, plane);
    EXPECT_TRUE(found) << found.error().message;
    return *std::move(found);
  }
  void expect_as_predicted(const twin::Prediction& predicted) {
    for (std::uint32_t i = 0; i < reference().ports().size(); ++i) {
      const PortIndex here = truth().find_port(reference().ref(PortIndex{i}));
      const double rate = world_->plane.sent(here, world_->ps()).value();
      EXPECT_NEAR(rate, predicted.load[i], 1e-6 * (1e9 + rate)) << to_string(reference().ref(PortIndex{i}));
    }
    EXPECT_NEAR(busiest(), predicted.load[predicted.busiest.raw()], 1e-6 * busiest());
  }
  /// Says it first, then does it.
  void expect_what_is_done_is_what_was_said() {
    world_->run_for(60s);
    const twin::Router tables = router();
    for (const std::vector<std::string>& what :
         {std::vector<std::string>{"spine-0"}, {"spine-1"}, {"spine-0", "spine-2"}}) {
      const auto predicted = predict(tables, what, world_->daemon->regulator().next_plane());
      ASSERT_TRUE(drain(what));
      becomes_safe();
      world_->run_for(30s);
      for (const std::string& name : what) {
        const NodeGuid guid = truth().node(node(name)).guid;
        ASSERT_FALSE(world_->opensm && world_->opensm->is_in_sight(guid)) << "OpenSM sees " << name;
      }
      expect_as_predicted(predicted);
      ASSERT_TRUE(end({}));
      expect_everything_back();
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Lmc, WhatIf, ::testing::Values(0, 1));

TEST_P(WhatIf, OfGivenFlowsSaysWhatDoingItGives) {
  begin_loaded();
  expect_what_is_done_is_what_was_said();
}

TEST_P(WhatIf, AlsoWhereEverybodySendsToEverybodyByEveryLid) {
  begin_loaded();
  everybody_to_everybody();
  expect_what_is_done_is_what_was_said();
}

// OpenSM forgets what is drained, and what its tables are made by does not.
class WhatIfBesidePlugin : public WhatIf {
 protected:
  [[nodiscard]] WrittenBy written_by() const override { return WrittenBy::Plugin; }
};
class WhatIfBesideFile : public WhatIf {
 protected:
  [[nodiscard]] WrittenBy written_by() const override { return WrittenBy::File; }
};
INSTANTIATE_TEST_SUITE_P(Lmc, WhatIfBesidePlugin, ::testing::Values(0, 1));
INSTANTIATE_TEST_SUITE_P(Lmc, WhatIfBesideFile, ::testing::Values(0, 1));

TEST_P(WhatIfBesidePlugin, EverybodySendsToEverybodyByEveryLid) {
  begin_loaded();
  everybody_to_everybody();
  expect_what_is_done_is_what_was_said();
}

TEST_P(WhatIfBesideFile, EverybodySendsToEverybodyByEveryLid) {
  begin_loaded();
  everybody_to_everybody();
  expect_what_is_done_is_what_was_said();
}

}  // namespace
}  // namespace heddle::test
