#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fabric/dot.h"
#include "fabric/generators.h"
#include "fabric/ibnetdiscover.h"
#include "fabric/source.h"
#include "fabric/summary.h"
#include "support/scratch.h"

namespace heddle {
namespace {

using testing::HasSubstr;

TEST(Summary, CountsWhatIsThere) {
  const auto fabric = assign_lids(*generate("torus:4x4,hosts=2,links=2,speed=NDR").value()).value();
  const FabricSummary summary = summarize(*fabric);
  EXPECT_EQ(summary.switches, 16U);
  EXPECT_EQ(summary.links, 32 + 64U);
  EXPECT_EQ(summary.switch_links, 64U);
  EXPECT_EQ(summary.ports, 16 * 10 + 32U);
  EXPECT_EQ(summary.lids, 16 + 32U);
  EXPECT_EQ(summary.islands, 1U);
  EXPECT_EQ(to_string(summary),
            "16 switches (16 with 10 ports)\n32 channel adapters\n96 links, 64 of them between switches\n"
            "  96 at 4xNDR\n192 ports, 48 with a LID\n");
}

TEST(Summary, FindsParts) {
  const auto parsed =
      parse_ibnetdiscover("Switch 4 \"a\"\n[1] \"a\"[2]\n[2] \"a\"[1]\n\nCa 1 \"h\"\n\nCa 1 \"i\"\n", "t");
  const FabricSummary summary = summarize(*parsed.value().fabric);
  EXPECT_EQ(summary.islands, 3U);
  EXPECT_EQ(summary.switch_links, 1U);
  EXPECT_THAT(to_string(summary), HasSubstr("3 parts that no cable joins"));
}

TEST(Dot, DrawsNodesAndCables) {
  const auto parsed = parse_ibnetdiscover(
      "switchguid=0xa\nSwitch 4 \"a\" # \"say \"hi\\\"\n[1] \"h\"[1]\n\ncaguid=0xb\nCa 1 \"h\"\n[1] "
      "\"a\"[1]\n",
      "t");
  EXPECT_EQ(write_dot(*parsed.value().fabric),
            "graph fabric {\n  node [fontsize=10];\n  edge [fontsize=8];\n"
            "  \"0x000000000000000a\" [label=\"say \\\"hi\\\\\", shape=box];\n"
            "  \"0x000000000000000b\" [label=\"h\", shape=ellipse];\n"
            "  \"0x000000000000000a\" -- \"0x000000000000000b\" [taillabel=\"1\", headlabel=\"1\", "
            "label=\"4xSDR\"];\n"
            "}\n");
}

class LoadFabric : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory / "parts");
    write("main.net", "include \"parts/one.net\"\nSwitch 4 \"b\"\n[1] \"a\"[1]\n");
    write("parts/one.net", "Switch 4 \"a\"\n[1] \"b\"[1]\n");
  }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream{directory / name} << text;
  }

  const test::Scratch directory;
};

TEST_F(LoadFabric, ReadsFilesAndWhatTheyInclude) {
  const auto parsed = load_fabric(directory / "main.net");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->fabric->links().size(), 1U);
}

TEST_F(LoadFabric, TakesGeneratorsToo) {
  EXPECT_EQ(load_fabric("torus:4x4").value().fabric->switch_count(), 16U);
  EXPECT_THAT(load_fabric("torus:4x").error().message, HasSubstr("torus:4x"));
}

TEST_F(LoadFabric, NamesTheFileThatCannotBeRead) {
  EXPECT_THAT(load_fabric(directory / "none").error().message, HasSubstr("none: cannot be opened"));
  EXPECT_THAT(load_fabric(directory.path()).error().message, HasSubstr("is a directory"));
  write("main.net", "\ninclude \"gone.net\"\n");
  EXPECT_THAT(load_fabric(directory / "main.net").error().message,
              testing::AllOf(HasSubstr("main.net:2: "), HasSubstr("gone.net: cannot be opened")));
}

}  // namespace
}  // namespace heddle
