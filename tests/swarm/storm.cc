#include "swarm/storm.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "fabric/ibnetdiscover.h"
#include "sim/scenario_hosts.h"

namespace heddle::swarm {
namespace {

using namespace std::chrono_literals;

void unheard(const Result<std::string>& /*answer*/) {}

}  // namespace

Storm::Storm(const Plan& plan, std::string directory)
    : plan_{plan},
      dice_{plan.seed + 1'000'000'007},
      directory_{std::move(directory)},
      disk_{plan.power || plan.failing ? std::make_unique<test::VolatileDisk>(plan.seed) : nullptr},
      world_{plan.fabric, plan.world, directory_ + "/journal.db"},
      commands_{directory_ + "/commands", clock_},
      hosts_{sim::host_ports(truth())},
      chances_{plan.seed + 2'000'000'011} {
  std::ofstream{directory_ + "/fabric.net"} << write_ibnetdiscover(truth());
  const Port& seat = truth().port(world_.port);
  const NodeIndex own = truth().peer({seat.node, seat.num})->node;
  std::map<std::string, int> names;  // commands go by them
  for (const Node& node : truth().nodes()) ++names[node.description];
  const auto is_unique = [&](NodeIndex node) { return names[name(node)] == 1; };
  for (std::uint32_t i = 0; i < truth().links().size(); ++i) {
    const Link& link = truth().link(LinkIndex{i});
    if (is_switch(link.a.node) && is_switch(link.b.node) && is_unique(link.a.node)) {
      cables_.push_back(LinkIndex{i});
    }
  }
  for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) {
    if (is_switch(NodeIndex{i}) && NodeIndex{i} != own && is_unique(NodeIndex{i}))
      switches_.push_back(NodeIndex{i});
  }
  if (is_unique(truth().link(seat.link).a.node)) own_ = seat.link;
  world_.on_wire = [this](test::RegulatedWorld::Way way, const mad::Packet& packet) {
    const bool sent = way == test::RegulatedWorld::Way::Sent;
    if (sent) judge_sent(packet);
    if (!sent && plan_.has_moments()) note_state(packet);
    if (awaited_ && !came_) came_ = awaited_(way, packet);
    recording_->record(sent ? Recording::Kind::Sent : Recording::Kind::Received, packet, world_.ps());
  };
}

bool Storm::begin() {
  if (plan_.late) leave_out();
  if (world_.opensm) {
    world_.run([&] { return world_.opensm->quiet() && world_.opensm->heavy_sweeps() > 0; });
  }
  start_daemon();
  if (!world_.run([&] { return world_.daemon->quiet() && world_.has_tables(); })) {
    outcome_.wrong.push_back("the fabric never came up");
    return false;
  }
  // OpenSM writes tables first, and raises ports then. The watcher of the wire looks after packets under way.
  if (is_wide() && !plan_.plugin) {
    world_.watch.judge_writes(plan_.world.governor.packet_life,
                              [](const routing::Target&, Lid) { return false; });
    if (plan_.has_moments()) world_.watch.excuse_writes([this](PortIndex port) { return !is_told_of(port); });
  }
  world_.watch.begin();
  world_.watch.never_rests();
  world_.watch.say(fmt::format("seed {}", plan_.seed));
  begin_faults();
  return true;
}

void Storm::begin_faults() {
  sim::MadFaults faults;
  if (plan_.lossy) {
    faults.lost = Ratio{0.02};
    faults.delayed = Ratio{0.01};
    faults.delay = plan_.overtaken ? Picoseconds{250ms} : Picoseconds{50ms};
  }
  if (plan_.twice) faults.duplicated = Ratio{0.02};
  if (plan_.lossy || plan_.twice) {
    world_.fabric.set_mad_faults(faults);
    world_.watch.fault();
  }
  if (plan_.damage) world_.fate.spoil = [this](mad::Packet& packet) { spoil(packet); };
}

Outcome Storm::end() {
  settle();
  expect_all_well();
  write_story();
  outcome_.instants = world_.watch.instants();
  outcome_.lasted = world_.now.time_since_epoch();
  if (!plan_.is_judged()) return outcome_;
  for (const std::string& violation : world_.watch.violations()) outcome_.wrong.push_back(violation);
  return outcome_;
}

/// For people: what was done when, and what the last daemon said of it.
void Storm::write_story() const {
  std::ofstream story{directory_ + "/story"};
  for (std::size_t i = 0; i < steps_.size(); ++i)
    story << fmt::format("{:.3f} step {}: {}\n", seconds(begun_[i].time_since_epoch()), i, steps_[i].what);
  for (const journal::Event& event : world_.daemon->events) {
    story << fmt::format("{:.3f} {} {}: {}\n", seconds(event.at.time_since_epoch()), event.kind, event.links,
                         event.text);
  }
}

Outcome Storm::run(FabricClock::duration length) {
  if (!begin()) return outcome_;
  for (const Instant end = world_.now + length; world_.now < end + rested_;) {
    Step step = draw();
    ++outcome_.done[step.what];
    begun_.push_back(world_.now);
    step.act(*this);
    step.then = std::chrono::milliseconds{20 + dice_.below(380)};
    steps_.push_back(step);
    pass(step.then);
  }
  return end();
}

Outcome Storm::repeat(const std::vector<Step>& steps, const std::set<std::size_t>& only) {
  if (!begin()) return outcome_;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (only.contains(i)) steps_.push_back(steps[i]);
    if (only.contains(i)) begun_.push_back(world_.now);
    if (only.contains(i)) {
      ++outcome_.done[steps[i].what];
      steps[i].act(*this);
    }
    pass(steps[i].then);
  }
  return end();
}

