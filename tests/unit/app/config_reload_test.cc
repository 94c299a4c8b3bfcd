#include "app/config_reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config config(const std::string& text) { return parse_config(text, "heddle.toml").value(); }

TEST(ConfigReload, WhatIsGivenOtherwiseWaitsForAStartUnlessItTakesEffectAtOnce) {
  const Config started =
      config("[regulation]\nmode = \"advise\"\nu_on = 0.7\n[sampling]\ninterval = \"1s\"\n");
  EXPECT_THAT(waiting_for_a_start(started, started), IsEmpty());
  EXPECT_THAT(
      waiting_for_a_start(started, config("[regulation]\nmode = \"enforce\"\n[sampling]\ninterval = \"2s\"\n"
                                          "[fabric]\nread_only = true\n[control]\nothers_may_read = true\n")),
      ElementsAre("control.others_may_read", "fabric.read_only", "regulation.mode", "regulation.u_on"));
  EXPECT_THAT(waiting_for_a_start(
                  started, config("[regulation]\nu_on = 0.7\nmode = \"advise\"\n[log]\nlevel = \"debug\"\n")),
              IsEmpty());
}

/// --set stands before the file, at the start and whenever the file is read again.
TEST(ConfigReload, WhatTheCommandLineSetIsGivenToo) {
  Config started = config("");
  Config again = config("");
  ASSERT_TRUE(override_config(started, "opensm.plugin=true"));
  EXPECT_THAT(waiting_for_a_start(started, again), ElementsAre("opensm.plugin"));
  ASSERT_TRUE(override_config(again, "opensm.plugin=true"));
  EXPECT_THAT(waiting_for_a_start(started, again), IsEmpty());
}

}  // namespace
}  // namespace heddle::app
