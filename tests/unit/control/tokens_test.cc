#include "control/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/scratch.h"

namespace heddle::control {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// printf %s secret | sha256sum
constexpr std::string_view hash_of_secret =
    "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

TEST(Tokens, KnowsATokenByItsHash) {
  const auto tokens =
      Tokens::parse("# scrapers\n\nprometheus  " + std::string(hash_of_secret) + "\n", "tokens");
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(tokens->name_of("Bearer secret"), "prometheus");
  EXPECT_EQ(tokens->name_of("bearer secret"), "prometheus");
  for (const char* wrong :
       {"", "Bearer", "Bearer ", "Bearer Secret", "Bearer secret ", "Basic secret", "secret"})
    EXPECT_FALSE(tokens->name_of(wrong)) << wrong;
}

TEST(Tokens, ErrorsNameTheLineAndRepeatNothingOfIt) {
  const auto wrong = Tokens::parse("a " + std::string(hash_of_secret) + "\nb my-secret-token\n", "tokens");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("tokens:2"));
  EXPECT_THAT(wrong.error().message, testing::Not(HasSubstr("my-secret-token")));
  EXPECT_FALSE(Tokens::parse("# nobody\n", "tokens"));
  EXPECT_FALSE(Tokens::parse("a " + std::string(hash_of_secret) + " more\n", "tokens"));
}

TEST(Tokens, AFileThatOthersMayReadIsRefused) {
  const test::Scratch directory;
  const fs::path path = directory / "tokens";
  std::ofstream{path} << "a " << hash_of_secret << "\n";
  fs::permissions(path, fs::perms::owner_read | fs::perms::others_read);
  const auto open = Tokens::load(path);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, ErrorCode::Refused);
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read);
  EXPECT_TRUE(Tokens::load(path));
  fs::remove(path);
  EXPECT_EQ(Tokens::load(path).error().code, ErrorCode::Io);
}

}  // namespace
}  // namespace heddle::control
