#include "app/recorded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "record/recording.h"

namespace heddle::app {
namespace {

using testing::HasSubstr;

/// What a recording of these blocks, after how it began, is told to be.
std::string said_of(const std::string& blocks) {
  const std::string path = testing::TempDir() + "recorded_run.rec";
  std::ofstream{path, std::ios::binary}
      << record::magic << record::frame(record::Block::Opening, to_bytes(record::Opening{})) << blocks;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(replay({.file = path, .another_build = true}, out, err), 1);
  return err.str();
}

std::string entry(record::Kind kind, std::string body = {}) {
  record::Entry made;
  made.kind = kind;
  made.body = std::move(body);
  made.digest = record::Digest{}.value();
  return frame(record::Block::Entry, to_bytes(made));
}

// Each ended heddled, or was played, when nothing looked for it.
TEST(RecordedRun, ADamagedRecordingIsRefused) {
  using record::Kind;
  EXPECT_THAT(said_of(entry(Kind::TimersDue)), HasSubstr("is no recording, or a damaged one"));
  EXPECT_THAT(said_of(entry(Kind::Made) + entry(Kind::Made)), HasSubstr("is no recording, or a damaged one"));
  EXPECT_THAT(said_of(frame(record::Block{'Z'}, "")), HasSubstr("is no recording, or a damaged one"));
  for (const Kind kind : {Kind::Arrived, Kind::CameBack, Kind::Reloaded, Kind::StopAsked})
    EXPECT_THAT(said_of(entry(Kind::Made) + entry(kind)), HasSubstr("what came in is not whole"));
}

TEST(RecordedRun, TakesKeysAndWhoIsNotifiedOutOfTheConfiguration) {
  EXPECT_EQ(without_secrets("# mine\n"
                            "[fabric]\n"
                            "  m_key = \"0x1\"\n"
                            "device = \"mlx5_0\"\n"
                            "[[notify.destination]]\n"
                            "url = \"https://example.org/secret\"\n"
                            "[sm]\n"
                            "sm_key=\"0x2\"\n"
                            "lmc = 1"),
            "# mine\n"
            "[fabric]\n"
            "device = \"mlx5_0\"\n"
            "[sm]\n"
            "lmc = 1");
  EXPECT_EQ(without_secrets(""), "");
}

TEST(RecordedRun, AnOrderSurvivesARoundTrip) {
  control::Request request;
  request.post = true;
  request.path = "/v1/links";
  request.query = {{"a", "b"}, {"c", ""}};
  request.body = std::string("{\0}", 3);
  request.access = control::Access::Root;
  request.peer = "uid 0";
  const auto read = parse_request(to_bytes(request));
  EXPECT_TRUE(read.post);
  EXPECT_EQ(read.path, request.path);
  EXPECT_EQ(read.query, request.query);
  EXPECT_EQ(read.body, request.body);
  EXPECT_EQ(read.access, request.access);
  EXPECT_EQ(read.peer, request.peer);
}

}  // namespace
}  // namespace heddle::app
