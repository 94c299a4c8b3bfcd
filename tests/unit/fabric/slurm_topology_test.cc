#include "fabric/slurm_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"

namespace heddle {
namespace {

using testing::HasSubstr;

std::string topology(const std::string& spec) { return slurm_topology(*generate(spec).value()).value().text; }

TEST(SlurmTopology, LevelsOfATree) {
  EXPECT_EQ(topology("tree:k=2,n=3"),
            "# topology.conf for Slurm's topology/tree, made by heddle fabric export\n"
            "SwitchName=leaf-0-0 Nodes=host-[0-1]\n"
            "SwitchName=leaf-0-1 Nodes=host-[2-3]\n"
            "SwitchName=leaf-1-0 Nodes=host-[4-5]\n"
            "SwitchName=leaf-1-1 Nodes=host-[6-7]\n"
            "SwitchName=group1-0 Switches=leaf-0-[0-1]\n"
            "SwitchName=group1-1 Switches=leaf-1-[0-1]\n"
            "SwitchName=group2-0 Switches=group1-[0-1]\n");
}

TEST(SlurmTopology, ATorusIsOneGroup) {
  const std::string text = topology("torus:3,hosts=2");
  EXPECT_THAT(text, HasSubstr("SwitchName=sw-2 Nodes=host-[4-5]\nSwitchName=group1-0 Switches=sw-[0-2]\n"));
}

TEST(SlurmTopology, EachHostAndEachSwitchStandsOnceWhereverAdaptersAre) {
  const auto fabric = generate("grown:seed=11,hosts=300").value();
  const auto result = slurm_topology(*fabric).value();
  std::map<std::string, int> said;
  std::size_t at = 0;
  while ((at = result.text.find("SwitchName=", at)) != std::string::npos) {
    at += 11;
    ++said[result.text.substr(at, result.text.find(' ', at) - at)];
  }
  for (const auto& [name, times] : said) EXPECT_EQ(times, 1) << name;
  // Of islands whose adapters nobody named.
  EXPECT_THAT(result.warnings, testing::ElementsAre(testing::StartsWith("101 adapters share their names")));
}

TEST(SlurmTopology, AdaptersThatAreCalledByTheirChipAreLeftOutWithAWord) {
  const auto built = generate("torus:3,hosts=1").value();
  FabricBuilder again;
  for (Node node : built->nodes()) {
    if (node.type == NodeType::ChannelAdapter && node.description != "host-0 mlx5_0")
      node.description = "MT25408 ConnectX";
    ASSERT_TRUE(again.add_node(node));
  }
  for (const Link& link : built->links()) ASSERT_TRUE(again.add_link(link.a, link.b, link.width, link.speed));
  const auto result = slurm_topology(*again.build()).value();
  EXPECT_THAT(result.text, testing::Not(HasSubstr("MT25408")));
  EXPECT_THAT(result.text, HasSubstr("Nodes=host-0\n"));
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_THAT(result.warnings[0], testing::StartsWith("2 adapters share their names"));
}

std::string blocks(const std::string& spec) {
  return slurm_topology(*generate(spec).value(), SlurmPlugin::Block).value().text;
}

// Hosts at one leaf; two leaves of a pod, and both pods, make larger blocks.
TEST(SlurmTopology, BlocksOfATree) {
  EXPECT_EQ(
      blocks("tree:k=2,n=3"),
      "# topology.conf for Slurm's topology/block, made by heddle fabric export by Slurm's documentation:\n"
      "# not tried with Slurm itself\n"
      "BlockName=block1 Nodes=host-[0-1]  # leaf-0-0\n"
      "BlockName=block2 Nodes=host-[2-3]  # leaf-0-1\n"
      "BlockName=block3 Nodes=host-[4-5]  # leaf-1-0\n"
      "BlockName=block4 Nodes=host-[6-7]  # leaf-1-1\n"
      "BlockSizes=2,4,8\n");
}

// Slurm takes two, four, eight blocks together: three are none of these.
TEST(SlurmTopology, LevelsThatAreNoPowerOfTwoMakeNoLargerBlocks) {
  EXPECT_THAT(blocks("tree:k=3,n=3"), testing::EndsWith("Nodes=host-[24-26]  # leaf-2-2\nBlockSizes=3\n"));
  EXPECT_THAT(blocks("torus:4,hosts=2"), testing::EndsWith("BlockSizes=2,8\n"));
}

TEST(SlurmTopology, TheSmallestBlockIsWhatSlurmPlansBy) {
  const auto fabric = generate("grown:seed=11,hosts=300").value();
  const auto result = slurm_topology(*fabric, SlurmPlugin::Block).value();
  EXPECT_THAT(result.warnings, testing::Contains(HasSubstr("Slurm plans by the smallest")));
}

TEST(SlurmTopology, HostLists) {
  EXPECT_EQ(slurm_hostlist({"n9", "n10", "n11", "n1"}), "n[1,9-11]");
  EXPECT_EQ(slurm_hostlist({"dgx001", "dgx002", "login"}), "dgx[001-002],login");
  EXPECT_EQ(slurm_hostlist({"a7"}), "a7");
}

TEST(SlurmTopology, AFabricWithoutHostsIsRefused) {
  FabricBuilder builder;
  EXPECT_FALSE(slurm_topology(*builder.build()));
}

}  // namespace
}  // namespace heddle
