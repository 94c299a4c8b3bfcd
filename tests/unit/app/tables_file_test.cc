#include "app/tables_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/scratch.h"

namespace heddle::app {
namespace {

class TablesFile : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return scratch_ / "heddle.lfts"; }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path()).rdbuf();
    return all.str();
  }
  Result<void> put(const std::string& reload) {
    return put_tables(path(), "tables\n", reload, ending_.get_token());
  }

  test::Scratch scratch_;
  std::stop_source ending_;
};

TEST_F(TablesFile, ACommandThatIsThereAndEndsWellIsDone) {
  EXPECT_TRUE(put("true"));
  EXPECT_EQ(text(), "tables\n");
  EXPECT_TRUE(put(""));
}

TEST_F(TablesFile, OneThatFailsIsNamedAndTheFileIsThere) {
  const auto failed = put("false");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "opensm.reload: `false` failed: exit status 1");
  EXPECT_EQ(text(), "tables\n");
  const auto missing = put("no-such-program -x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "opensm.reload: cannot run no-such-program: No such file or directory");
}

// systemd, or whoever ends the daemon, would wait 10 s for each that is to be done.
TEST_F(TablesFile, OneThatHangsDoesNotHoldUpTheEnd) {
  ending_.request_stop();
  const auto hung = put("sleep 60");
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().message, "opensm.reload: `sleep 60` did not end within 1 s");
  EXPECT_EQ(text(), "tables\n");
}

TEST_F(TablesFile, TheEndWaitsForACommandThatEndsSoon) {
  ending_.request_stop();
  EXPECT_TRUE(put("true"));
}

}  // namespace
}  // namespace heddle::app
