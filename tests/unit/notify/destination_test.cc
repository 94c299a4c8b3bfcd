#include "notify/destination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::notify {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(WebAddress, IsReadFromAUrl) {
  const auto address = parse_url("https://alerts.example.org/hook/1?x=y#here");
  ASSERT_TRUE(address);
  EXPECT_TRUE(address->tls);
  EXPECT_EQ(address->host, "alerts.example.org");
  EXPECT_EQ(address->port, "443");
  EXPECT_EQ(address->target, "/hook/1?x=y");
  EXPECT_EQ(address->host_header(), "alerts.example.org");
  EXPECT_EQ(parse_url("http://[::1]:9093")->host_header(), "[::1]:9093");
  EXPECT_EQ(parse_url("http://[::1]:9093")->target, "/");
  EXPECT_EQ(parse_url("http://h?q")->target, "/?q");
}

TEST(WebAddress, NothingOfABadUrlIsRepeated) {
  for (const char* url :
       {"ftp://secret/", "http://", "http://secret:99999/", "http://secret:/", "http://[secret/",
        "http://secret\r\nX: y", "http://user:secret@host/", "http://se cret/"}) {
    const auto address = parse_url(url);
    ASSERT_FALSE(address) << url;
    EXPECT_THAT(address.error().message, Not(HasSubstr("secret"))) << url;
  }
  EXPECT_THAT(parse_url("http://user:pw@host/").error().message, HasSubstr("credentials_file"));
}

TEST(SyslogAddress, IsASocketOrAHost) {
  EXPECT_EQ(parse_syslog("/dev/log")->way, SyslogAddress::Way::Local);
  const auto udp = parse_syslog("udp:[2001:db8::1]:514");
  ASSERT_TRUE(udp);
  EXPECT_EQ(udp->way, SyslogAddress::Way::Udp);
  EXPECT_EQ(udp->host, "2001:db8::1");
  EXPECT_EQ(udp->port, "514");
  EXPECT_EQ(parse_syslog("tcp:logs:601")->way, SyslogAddress::Way::Tcp);
  for (const char* address : {"", "logs:514", "udp:logs", "udp::514", "tcp:logs:0", "tls:logs:6514"})
    EXPECT_FALSE(parse_syslog(address)) << address;
  EXPECT_FALSE(parse_syslog("/" + std::string(200, 'x')));
}

}  // namespace
}  // namespace heddle::notify
