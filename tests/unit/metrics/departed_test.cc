#include "metrics/departed.h"

#include <gtest/gtest.h>

#include "fabric/generators.h"

namespace heddle::metrics {
namespace {

TEST(Departures, KeepsNoMorePortsThanItSays) {
  const auto name_of = [](const Node& node) { return node.description; };
  const Labels many{*generate("tree:k=15,n=3"), name_of};
  const Labels none{FabricBuilder{}.build(), name_of};
  Departures departures;
  departures.follow(many, none);
  EXPECT_LE(departures.ports()->size(), Departures::most);
  EXPECT_GT(departures.ports()->size(), Departures::most - 30) << "as many as fit, node by node";
  departures.follow(none, many);
  EXPECT_TRUE(departures.ports()->empty());
}

}  // namespace
}  // namespace heddle::metrics
