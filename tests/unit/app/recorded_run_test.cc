#include "app/recorded_run.h"

#include <gtest/gtest.h>

namespace heddle::app {
namespace {

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
