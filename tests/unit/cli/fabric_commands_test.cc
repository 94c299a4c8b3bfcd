/// `heddle fabric` without a daemon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/json_access.h"
#include "heddle/command.h"
#include "support/scratch.h"
#include "unit/cli/run_heddle.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Ran heddle(const std::vector<std::string>& arguments) { return run_heddle({add_fabric_commands}, arguments); }

class FabricCommands : public testing::Test {
 protected:
  const test::Scratch directory;
  const std::string file = directory / "fabric.net";
};

TEST_F(FabricCommands, GenerateExportAndDiffAgree) {
  ASSERT_EQ(heddle({"fabric", "generate", "torus:3x3,hosts=2", "--lids", "-o", file}).status, Status::Done);
  const auto exported = heddle({"fabric", "export", file});
  std::ifstream in{file};
  EXPECT_EQ(exported.out, (std::string{std::istreambuf_iterator<char>{in}, {}}));
  EXPECT_EQ(exported.err, "");
  EXPECT_EQ(heddle({"fabric", "diff", file, file}).out, "");

  const auto without_lids = heddle({"fabric", "diff", file, "torus:3x3,hosts=2"});
  EXPECT_EQ(without_lids.status, Status::Done);
  EXPECT_THAT(without_lids.out, HasSubstr("~ port sw-0-0/0: LID 1 -> 0\n"));
  EXPECT_THAT(without_lids.out, testing::Not(HasSubstr("state")));
}

TEST_F(FabricCommands, ShowSaysHowMany) {
  const auto text = heddle({"fabric", "show", "tree:k=2,n=3"});
  EXPECT_EQ(text.status, Status::Done);
  EXPECT_THAT(text.out,
              StartsWith("12 switches (12 with 4 ports)\n8 channel adapters\n24 links, 16 of them"));
  const auto json = boost::json::parse(heddle({"--json", "fabric", "show", "tree:k=2,n=3"}).out);
  EXPECT_EQ(count_at(json, "switches"), 12);
  EXPECT_EQ(count_at(json, "links_by_rate.4xHDR"), 24);
}

TEST_F(FabricCommands, EveryFormat) {
  const auto in_format = [](const char* format) {
    return heddle({"fabric", "generate", "torus:3,hosts=1", "--format", format}).out;
  };
  EXPECT_THAT(in_format("text"), HasSubstr("link sw-0/1 -- host-0 mlx5_0/1 4xHDR\n"));
  EXPECT_THAT(in_format("dot"), StartsWith("graph fabric {"));
  EXPECT_THAT(in_format("ibnetdiscover"),
              HasSubstr("\nSwitch\t3 \"S-0248450100000000\"\t\t# \"sw-0\" base port 0"));
  const auto json = boost::json::parse(in_format("json"));
  EXPECT_EQ(array_at(json, "nodes").size(), 6U);
  EXPECT_EQ(array_at(json, "links").size(), 6U);
  EXPECT_EQ(text_at(array_at(json, "links")[0], "b.node"), "host-0 mlx5_0");
}

TEST_F(FabricCommands, NamesOfTheOperator) {
  std::ofstream{file} << "0x0248450100000000 \"Left\"\n";
  const auto text =
      heddle({"fabric", "export", "torus:3,hosts=1", "--format", "text", "--node-name-map", file});
  EXPECT_THAT(text.out, HasSubstr("link Left/1 -- host-0 mlx5_0/1"));
}

TEST_F(FabricCommands, VerifyWritesATestReport) {
  const std::string list = file + ".csv";
  std::ofstream{list} << "StartDevice,StartPort,EndDevice,EndPort\nsw-0,1,host-0 mlx5_0,1\nsw-1,9,a&\"<b,1\n";
  ASSERT_EQ(heddle({"fabric", "verify", list, "--fabric", "torus:3,hosts=1", "--junit", file}).status,
            Status::Failed);
  std::ifstream in{file};
  const std::string report{std::istreambuf_iterator<char>{in}, {}};
  EXPECT_THAT(report,
              StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"cabling as in "));
  EXPECT_THAT(report, HasSubstr(".csv\" tests=\"7\" failures=\"6\">\n"));
  EXPECT_THAT(report, HasSubstr("  <testcase classname=\"cabling\" name=\"sw-0/1\"/>\n"));
  EXPECT_THAT(report, HasSubstr("name=\"sw-1/9 -- a&amp;&quot;&lt;b/1\">\n    <failure type=\"missing\""));
  EXPECT_THAT(report, testing::EndsWith("</testsuite>\n"));
}

