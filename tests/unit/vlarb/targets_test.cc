#include "vlarb/targets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "support/managed_world.h"

namespace heddle::vlarb {
namespace {

// A switch may say another thing of each of its ports, and each takes a search for tables on the thread that
// reads MADs.
TEST(Targets, TablesAreSearchedForTheMostFrequentKindsOfPorts) {
  constexpr std::size_t honest = 100;
  constexpr std::size_t searched = 128;
  ManagedWorld world{"tree:k=8,n=2"};
  world.bring_up();
  Survey survey = *world.survey;
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < survey.nodes.size(); ++i) {
    SurveyNode& node = survey.nodes[i];
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      if (!survey.fabric->peer({NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}})) continue;
      mad::PortInfo& info = node.ports[p].info;
      // The honest ones come last.
      const std::size_t lie = count++ % 256;
      info.vl_arb_high_cap = lie < 256 - honest ? static_cast<std::uint8_t>(1 + lie % 16) : 3;
      info.vl_arb_low_cap = lie < 256 - honest ? static_cast<std::uint8_t>(1 + lie / 16) : 0;
    }
  }
  ASSERT_EQ(count, 256U);
  const auto name_of = [](const Node& node) { return node.description; };
  const Targets targets = targets_of(survey, {for_ports("")}, name_of);
  EXPECT_EQ(targets.images.size(), searched);
  EXPECT_EQ(targets.ports.size(), honest + searched - 1);
  const auto rare = std::ranges::find_if(targets.shortfalls, [](const Shortfall& shortfall) {
    return shortfall.reason.find("more than 128 different things") != std::string::npos;
  });
  ASSERT_NE(rare, targets.shortfalls.end());
  EXPECT_EQ(rare->ports.size(), 256 - targets.ports.size());
  EXPECT_TRUE(std::ranges::all_of(targets.shortfalls, [&](const Shortfall& shortfall) {
    return &shortfall == &*rare || shortfall.reason.find("different things") == std::string::npos;
  })) << "one for all of them";
}

}  // namespace
}  // namespace heddle::vlarb
