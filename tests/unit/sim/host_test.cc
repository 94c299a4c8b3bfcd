#include "sim/host.h"

#include <gtest/gtest.h>

namespace heddle::sim {
namespace {

std::shared_ptr<const Fabric> twins() {
  FabricBuilder builder;
  for (const std::uint64_t guid : {0xa000bULL, 0xa000cULL, 0xb000cULL}) {
    Node node;
    node.type = NodeType::Switch;
    node.guid = NodeGuid{guid};
    node.description = "twin";
    node.port_count = 2;
    EXPECT_TRUE(builder.add_node(node));
  }
  return builder.build(1);
}

// What `heddle nodes` calls a node is taken by `heddle sim`, too.
TEST(FindNamed, TheFormThatIsShownOfANameThatSeveralHave) {
  const auto fabric = twins();
  EXPECT_EQ(find_named(*fabric, "twin#000b").value(), NodeIndex{0});
  EXPECT_EQ(find_named(*fabric, "twin#b000c").value(), NodeIndex{2});
  EXPECT_EQ(find_named(*fabric, "0x00000000000a000c").value(), NodeIndex{1});
  const auto several = find_named(*fabric, "twin#000c");
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, ErrorCode::Conflict);
  EXPECT_FALSE(find_named(*fabric, "twin#ffff"));
}

}  // namespace
}  // namespace heddle::sim
