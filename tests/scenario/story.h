/// What the scenarios share: a small fabric with trunks, quick settings, and traffic by hand.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sim/scenario_hosts.h"
#include "support/night.h"
#include "support/regulated_world.h"
#include "support/sanitized.h"
#include "support/scratch.h"
#include "support/trunks.h"

namespace heddle::test {

using namespace std::chrono_literals;

/// Of a problem.
inline auto says(const char* text) { return ::testing::Field(&Problem::text, ::testing::HasSubstr(text)); }

/// Four switches in a ring, trunks of two links, a host each.
inline constexpr std::string_view ring = "torus:2x2,hosts=1,links=2,width=4x,speed=DDR";

/// Exhaustive tests take every case; under sanitizers, where each takes many times as long, one of `stride`,
/// begun at another one in each test.
inline constexpr std::uint64_t stride = sanitized ? 8 : 1;
[[nodiscard]] constexpr std::uint64_t first_case(std::uint64_t test) { return sanitized ? test % stride : 0; }

/// Seconds where an installation would have minutes.
inline regulation::GovernorOptions quick() {
  regulation::GovernorOptions options;
  options.mode = regulation::Mode::Enforce;
  options.quiet = 5s;
  options.least_on = 5s;
  options.least_off = 2s;
  options.drain = 1s;
  options.wake = 1s;
  options.break_even = 1;
  options.retry_after = 3s;
  options.queue_looks = 0;  // more moments for those who try each; queues_test and the swarm look
  return options;
}

class Story : public ::testing::Test {
 protected:
  /// Who writes the fabric.
  [[nodiscard]] virtual WrittenBy written_by() const { return WrittenBy::Daemon; }
  [[nodiscard]] std::string journal_file() const { return directory_ / "journal.db"; }

  /// Begins with everything on and regulation as `options` say.
  RegulatedWorld& begin(std::string_view generator, const WorldOptions& options) {
    world_.reset();
    flows_.clear();
    WorldOptions how = options;
    how.written_by = written_by();
    world_ = std::make_unique<RegulatedWorld>(generator, how, journal_file());
    world_->bring_up();
    hosts_ = sim::host_ports(world_->fabric.description());
    return *world_;
  }
  RegulatedWorld& begin(std::string_view generator = ring, std::uint8_t lmc = 1) {
    return begin(generator, usual(lmc));
  }
  static WorldOptions usual(std::uint8_t lmc = 1) {
    WorldOptions options;
    options.lmc = lmc;
    options.governor = quick();
    options.sim.training_delay = std::chrono::milliseconds{500};
    return options;
  }

  /// Each host to the next one but `far - 1`, at this share of its link.
  void traffic(double load, std::size_t far = 1) {
    RegulatedWorld& world = *world_;
    for (const sim::TrafficId flow : flows_) world.plane.remove(flow, world.ps());
    flows_.clear();
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const Port& port = world.fabric.description().port(hosts_[i]);
      const BitRate most = data_rate(port.width, port.speed);
      flows_.push_back(*world.plane.add(
          {.from = hosts_[i], .to = hosts_[(i + far) % hosts_.size()], .demand = most * load}, world.ps()));
    }
  }
  [[nodiscard]] sim::FlowFigures figures() { return world_->plane.figures(world_->ps()); }

  /// Nobody violated anything, and no flow is led into a link that is off.
  void expect_well() {
    EXPECT_THAT(world_->watch.violations(), ::testing::IsEmpty());
    EXPECT_EQ(figures().into_off_link, 0U);
    EXPECT_EQ(figures().unroutable, 0U);
  }
  /// So many links off, and nothing under way.
  bool comes_to(std::size_t off, FabricClock::duration within = 2min) {
    return world_->run([&] { return world_->links_off().size() == off && world_->daemon->quiet(); }, within);
  }
  [[nodiscard]] std::string events() const {
    std::string text;
    for (const auto& event : world_->daemon->events) {
      text += fmt::format("{:.3f} {} {}: {}\n",
                          std::chrono::duration<double>(event.at.time_since_epoch()).count(), event.kind,
                          event.links, event.text);
    }
    return text;
  }

  [[nodiscard]] std::vector<LinkIndex> trunk_links() const {
    return test::trunk_links(world_->fabric.description());
  }

  test::Scratch directory_;
  std::unique_ptr<RegulatedWorld> world_;
  std::vector<PortIndex> hosts_;
  std::vector<sim::TrafficId> flows_;
};

/// Stories that are the same whoever writes the fabric.
class AnyStory : public Story, public ::testing::WithParamInterface<WrittenBy> {
 protected:
  [[nodiscard]] WrittenBy written_by() const override { return GetParam(); }
  /// From case to case of those that are tried. Beside OpenSM some of them in every run, all by night.
  [[nodiscard]] std::uint64_t step() const {
    constexpr std::uint64_t apart = 9;
    return written_by() == WrittenBy::Daemon || is_night() ? stride : apart * stride;
  }
};
inline const auto anybody = ::testing::Values(WrittenBy::Daemon, WrittenBy::Plugin, WrittenBy::File);
inline std::string name_of(const ::testing::TestParamInfo<WrittenBy>& info) {
  constexpr std::array names{"Daemon", "Plugin", "File"};
  return names.at(static_cast<std::size_t>(info.param));
}

}  // namespace heddle::test
