#include "app/config_reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config config(const std::string& text) { return parse_config(text, "heddle.toml").value(); }

TEST(ConfigReload, WhatIsGivenOtherwiseTakesEffectAtOnceOrByAStartOrAtTheNext) {
  const Config started =
      config("[regulation]\nmode = \"advise\"\nu_on = 0.7\n[sampling]\ninterval = \"1s\"\n");
  const Config fresh = config(
      "[regulation]\nmode = \"enforce\"\n[sampling]\ninterval = \"2s\"\n[fabric]\nread_only = true\n"
      "[control]\nothers_may_read = true\n");
  for (const Effect effect : {Effect::AtStart, Effect::AtOnce, Effect::ByStart}) {
    EXPECT_THAT(changed(started, started, effect), IsEmpty());
  }
  EXPECT_THAT(changed(started, fresh, Effect::AtStart),
              ElementsAre("control.others_may_read", "regulation.u_on"));
  EXPECT_THAT(changed(started, fresh, Effect::AtOnce), ElementsAre("regulation.mode", "sampling.interval"));
  EXPECT_THAT(changed(started, fresh, Effect::ByStart), ElementsAre("fabric.read_only"));
}

TEST(ConfigReload, WhereTheStateIsTakesAStart) {
  EXPECT_EQ(effect_of("state.backend"), Effect::ByStart);
  EXPECT_EQ(effect_of("state.etcd.endpoints"), Effect::AtStart);
}

TEST(ConfigReload, TheFileSaysOfEachKeyWhetherItTakesEffectAtOnce) {
  const std::string text = default_config_text();
  EXPECT_NE(text.find("# Takes effect at once.\nmode = \"advise\""), std::string::npos);
  EXPECT_NE(text.find("# Takes effect at once: the daemon ends in order and starts anew.\nread_only = false"),
            std::string::npos);
}

/// --set stands before the file, at the start and whenever the file is read again.
TEST(ConfigReload, WhatTheCommandLineSetIsGivenToo) {
  Config started = config("");
  Config again = config("");
  ASSERT_TRUE(override_config(started, "opensm.plugin=true"));
  EXPECT_THAT(changed(started, again, Effect::ByStart), ElementsAre("opensm.plugin"));
  ASSERT_TRUE(override_config(again, "opensm.plugin=true"));
  EXPECT_THAT(changed(started, again, Effect::ByStart), IsEmpty());
}

}  // namespace
}  // namespace heddle::app
