// The loop on fabrics as sites have them: islands, leaves with one cable, hosts beside spines. Some of their
// paths are mends (routing/mends.h), which hold whichever links are off.

#include <cstdlib>
#include <filesystem>

#include "story.h"
#include "support/places.h"

namespace heddle::test {
namespace {

struct Site {
  const char* source;  ///< a generator, or a published fabric
  std::uint8_t lmc;
  bool night = false;  ///< takes minutes
};
void PrintTo(const Site& site, std::ostream* out) { *out << site.source << " at LMC " << int{site.lmc}; }

class RealFabrics : public Story, public testing::WithParamInterface<Site> {};

TEST_P(RealFabrics, GoOffAndComeBackUnderTheEyesOfTheWatch) {
  const Site& site = GetParam();
  if (site.night && std::getenv("HEDDLE_NIGHT") == nullptr) GTEST_SKIP() << "whole ones at night";
  std::string source = site.source;
  if (!source.starts_with("grown:")) {
    const auto file = shared_data() / "fabrics" / (source + ".ibnetdiscover");
    if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not here";
    source = file.string();
  }
  WorldOptions how;
  how.lmc = site.lmc;
  how.governor = quick();
  how.governor.select.policy = regulation::SelectPolicy::General;
  how.governor.most_closing = 0;
  how.governor.policy.chassis = regulation::Chassis::Regulate;
  how.sim.training_delay = 500ms;
  RegulatedWorld& world = begin(source, how);
  traffic(0.02, hosts_.size() / 2);
  world.run_for(60s);
  const std::size_t off = world.links_off().size();
  EXPECT_GT(off, 0U) << events();
  traffic(0.9, hosts_.size() / 3);
  world.run_for(30s);
  EXPECT_LT(world.links_off().size(), off) << events();
  expect_well();
}

INSTANTIATE_TEST_SUITE_P(Some, RealFabrics,
                         testing::Values(Site{"grown:seed=3,hosts=24", 0}, Site{"grown:seed=5,hosts=40", 1},
                                         Site{"psmn-x5", 0}));
INSTANTIATE_TEST_SUITE_P(Whole, RealFabrics,
                         testing::Values(Site{"psmn-x5", 1, true}, Site{"tartu-qdr-2014", 0, true},
                                         Site{"superpod-krskp-hdr-2022", 0, true},
                                         Site{"superpod-krskp-hdr-2022", 1, true},
                                         Site{"selene-compute-hdr-2021", 0, true}));

}  // namespace
}  // namespace heddle::test