TEST_F(FabricCommands, VerifySaysWhatDiffersAndEndsAccordingly) {
  const std::string list = file + ".csv";
  ASSERT_EQ(heddle({"fabric", "baseline", "save", file, "--fabric", "torus:3,hosts=1"}).status, Status::Done);
  const auto same = heddle({"fabric", "verify", file, "--fabric", "torus:3,hosts=1"});
  EXPECT_EQ(same.status, Status::Done);
  EXPECT_THAT(same.out, StartsWith("6 of 6 cables as planned; 0 missing"));
  EXPECT_EQ(heddle({"fabric", "baseline", "save", file, "--fabric", "torus:3,hosts=1"}).status,
            Status::Failed);

  std::ofstream{list} << "StartDevice,StartPort,EndDevice,EndPort\nSW-0,1,host-1,host-1 mlx5_0\n"
                         "sw-1,1,host-0,mlx5_0\nsw-2,1,host-9,1\n";
  const auto different = heddle({"--json", "fabric", "verify", list, "--fabric", file});
  EXPECT_EQ(different.status, Status::Failed);
  EXPECT_EQ(different.err, "");
  const auto json = boost::json::parse(different.out);
  ASSERT_EQ(array_at(json, "swapped").size(), 2U);
  EXPECT_EQ(text_at(array_at(json, "swapped")[0], "start.node"), "sw-0");
  EXPECT_EQ(text_at(array_at(json, "swapped")[0], "actual"), "host-0 mlx5_0/1");
  ASSERT_EQ(array_at(json, "missing").size(), 1U);
  EXPECT_TRUE(at_path(array_at(json, "missing")[0], "end.guid").is_null());
  EXPECT_EQ(count_at(array_at(json, "missing")[0], "line"), 4);
  EXPECT_EQ(array_at(json, "unexpected").size(), 4U);
  EXPECT_EQ(array_at(json, "wrong_rate").size(), 0U);

  std::ofstream{list} << "StartDevice,EndDevice\nsw-0,sw-1\n";
  const auto unreadable = heddle({"fabric", "verify", list, "--fabric", file});
  EXPECT_EQ(unreadable.status, Status::Usage);
  EXPECT_THAT(unreadable.err, HasSubstr(".csv:1: has no column StartPort"));
  EXPECT_EQ(heddle({"fabric", "verify", "/nowhere", "--fabric", file}).status, Status::Usage);
  std::filesystem::remove(list);
}

TEST_F(FabricCommands, WarningsGoToStandardErrorAndTheRestIsShown) {
  std::ofstream{file} << "Switch 4 \"a\"\n[1] \"gone\"[1]\n[2] \"gone\"[2]\n";
  const auto shown = heddle({"fabric", "show", file});
  EXPECT_EQ(shown.status, Status::Done);
  EXPECT_THAT(shown.out, StartsWith("1 switch (1 with 4 ports)"));
  EXPECT_THAT(shown.err, HasSubstr("2 cables lead to nodes that are not described; they are left out"));
  EXPECT_THAT(shown.err, HasSubstr(file + ":2: the cable leads to \"gone\", which is not described"));
  EXPECT_THAT(shown.err, HasSubstr("--verbose lists all 2 of them"));
  const auto verbose = heddle({"--verbose", "fabric", "show", file});
  EXPECT_THAT(verbose.err, HasSubstr(file + ":2: the cable leads"));
  EXPECT_THAT(verbose.err, HasSubstr(file + ":3: the cable leads"));
}