void Storm::start_daemon() {
  if (disk_) wait_for_journal();
  told_.clear();
  recording_ = std::make_unique<Recording>(fmt::format("{}/{:04}.wire", directory_, daemons_++), clock_,
                                           truth(), world_.port, world_.ps());
  world_.start();
}

Step Storm::draw() {
  std::vector<std::pair<Act (Storm::*)(), const char*>> steps(4, {&Storm::load, "load"});
  steps.emplace_back(&Storm::change_mode, "mode");
  if (plan_.orders) steps.insert(steps.end(), 5, {&Storm::order, "order"});
  if (plan_.cuts) {
    steps.insert(steps.end(), 3, {&Storm::cut_or_mend, "cut or mend"});
    steps.emplace_back(&Storm::kill_or_revive, "switch");
  }
  if (plan_.kills) steps.emplace_back(&Storm::kill_daemon, "kill");
  if (plan_.disk) steps.insert(steps.end(), 2, {&Storm::change_disk, "disk"});
  if (plan_.own) steps.emplace_back(&Storm::cut_own, "own cable");
  if (plan_.anywhere) steps.emplace_back(&Storm::kill_at_any_moment, "kill anywhere");
  if (plan_.power) steps.emplace_back(&Storm::lose_power, "power");
  if (plan_.failing) steps.insert(steps.end(), 2, {&Storm::change_manners, "failing disk"});
  if (plan_.stops) steps.emplace_back(&Storm::stop_daemon, "stop");
  if (plan_.wall) steps.emplace_back(&Storm::change_calendar, "calendar");
  if (plan_.other) steps.insert(steps.end(), 2, {&Storm::other_manager, "other manager"});
  if (plan_.agents) steps.insert(steps.end(), 2, {&Storm::odd_agent, "odd agent"});
  if (plan_.bounces) steps.insert(steps.end(), 2, {&Storm::bounce, "bounce"});
  if (plan_.late) steps.emplace_back(&Storm::arrive, "arrival");
  if (plan_.tampering) steps.insert(steps.end(), 3, {&Storm::tamper, "tampering"});
  if (plan_.plugin) steps.insert(steps.end(), 2, {&Storm::trouble_opensm, "OpenSM"});
  if (plan_.calms) steps.insert(steps.end(), 2, {&Storm::calm, "calm"});
  if (plan_.aimed) steps.insert(steps.end(), 4, {&Storm::aim, "aimed"});
  const auto& [what, word] = dice_.one_of(steps);
  return {word, (this->*what)()};
}

Storm::Act Storm::load() {
  const bool fewer = !flows_.empty() && dice_.chance(0.5);
  if (fewer) {
    return [](Storm& storm) {
      for (const sim::TrafficId flow : storm.flows_) storm.world_.plane.remove(flow, storm.world_.ps());
      storm.flows_.clear();
    };
  }
  const double share = std::vector<double>{0.9, 0.4, 0.1, 0.02}[dice_.below(4)];
  const std::size_t far = 1 + dice_.below(hosts_.size() - 1);
  return [share, far](Storm& storm) {
    const auto& hosts = storm.hosts_;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const Port& port = storm.truth().port(hosts[i]);
      const auto flow = storm.world_.plane.add({.from = hosts[i],
                                                .to = hosts[(i + far) % hosts.size()],
                                                .demand = data_rate(port.width, port.speed) * share},
                                               storm.world_.ps());
      if (flow) storm.flows_.push_back(*flow);
    }
  };
}

Storm::Act Storm::order() {
  using regulation::Wish;
  std::vector<std::pair<LinkIndex, Wish>> wishes;
  for (int i = 0; i < 2 && !cables_.empty(); ++i) {
    const Wish wish = std::vector<Wish>{Wish::Off, Wish::Off, Wish::On, Wish::Pin}[dice_.below(4)];
    wishes.emplace_back(dice_.one_of(cables_), wish);
  }
  return [wishes](Storm& storm) {
    for (const auto& [link, wish] : wishes) {
      storm.world_.daemon->order([&storm, link = link, wish = wish](regulate::Regulator& regulator) {
        regulator.set_override(link_ref(storm.truth(), storm.truth().link(link)),
                               {wish, "a storm", "operator", std::nullopt}, regulation::Force::No,
                               storm.world_.now, unheard);
      });
    }
  };
}

