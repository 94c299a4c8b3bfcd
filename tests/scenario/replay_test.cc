// What a daemon did in a world, played again without the world: the same core on the same events.

#include <sstream>

#include "record/replay.h"
#include "story.h"

namespace heddle::test {
namespace {

using record::Block;

class Replayed : public AnyStory {
 protected:
  /// A disk that takes time: what comes back from it is an event of its own.
  RegulatedWorld& begin_recorded(std::uint8_t lmc = 1) {
    recordings_.clear();
    WorldOptions options = usual(lmc);
    options.disk = 2ms;
    options.recordings = &recordings_;
    return begin(ring, options);
  }
  /// The entries of a run.
  static std::vector<record::Entry> entries(const std::string& recording, record::Opening& opening) {
    std::istringstream in{recording};
    record::Blocks blocks{in};
    EXPECT_TRUE(blocks.begins());
    std::vector<record::Entry> all;
    for (auto block = blocks.next(); block; block = blocks.next()) {
      if (block->first == Block::Opening) opening = record::parse_opening(block->second).value();
      if (block->first == Block::Entry) all.push_back(record::parse_entry(block->second).value());
    }
    return all;
  }
  /// The first difference; empty where there is none.
  std::string play(const std::vector<record::Entry>& entries, const record::Opening& opening) {
    record::Replay replay{opening, [](Instant, core::Severity, const std::string&) {}};
    replay.prepare(entries.at(0));
    opensm::PlanStore plans{"plan.json", replay.desk(), plan_file(opening)};
    const auto journal = replay.between(journal::open_image(*opening.journal, {{}, Instant{}}).value());
    core::FabricCore core{{.transport = replay, .plans = plans, .desk = replay.desk(), .outside = replay},
                          core_options(world_->options)};
    core.use(authority(core, replay, plans));
    core.regulate_with(*journal);
    replay.play(core,
                [&](const std::string& words) { world_->orders.at(std::stoul(words))(*core.regulator()); });
    for (const record::Entry& entry : entries) {
      if (const auto differs = replay.step(entry)) return *differs;
    }
    deeds_ = replay.deeds();
    return "";
  }
  static opensm::PlanStore::File plan_file(const record::Opening& opening) {
    return {[&opening](const std::string& path) -> Result<plan::Plan> {
              const auto& text = path == "plan.json" ? opening.plan : opening.plan_before;
              return text ? plan::parse(*text, path) : fail(ErrorCode::NotFound, "no plan");
            },
            [](const std::string&, const plan::Plan&) { return Result<void>{}; }};
  }
  std::unique_ptr<authority::Authority> authority(core::FabricCore& core, record::Replay& replay,
                                                  opensm::PlanStore& plans) {
    const WorldOptions& options = world_->options;
    if (GetParam() == WrittenBy::Daemon)
      return own_fabric(options, core, replay, replay, [](const provision::ProvisionReport&) {});
    plugin_ = std::make_unique<opensm::PluginBehind>(
        [&replay](opensm::PluginBehind::Question what) {
          return replay.asked(static_cast<std::uint64_t>(what));
        },
        [&replay](opensm::PluginCommand command) { replay.told(to_string(command)); });
    auto beside =
        beside_opensm(options, {core, replay, plans, replay.desk(), movers(options, replay),
                                GetParam() == WrittenBy::Plugin ? plugin_.get() : nullptr,
                                [](const std::string&) { return Result<void>{}; }, [] { return true; }});
    replay.hear_with([listener = beside.listener, &core](std::string_view words) {
      const auto said = opensm::parse_plugin_event(words);
      said ? listener->on_plugin(*said, core.now()) : listener->on_plugin_gone(core.now());
    });
    return std::move(beside.authority);
  }
  std::string play(const std::string& recording) {
    record::Opening opening;
    return play(entries(recording, opening), opening);
  }
  void order(regulation::Mode mode) {
    world_->daemon->order([mode, at = world_->now](regulate::Regulator& regulator) {
      regulator.set_mode(mode, "alice", at, [](const Result<std::string>&) {});
    });
  }
  /// Links go off, an operator has them come back, and then traffic.
  void live() {
    traffic(0.05);
    ASSERT_TRUE(comes_to(4)) << events();
    order(regulation::Mode::Off);
    world_->run_for(5s);
    order(regulation::Mode::Enforce);
    ASSERT_TRUE(comes_to(4)) << events();
    traffic(0.9);
    world_->run_for(20s);
  }

  std::unique_ptr<opensm::PluginBehind> plugin_;
  std::vector<std::string> recordings_;
  std::uint64_t deeds_ = 0;
};

TEST_P(Replayed, AClosedLoopDoesTheSameAgain) {
  for (const std::uint8_t lmc : {0, 1}) {
    begin_recorded(lmc);
    live();
    ASSERT_EQ(recordings_.size(), 1U);
    EXPECT_EQ(play(recordings_[0]), "") << "LMC " << unsigned{lmc};
    EXPECT_GT(deeds_, 1000U);
  }
}

TEST_P(Replayed, WhatIsLeftOutIsMissed) {
  begin_recorded();
  live();
  record::Opening opening;
  const auto all = entries(recordings_[0], opening);
  std::size_t missed = 0;
  for (std::size_t nth = 1; nth <= 20; ++nth) {
    auto less = all;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(nth * all.size() / 21));
    missed += play(less, opening).empty() ? 0 : 1;
  }
  // A timer that rang for nothing, and a packet that came twice, may be left out.
  EXPECT_GE(missed, 15U);
}

TEST_P(Replayed, ADaemonThatWasKilledAndTheNextOne) {
  RegulatedWorld& world = begin_recorded();
  traffic(0.05);
  std::uint64_t left = 4;
  world.fate.on_moment = [&](Fate::Moment moment, std::uint64_t) {
    return moment == Fate::Moment::BeforeWrite && --left == 0 ? Fate::Life::Ends : Fate::Life::GoesOn;
  };
  world.run_for(60s);
  ASSERT_EQ(world.daemon, nullptr) << "it is to be killed";
  world.start();
  ASSERT_TRUE(comes_to(4));
  ASSERT_EQ(recordings_.size(), 2U);
  EXPECT_EQ(play(recordings_[1]), "");
  EXPECT_EQ(play(recordings_[0]), "");
  EXPECT_EQ(play(recordings_[0].substr(0, recordings_[0].size() * 9 / 10)), "") << "in the middle of a block";
}

TEST_P(Replayed, MadsThatAreLostAndADiskThatIsFull) {
  RegulatedWorld& world = begin_recorded();
  sim::MadFaults faults;
  faults.lost = Ratio{0.05};
  world.watch.fault();
  world.fabric.set_mad_faults(faults);
  traffic(0.05);
  std::uint64_t records = 0;
  world.fate.refuses = [&](const regulation::Record&) { return ++records % 3 == 0; };
  world.run_for(60s);
  EXPECT_GT(records, 3U);
  EXPECT_EQ(play(recordings_[0]), "");
}

INSTANTIATE_TEST_SUITE_P(WrittenBy, Replayed, anybody, name_of);

}  // namespace
}  // namespace heddle::test
