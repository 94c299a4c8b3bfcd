#include "cabling/cable_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"

namespace heddle::cabling {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

CablePlan read(const std::string& text) {
  const auto plan = parse_cable_list(text, "plan.csv");
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : CablePlan{};
}

std::string refused(const std::string& text) {
  const auto plan = parse_cable_list(text, "plan.csv");
  return plan ? "read" : plan.error().message;
}

TEST(CableList, HasFourColumns) {
  const CablePlan plan = read("StartDevice,StartPort,EndDevice,EndPort\nleaf-0,3,host-1,host-1 mlx5_0\n");
  ASSERT_EQ(plan.cables.size(), 1U);
  EXPECT_EQ(plan.scope, Scope::Cables);
  EXPECT_EQ(plan.cables[0].start.device, "leaf-0");
  EXPECT_EQ(plan.cables[0].start.port, "3");
  EXPECT_EQ(plan.cables[0].end.device, "host-1");
  EXPECT_EQ(plan.cables[0].end.port, "host-1 mlx5_0");
  EXPECT_EQ(plan.cables[0].line, 2U);
  EXPECT_FALSE(plan.cables[0].rate);
}

/// The form of a site's spreadsheet: columns in front, a title within the header, columns without names
/// behind.
TEST(CableList, HeaderMayFollowOtherColumns) {
  const CablePlan plan = read(
      ",rack #,U "
      "height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndDeviceLocation,U "
      "height,LinkType,Speed,,Cable Length,,\r\n"
      ",Rack 1,U41,sw-1,Port 21,F01-DR426,dir-1,Blade 1_Port 1/1,F01-DR429,U25,Data,200000,HDR "
      "cable,10,,\r\n");
  ASSERT_EQ(plan.cables.size(), 1U);
  EXPECT_EQ(plan.cables[0].start.device, "sw-1");
  EXPECT_EQ(plan.cables[0].start.location, "F01-DR426");
  EXPECT_EQ(plan.cables[0].end.port, "Blade 1_Port 1/1");
  EXPECT_EQ(plan.cables[0].end.location, "F01-DR429");
  ASSERT_TRUE(plan.cables[0].rate);
  EXPECT_EQ(to_string(*plan.cables[0].rate), "4xHDR");
}

TEST(CableList, HeaderMayBeAComment) {
  EXPECT_EQ(read("#StartDevice,StartPort,EndDevice,EndPort,LinkType\n# spares follow\na,1,b,2, Data\n")
                .cables.size(),
            1U);
  EXPECT_TRUE(is_cable_list("some title\n#STARTDEVICE,startport,EndDevice,EndPort\n"));
  EXPECT_FALSE(is_cable_list("vendid=0x2c9\nSwitch 36 \"S-1\"\n"));
}

TEST(CableList, CellsMayBeQuoted) {
  const CablePlan plan =
      read("StartDevice,StartPort,EndDevice,EndPort\n\"a, the \"\"old\"\" one\",\"1\",b,2\n,,,\nc,1,d,2");
  ASSERT_EQ(plan.cables.size(), 2U);
  EXPECT_EQ(plan.cables[0].start.device, "a, the \"old\" one");
  EXPECT_EQ(plan.cables[1].line, 4U);
}

TEST(CableList, ToldSpeeds) {
  const auto rate = [](const std::string& speed) {
    const auto plan = read("StartDevice,StartPort,EndDevice,EndPort,Speed\na,1,b,1," + speed + "\n");
    return plan.cables[0].rate ? to_string(*plan.cables[0].rate) : "unknown";
  };
  for (const char* text : {"100000", "100", "100G", "100 Gb/s", "100Gbps", "EDR", "4xEDR", "4XEDR"}) {
    EXPECT_EQ(rate(text), "4xEDR") << text;
  }
  EXPECT_EQ(rate("1xEDR"), "25 Gbit/s");
  for (const char* text : {"fast", "nan", "inf", "0", "-100", "-", "4x-"})
    EXPECT_EQ(rate(text), "unknown") << text;
}

TEST(CableList, WhatIsNotCheckedIsTold) {
  const CablePlan plan = read(
      "StartDevice,StartPort,EndDevice,EndPort,LinkType,Speed\na,1,b,1,Data,fast\nc,1,d,1,Management,\n");
  EXPECT_EQ(plan.cables.size(), 1U);
  ASSERT_EQ(plan.warnings.size(), 2U);
  EXPECT_THAT(plan.warnings[0], HasSubstr("first \"Management\" in line 3"));
  EXPECT_THAT(plan.warnings[1], HasSubstr("first \"fast\" in line 2"));
}

TEST(CableList, RefusedWithFileAndLine) {
  EXPECT_THAT(refused("#StartDevice,EndDevice,EndPort\na,b,1\n"),
              HasSubstr("plan.csv:1: has no column StartPort"));
  EXPECT_THAT(refused("StartDevice,StartPort,EndDevice,EndPort\na,1,b,1\na,2,b\n"),
              HasSubstr("plan.csv:3: has nothing for EndPort"));
  EXPECT_THAT(refused("StartDevice,StartPort,EndDevice,EndPort\n"), HasSubstr("lists no cables"));
  EXPECT_THAT(refused("cyber sport > usual sport"), HasSubstr("no line names StartDevice"));
}

TEST(PlanOfAFabric, HasEveryLinkWithItsRate) {
  const auto fabric = generate("torus:3,hosts=1,speed=NDR").value();
  const CablePlan plan = plan_of(*fabric, "as built");
  EXPECT_EQ(plan.cables.size(), fabric->links().size());
  EXPECT_EQ(plan.scope, Scope::EveryLink);
  EXPECT_EQ(to_string(plan.cables[0].rate.value()), "4xNDR");
  EXPECT_THAT(plan.warnings, IsEmpty());
}

}  // namespace
}  // namespace heddle::cabling
