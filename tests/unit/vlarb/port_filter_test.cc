#include "vlarb/port_filter.h"

#include <gtest/gtest.h>

#include <string>

namespace heddle::vlarb {
namespace {

Node node(NodeType type) {
  Node out;
  out.type = type;
  return out;
}

TEST(PortFilter, KindsAndPatternsOverNodesAndPorts) {
  const Node leaf = node(NodeType::Switch);
  const Node host = node(NodeType::ChannelAdapter);
  const auto matches = [](const char* filter, const Node& of, const char* name, int port) {
    return PortFilter::parse(filter)->matches(of, name, PortNum{static_cast<std::uint8_t>(port)});
  };
  EXPECT_TRUE(matches("", leaf, "leaf-1", 3));
  EXPECT_TRUE(matches("switch", leaf, "leaf-1", 3));
  EXPECT_FALSE(matches("ca,router", leaf, "leaf-1", 3));
  EXPECT_TRUE(matches("ca", host, "n1", 1));
  EXPECT_TRUE(matches("spine*,leaf-[12]", leaf, "leaf-1", 3));
  EXPECT_TRUE(matches("leaf-1/3", leaf, "leaf-1", 3));
  EXPECT_FALSE(matches("leaf-1/4", leaf, "leaf-1", 3));
  EXPECT_TRUE(matches("*/3", leaf, "leaf-1", 3));
}

TEST(PortFilter, EmptyItemsAndTooManyAreRefused) {
  EXPECT_FALSE(PortFilter::parse(","));
  EXPECT_FALSE(PortFilter::parse("ca,"));
  EXPECT_FALSE(PortFilter::parse("ca,,switch"));
  std::string many = "a";
  for (int i = 0; i < 64; ++i) many += ",a";
  EXPECT_FALSE(PortFilter::parse(many));
}

}  // namespace
}  // namespace heddle::vlarb
