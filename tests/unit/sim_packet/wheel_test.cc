#include "sim/packet/wheel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace heddle::packet {
namespace {

using Taken = std::vector<std::pair<Cycle, std::uint32_t>>;

Taken take_all(Wheel& wheel) {
  Taken taken;
  while (wheel.next() != never) {
    wheel.advance(wheel.next());
    wheel.drain([&](Event event) { taken.emplace_back(wheel.now(), event.index()); });
  }
  return taken;
}

TEST(Wheel, GivesEveryEventAtItsCycle) {
  EXPECT_TRUE(rc::check("in order of time, each exactly once", [] {
    const auto times = *rc::gen::container<std::vector<Cycle>>(rc::gen::inRange<Cycle>(0, 20000));
    Wheel wheel;
    Taken expected;
    for (std::uint32_t i = 0; i < times.size(); ++i) {
      wheel.push(times[i], Event::of(EventKind::Inject, i));
      expected.emplace_back(times[i], i);
    }
    std::ranges::sort(expected);
    Taken taken = take_all(wheel);
    RC_ASSERT(std::ranges::is_sorted(taken, {}, &Taken::value_type::first));
    std::ranges::sort(taken);
    RC_ASSERT(taken == expected);
    RC_ASSERT(wheel.pending() == 0U);
  }));
}

TEST(Wheel, KeepsTheOrderWithinACycle) {
  Wheel wheel;
  for (std::uint32_t i = 0; i < 100; ++i) wheel.push(5, Event::of(EventKind::Inject, i));
  const Taken taken = take_all(wheel);
  ASSERT_EQ(taken.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(taken));
}

TEST(Wheel, TakesWhatIsPushedForTheCycleThatRuns) {
  Wheel wheel;
  wheel.push(3, Event::of(EventKind::Inject, 0));
  int seen = 0;
  wheel.advance(3);
  wheel.drain([&](Event) {
    if (++seen < 40) wheel.push(3, Event::of(EventKind::Inject, 0));
  });
  EXPECT_EQ(seen, 40);
  EXPECT_EQ(wheel.next(), never);
}

}  // namespace
}  // namespace heddle::packet
