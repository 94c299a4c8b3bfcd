// A core that watches the fabric of another subnet manager.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "authority/authority.h"
#include "core/fabric_core.h"
#include "sim/bring_up.h"
#include "support/desks.h"
#include "support/scratch.h"
#include "support/sim_world.h"

namespace heddle::core {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

class Watcher final : public authority::Authority {
 public:
  explicit Watcher(authority::Seat& seat) : seat_{seat} {}
  [[nodiscard]] std::string why_not() const override { return "a guest"; }
  void on_found(std::shared_ptr<const Survey> survey, Instant /*now*/) override {
    seat_.use(std::move(survey));
  }

 private:
  authority::Seat& seat_;
};

/// No round over all ports begins but the first, and it takes longer than any test here.
CoreOptions slow_guest() {
  CoreOptions options;
  options.settings.light_sweep = 1h;
  options.settings.heavy_sweep = 2h;
  options.settings.sampling = 1s;
  options.guest_smps_per_second = 100;
  return options;
}

class GuestTest : public testing::Test, private Outside {
 protected:
  explicit GuestTest(const CoreOptions& options = slow_guest())
      : core_{{.transport = world_, .plans = plans_, .desk = test::at_once(), .outside = *this}, options} {
    sim::bring_up(world_.fabric);
    world_.receive_with([this](const mad::Packet& packet, Instant at) { on(Arrived{packet, at}); });
    world_.next_deadline = [this] { return core_.next_deadline(); };
    world_.on_timer = [this](Instant /*now*/) { on(TimersDue{}); };
    core_.use(std::make_unique<Watcher>(core_.seat()));
    on(Began{});
  }
  void on(const Event& event) { core_.on(event, world_.now); }
  [[nodiscard]] std::uint64_t samples() const {
    return core_.sampler().latest() ? core_.sampler().latest()->number : 0;
  }
  [[nodiscard]] bool is_up(LinkIndex link) const {
    const Fabric& truth = world_.fabric.description();
    const auto here = core_.discovery().survey()->fabric->find_port(truth.ref(truth.link(link).a));
    return core_.discovery().survey()->fabric->port(here).state == PortState::Active;
  }

  test::SimWorld world_{"tree:k=3,n=2"};
  test::Scratch directory_;
  opensm::PlanStore plans_{directory_ / "plan.json", test::at_once()};
  FabricCore core_;

 private:
  void say(Severity /*severity*/, const std::string& /*text*/) override {}
};

TEST_F(GuestTest, CountersTellItOfALinkThatHasGone) {
  ASSERT_TRUE(world_.run([&] { return samples() >= 3; }, 60s));
  const LinkIndex cut{static_cast<std::uint32_t>(world_.fabric.description().links().size() - 1)};
  ASSERT_TRUE(is_up(cut));
  world_.fabric.cut(cut, world_.ps());
  EXPECT_TRUE(world_.run([&] { return !is_up(cut); }, 5s)) << "the next round is an hour away";
  EXPECT_THAT(core_.problems(),
              ElementsAre(Field(&Problem::text, StartsWith("1 link is down, and nobody ordered it"))));
  world_.fabric.mend(cut, world_.ps());
  on(WayMoved{});
  EXPECT_TRUE(world_.run([&] { return core_.problems().empty(); }, 60s));
}

/// Its full sweeps take ten times as long as the interval between them.
CoreOptions hurried_guest() {
  CoreOptions options = slow_guest();
  options.settings.heavy_sweep = 1s;
  options.guest_smps_per_second = 10;
  return options;
}

class HurriedGuestTest : public GuestTest {
 protected:
  HurriedGuestTest() : GuestTest{hurried_guest()} {}
  [[nodiscard]] bool is_overdue() const {
    const Problems all = core_.problems();
    return std::ranges::find(all, ProblemKind::SweepOverdue, &Problem::kind) != all.end();
  }
};

TEST_F(HurriedGuestTest, AFullSweepThatDoesNotComeToItsEndIsAProblem) {
  ASSERT_TRUE(world_.run([&] { return is_overdue(); }, 4s)) << "before the first has ended";
  EXPECT_THAT(core_.problems(),
              Contains(Field(&Problem::text, AllOf(StartsWith("no full sweep has come to its end for 3."),
                                                   HasSubstr("for one every 1.0 s: raise sweep.smps")))));
  EXPECT_GT(core_.discovery().met(), 1U);
  ASSERT_TRUE(world_.run([&] { return core_.discovery().survey() != nullptr; }, 100s));
  EXPECT_FALSE(is_overdue());
  EXPECT_TRUE(world_.run([&] { return is_overdue(); }, 10s)) << "while the second is under way";
  EXPECT_TRUE(world_.run([&] { return !is_overdue(); }, 100s));
  ASSERT_TRUE(world_.run([&] { return is_overdue(); }, 10s));
  auto settings = hurried_guest().settings;
  settings.heavy_sweep = 1min;
  on(Reloaded{settings});
  EXPECT_FALSE(is_overdue());
  on(Reloaded{hurried_guest().settings});
  ASSERT_TRUE(is_overdue());
  world_.fabric.set_agent_faults(world_.fabric.description().port(world_.port()).node, {.mute_sma = true});
  EXPECT_TRUE(world_.run([&] { return !is_overdue() && !core_.problems().empty(); }, 100s))
      << "it ends with a failure, which is a problem of its own";
  EXPECT_FALSE(world_.run([&] { return is_overdue(); }, 20s));
}

}  // namespace
}  // namespace heddle::core