TEST_F(FabricCommands, AFileThatLosesNodesIsRefusedUnlessPartial) {
  std::ofstream{file} << "switchguid=0x1\nSwitch 4 \"a\"\n\nswitchguid=0x1\nSwitch 4 \"b\"\n";
  for (const char* command : {"show", "export"}) {
    std::vector<std::string> words{"fabric", command, file};
    const auto refused = heddle(words);
    EXPECT_EQ(refused.status, Status::Failed);
    EXPECT_THAT(refused.err, HasSubstr("\"a\" on line 2, and \"b\" here"));
    EXPECT_THAT(refused.err, HasSubstr(file + ":5: "));
    words.push_back("--partial");
    const auto partial = heddle(words);
    EXPECT_EQ(partial.status, Status::Done);
    EXPECT_THAT(partial.err, HasSubstr("warning: " + file + ":5: two nodes have the GUID"));
  }
}

TEST_F(FabricCommands, SharedNamesTellNodesApart) {
  std::ofstream{file} << "switchguid=0x1a2e0\nSwitch 4 \"a\" # \"Chip\"\n[1] \"b\"[1]\n\n"
                         "switchguid=0x1b3f1\nSwitch 4 \"b\" # \"Chip\"\n[1] \"a\"[1]\n";
  EXPECT_THAT(heddle({"fabric", "export", file, "--format", "text"}).out,
              HasSubstr("link Chip#a2e0/1 -- Chip#b3f1/1"));
  EXPECT_THAT(heddle({"fabric", "export", file, "--format", "dot"}).out, HasSubstr("label=\"Chip#b3f1\""));
  const auto json = boost::json::parse(heddle({"fabric", "export", file, "--format", "json"}).out);
  EXPECT_EQ(text_at(array_at(json, "nodes")[0], "name"), "Chip#a2e0");
}

TEST_F(FabricCommands, AMistypedCommandIsNamedAndTheNearestToo) {
  const auto near = heddle({"--socket", "/x", "fabrik", "show"});
  EXPECT_EQ(near.status, Status::Usage);
  EXPECT_THAT(near.err, HasSubstr("there is no command \"fabrik\"; did you mean fabric?"));
  EXPECT_THAT(heddle({"fabric", "shwo"}).err,
              HasSubstr("no command fabric \"shwo\"; did you mean fabric show?"));
  EXPECT_THAT(heddle({"fabric", "juggle"}).err,
              HasSubstr("no command fabric \"juggle\"; there are: show, export, generate, diff"));
}

TEST_F(FabricCommands, FailuresSayWhereAndWhy) {
  std::ofstream{file} << "Switch 4 \"a\"\n[1] oops\n";
  const auto broken = heddle({"fabric", "show", file});
  EXPECT_EQ(broken.status, Status::Failed);
  EXPECT_THAT(broken.err, HasSubstr(file + ":2: expected the name of the node at the other end"));
  EXPECT_EQ(heddle({"fabric", "show", "/nowhere/at/all"}).status, Status::Failed);
  EXPECT_EQ(heddle({"fabric", "generate", "torus:4x"}).status, Status::Failed);
  EXPECT_EQ(heddle({"fabric", "generate", "torus:2", "-o", "/nowhere/at/all"}).status, Status::Failed);
  EXPECT_EQ(heddle({"fabric", "diff", "--exit-code", "torus:3", "torus:4"}).status, Status::Failed);
  EXPECT_EQ(heddle({"fabric", "diff", "--exit-code", "torus:3", "torus:3"}).status, Status::Done);
}

TEST_F(FabricCommands, WrongUsage) {
  EXPECT_EQ(heddle({"fabric"}).status, Status::Usage);
  EXPECT_EQ(heddle({"fabric", "diff"}).status, Status::Usage);
  const auto format = heddle({"fabric", "export", "torus:3", "--format", "xml"});
  EXPECT_EQ(format.status, Status::Usage);
  EXPECT_THAT(format.err, HasSubstr("ibnetdiscover"));
  EXPECT_EQ(heddle({"fabric", "generate", "torus:3", "--lmc", "8"}).status, Status::Usage);
}

}  // namespace
}  // namespace heddle::cli
