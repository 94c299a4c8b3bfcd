#include "core/cabling_watch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "fabric/generators.h"
#include "support/desks.h"

namespace heddle::core {
namespace {

TEST(CablingWatch, WhatWasFoundOfABaselineIsNotToldOfTheNextOne) {
  const auto fabric = *generate("tree:k=2,n=2");
  const std::string columns = "StartDevice,StartPort,EndDevice,EndPort\n";
  const auto baseline = [](std::string cables, const char* name) {
    return regulation::Baseline{std::make_shared<const std::string>(std::move(cables)), name, "uid 0", {}};
  };
  regulation::Memory memory;
  CablingWatch watch;
  EXPECT_EQ(watch.found(memory), nullptr);

  memory.baseline = baseline(columns + "leaf-0,1,host-77,1\n", "a plan");
  watch.look(test::at_once(), memory, nullptr, fabric);
  ASSERT_NE(watch.found(memory), nullptr);
  EXPECT_EQ(watch.found(memory)->trouble, "");
  EXPECT_EQ(watch.found(memory)->check.missing.size(), 1U);

  memory.baseline = baseline(columns + "leaf-0,1,host-77,1\nleaf-1,1,host-78,1\n", "another one");
  EXPECT_EQ(watch.found(memory), nullptr) << "before it was compared";
  watch.look(test::at_once(), memory, nullptr, fabric);
  ASSERT_NE(watch.found(memory), nullptr);
  EXPECT_EQ(watch.found(memory)->check.missing.size(), 2U);

  memory.baseline.reset();
  EXPECT_EQ(watch.found(memory), nullptr);
}

}  // namespace
}  // namespace heddle::core