Storm::Act Storm::change_mode() {
  const bool restores = dice_.chance(0.3);
  const auto mode = dice_.chance(0.33) ? regulation::Mode::Advise : regulation::Mode::Enforce;
  return [restores, mode](Storm& storm) {
    const Instant now = storm.world_.now;
    storm.world_.daemon->order([&](regulate::Regulator& regulator) {
      if (restores) regulator.restore("operator", regulate::Regulator::Adopt::No, now, unheard);
      regulator.set_mode(mode, "operator", now, unheard);
    });
  };
}

/// One cable at a time, where no more are to be out: what more of them cut off no spare can reach.
Storm::Act Storm::cut_or_mend() {
  if (cables_.empty()) return [](Storm&) {};
  if (plan_.many && !cut_.empty() && dice_.chance(0.5)) {
    const std::size_t which = dice_.below(cut_.size());
    return [link = cut_[which]](Storm& storm) { storm.mend(link); };
  }
  if (!cut_.empty() && !plan_.many) return [link = cut_.back()](Storm& storm) { storm.mend(link); };
  return [link = dice_.one_of(cables_)](Storm& storm) { storm.cut(link); };
}

void Storm::cut(LinkIndex link) {
  // Nobody repairs what another manager, which writes nothing, has.
  const bool is_out = std::find(cut_.begin(), cut_.end(), link) != cut_.end();
  if (cut_.size() >= (plan_.many ? most_cut : 1) || is_out || other_) return;
  const LinkEnd end = truth().link(link).a;
  commands_.say("cut", name(end.node), end.port, world_.ps());
  world_.watch.cut(link, world_.ps());
  cut_.push_back(link);
}

void Storm::mend(LinkIndex link) {
  if (std::erase(cut_, link) == 0) return;
  const LinkEnd end = truth().link(link).a;
  commands_.say("mend", name(end.node), end.port, world_.ps());
  world_.watch.mend(link, world_.ps());
}

Storm::Act Storm::kill_or_revive() {
  const bool more = plan_.many && dice_.chance(0.3);
  if (!dead_.empty() && !more) return [node = dead_.back()](Storm& storm) { storm.revive(node); };
  if ((!cut_.empty() && !plan_.many) || switches_.empty()) return [](Storm&) {};
  return [node = dice_.one_of(switches_)](Storm& storm) { storm.kill(node); };
}

void Storm::kill(NodeIndex node) {
  if (plan_.many ? dead_.size() >= most_dead : !dead_.empty() || !cut_.empty()) return;
  if (other_ || std::find(dead_.begin(), dead_.end(), node) != dead_.end()) return;
  dead_.push_back(node);
  commands_.say("kill", name(node), PortNum{0}, world_.ps());
  world_.watch.kill(node, world_.ps());
}

void Storm::revive(NodeIndex node) {
  if (std::erase(dead_, node) == 0) return;
  commands_.say("revive", name(node), PortNum{0}, world_.ps());
  world_.watch.revive(node, world_.ps());
}

Storm::Act Storm::kill_daemon() {
  const auto away = std::chrono::milliseconds{dice_.below(300)};
  return [away](Storm& storm) {
    storm.kill_now();
    storm.start_again(away);
  };
}

Storm::Act Storm::change_disk() {
  const bool full = dice_.chance(0.3);
  const auto write = std::vector<std::chrono::milliseconds>{0ms, 0ms, 20ms, 400ms}[dice_.below(4)];
  return [full, write](Storm& storm) { storm.set_disk(full, write); };
}

/// `write`: what one takes.
void Storm::set_disk(bool full, FabricClock::duration write) {
  world_.fate.refuses = [full](const regulation::Record&) { return full; };
  world_.options.disk = write;
}

/// With it the daemon sees nothing, and must find everything again.
Storm::Act Storm::cut_own() {
  if (own_ == no_link || !dead_.empty()) return [](Storm&) {};
  if (cut_.empty()) return [](Storm& storm) { storm.cut(storm.own_); };
  return [](Storm& storm) { storm.mend(storm.own_); };
}

void Storm::settle() {
  world_.fabric.set_mad_faults({});
  set_disk(false, 0ms);
  if (plan_.seed >= first_of_all_kinds) end_others();
  mend_all();
  // An order stands until the next start; a restore ends all of them.
  world_.run([&] { return world_.daemon->configured; }, 60s);
  if (plan_.tampering) {
    // What regulation writes would undo it; now it is at rest.
    world_.run_for(20s);
    for (int i = 0; i < 8; ++i) tamper()(*this);
  }
  if (is_wide()) expect_true_status("before the restore");
  world_.daemon->order([&](regulate::Regulator& regulator) {
    const auto adopt = forgot_ ? regulate::Regulator::Adopt::DisabledPorts : regulate::Regulator::Adopt::No;
    regulator.restore("operator", adopt, world_.now, unheard);
  });
  world_.run_for(30s);
}

}  // namespace heddle::swarm
