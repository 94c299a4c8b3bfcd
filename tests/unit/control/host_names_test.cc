#include "control/host_names.h"

#include <gtest/gtest.h>

namespace heddle::control {
namespace {

TEST(HostNames, AddressesAndLocalhostAreAlwaysOurs) {
  const HostNames names{std::vector<std::string>{"Fabric.example.org"}};
  for (const char* host : {"127.0.0.1", "10.1.2.3:9683", "[::1]:9683", "[fe80::1]", "localhost",
                           "LOCALHOST:1", "fabric.example.org", "fabric.example.org.:443"})
    EXPECT_TRUE(names.has(host)) << host;
  for (const char* host : {"", ":9683", "[", "evil.example.com", "127.0.0.1.evil.com", "localhost.evil.com",
                           "fabric.example.org.evil.com", "1234567890", "127.0.0.1:80@evil.com",
                           "[::1].evil.com", "[::1]evil.com:80", "[fe80::1%evil.com]", "localhost:80:90"})
    EXPECT_FALSE(names.has(host)) << host;
}

TEST(HostNames, OriginsAreReadBehindTheirScheme) {
  const HostNames names;
  EXPECT_TRUE(names.has_origin("http://127.0.0.1:9683"));
  EXPECT_TRUE(names.has_origin("https://[::1]"));
  EXPECT_FALSE(names.has_origin("null"));
  EXPECT_FALSE(names.has_origin("http://evil.example.com"));
}

TEST(HostNames, ThisHostHasAName) { EXPECT_FALSE(names_of_this_host(std::chrono::seconds{5}).empty()); }

}  // namespace
}  // namespace heddle::control
