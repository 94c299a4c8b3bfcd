/// `heddle links`: what it asks for, and how it shows what is not known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/command.h"
#include "unit/cli/fake_daemon.h"
#include "unit/cli/run_heddle.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(LinkCommands, LinksShowBitErrorsOfBothDirections) {
  FakeDaemon daemon{{{"/v1/links", {R"({"matched": 2, "links": [
    {"name": "leaf-0/5 -- spine-0/1", "width": "4x", "speed": "HDR", "state": "Active",
     "a_to_b": {"errors_total": 3, "effective_ber": 2.5e-14, "raw_ber": 1e-6},
     "b_to_a": {"errors_total": 0, "effective_ber": 0, "raw_ber": 0}},
    {"name": "leaf-0/6 -- spine-1/1", "width": "4x", "speed": "QDR", "state": "Active",
     "a_to_b": {"effective_ber": null, "raw_ber": null}, "b_to_a": {}}]})"}}}};
  const Ran ran = run_heddle({add_link_commands}, {"--socket", daemon.path(), "links", "--sort", "ber"});
  EXPECT_EQ(ran.status, Status::Done) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("ERRORS   BER ->   BER <-\n"));
  EXPECT_THAT(ran.out, HasSubstr("     3  2.5e-14        0\n"));
  EXPECT_THAT(ran.out, HasSubstr("     0  unknown  unknown\n"));
  EXPECT_EQ(daemon.end().front().target, "/v1/links?sort=ber");
}

}  // namespace
}  // namespace heddle::cli
