#include "vlarb/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdio>
#include <filesystem>

#include "support/managed_world.h"
#include "support/scratch.h"

namespace heddle::vlarb {
namespace {

using testing::HasSubstr;

TEST(Store, WhatIsStoredIsLoaded) {
  const test::Scratch directory;
  const std::string path = directory / "qos.json";
  qos::Programming other = four_lanes();
  other.tables.limit = qos::HighLimit{200};
  const std::vector<Assignment> assignments{for_ports(""), for_ports("ca,leaf-*/[12]", other)};
  ASSERT_TRUE(store(path, assignments));
  const auto loaded = load(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->size(), 2U);
  EXPECT_TRUE((*loaded)[0].ports.all());
  EXPECT_EQ((*loaded)[0].programming, four_lanes());
  EXPECT_EQ((*loaded)[1].ports.text(), "ca,leaf-*/[12]");
  EXPECT_EQ((*loaded)[1].programming, other);
  EXPECT_EQ((*loaded)[1].name, "test");
}

TEST(Store, NoFileIsNothingPushed) {
  const auto loaded = load("/nonexistent/qos.json");
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->empty());
}

TEST(Store, ADirectoryThatIsNotThereIsAnErrorThatNamesIt) {
  const auto stored = store("/nonexistent/qos.json", {for_ports("")});
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().code, ErrorCode::Io);
  EXPECT_THAT(stored.error().message, HasSubstr("/nonexistent/qos.json.tmp"));
}

TEST(Store, WhatCannotTakeTheFilesPlaceIsNotLeftBesideIt) {
  const test::Scratch directory;
  const std::string path = directory / "qos.json";
  std::filesystem::create_directory(path);
  const auto stored = store(path, {for_ports("")});
  ASSERT_FALSE(stored);
  EXPECT_THAT(stored.error().message, HasSubstr("cannot rename the new file to " + path));
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST(Store, RubbishIsRefusedWithTheFilesName) {
  for (const char* text : {"", "{}", "[]", R"({"assignments": 1})", R"({"assignments": [1]})",
                           R"({"assignments": [{"name": "a", "ports": ",", "plan": {}}]})",
                           R"({"assignments": [{"name": "a", "ports": "", "plan": {}}]})"}) {
    const auto parsed = parse(text, "qos.json");
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("qos.json: ")) << text;
  }
}

// A file that was cut off or damaged is an error, never half of what was pushed.
RC_GTEST_PROP(StoreProperty, ACutFileIsAnError, ()) {
  const std::string text = to_text({for_ports(""), for_ports("ca")});
  const auto length = *rc::gen::inRange<std::size_t>(0, text.size() - 2);
  RC_ASSERT(!parse(text.substr(0, length), "qos.json").has_value());
}

}  // namespace
}  // namespace heddle::vlarb
