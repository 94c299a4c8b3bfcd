#include "app/notify_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/scratch.h"

namespace heddle::app {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string error_in(const std::string& keys) {
  const auto config = parse_config("[[notify.destination]]\n" + keys, "heddle.toml");
  if (!config) return config.error().message;
  const auto good = check_config([&] {
    Config simulated = *config;
    simulated.fabric.backend = BackendKind::Sim;
    simulated.fabric.generate = "tree:k=2,n=2";
    return simulated;
  }());
  return good ? "no error" : good.error().message;
}

TEST(NotifyConfig, ADestinationIsReadFromItsTable) {
  const auto config = parse_config(
      "[[notify.destination]]\nname = \"oncall\"\ntype = \"webhook\"\nurl = \"http://h:1/x\"\n"
      "what = [\"problems\"]\nevery = \"1min\"\ntimeout = \"3s\"\n"
      "[[notify.destination]]\nname = \"p\"\ntype = \"program\"\nprogram = [\"/bin/tell\", \"--all\"]\n"
      "[[notify.destination]]\nname = \"s\"\ntype = \"syslog\"\n[notify]\nqueue = 77\n",
      "heddle.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->notify.queue, 77U);
  const auto all = destinations_of(*config);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[0].url, "http://h:1/x");
  EXPECT_EQ((*all)[0].wants, notify::wants_problems);
  EXPECT_EQ((*all)[0].every, 1min);
  EXPECT_EQ((*all)[0].timeout, 3s);
  EXPECT_THAT((*all)[1].program, ElementsAre("/bin/tell", "--all"));
  EXPECT_EQ((*all)[2].address, "/dev/log");
}

TEST(NotifyConfig, WhatCannotBeMeantIsAnErrorWithItsLine) {
  EXPECT_THAT(error_in("name = \"a b\"\ntype = \"syslog\"\n"),
              AllOf(HasSubstr("heddle.toml:1"), HasSubstr("name")));
  EXPECT_THAT(error_in("name = \"a\"\n"), HasSubstr("needs a type"));
  EXPECT_THAT(error_in("name = \"a\"\ntype = \"webhook\"\n"), HasSubstr("either url or url_file"));
  EXPECT_THAT(error_in("name = \"a\"\ntype = \"webhook\"\nurl = \"http://u:secret@h/\"\n"),
              AllOf(HasSubstr("credentials_file"), Not(HasSubstr("secret"))));
  EXPECT_THAT(error_in("name = \"a\"\ntype = \"syslog\"\nurl = \"http://h/\"\n"),
              HasSubstr("has no key url"));
  EXPECT_THAT(error_in("name = \"a\"\ntype = \"program\"\nprogram = [\"tell\"]\n"),
              HasSubstr("the path from /"));
  EXPECT_THAT(error_in("name = \"a\"\ntype = \"syslog\"\nwhat = [\"all\"]\n"), HasSubstr("\"events\""));
  EXPECT_THAT(error_in("name = \"a\"\ntype = \"syslog\"\nevery = \"0s\"\n"), HasSubstr("every must be"));
  EXPECT_THAT(error_in("name = \"a\"\ntype = \"syslog\"\nqueue = 3\n"), HasSubstr("queue must be a string"));
  EXPECT_THAT(
      error_in("name = \"a\"\ntype = \"syslog\"\n[[notify.destination]]\nname = \"a\"\ntype = \"syslog\"\n"),
      HasSubstr("named a is there twice"));
}

TEST(NotifyConfig, SecretsComeFromFilesThatNotEverybodyMayRead) {
  const test::Scratch directory;
  const std::string file = directory / "secret";
  std::ofstream{file} << "aladdin:opensesame\n";
  const auto read = [&](const char* key, const char* url) {
    return destinations_of(parse_config("[[notify.destination]]\nname = \"a\"\ntype = \"webhook\"\n" +
                                            std::string(url) + "\n" + key + " = \"" + file + "\"\n",
                                        "x")
                               .value());
  };
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  const auto open_to_all = read("credentials_file", "url = \"http://h/\"");
  ASSERT_FALSE(open_to_all);
  EXPECT_THAT(open_to_all.error().message, AllOf(HasSubstr("chmod o="), Not(HasSubstr("opensesame"))));
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  // RFC 7617, 2.
  EXPECT_EQ(read("credentials_file", "url = \"http://h/\"").value()[0].authorization,
            "Basic YWxhZGRpbjpvcGVuc2VzYW1l");
  EXPECT_EQ(read("token_file", "url = \"http://h/\"").value()[0].authorization, "Bearer aladdin:opensesame");
  const auto no_url = read("url_file", "");
  ASSERT_FALSE(no_url);
  EXPECT_THAT(no_url.error().message, Not(HasSubstr("opensesame")));
  std::ofstream{file} << "https://hooks.example.org/opensesame\n";
  EXPECT_EQ(read("url_file", "").value()[0].url, "https://hooks.example.org/opensesame");
  std::ofstream{file} << "two\nlines\n";
  EXPECT_FALSE(read("token_file", "url = \"http://h/\""));
}

}  // namespace
}  // namespace heddle::app
