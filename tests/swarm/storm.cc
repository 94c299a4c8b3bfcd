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
      world_{plan.fabric, plan.world, directory_ + "/journal.db"},
      commands_{directory_ + "/commands", clock_},
      hosts_{sim::host_ports(truth())} {
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
  world_.on_wire = [this](test::RegulatedWorld::Way way, const mad::Packet& packet) {
    const bool sent = way == test::RegulatedWorld::Way::Sent;
    recording_->record(sent ? Recording::Kind::Sent : Recording::Kind::Received, packet, world_.ps());
  };
}

Outcome Storm::run(FabricClock::duration length) {
  start_daemon();
  if (!world_.run([&] { return world_.daemon->quiet(); })) {
    outcome_.wrong.push_back("the fabric never came up");
    return outcome_;
  }
  world_.watch.begin();
  world_.watch.never_rests();
  world_.watch.say(fmt::format("seed {}", plan_.seed));
  if (plan_.lossy) {
    sim::MadFaults faults;
    faults.lost = Ratio{0.02};
    faults.delayed = Ratio{0.01};
    faults.delay = Picoseconds{50ms};
    world_.fabric.set_mad_faults(faults);
    world_.watch.fault();
  }
  for (const Instant end = world_.now + length; world_.now < end;) {
    step();
    world_.run_for(std::chrono::milliseconds{20 + dice_.below(380)});
  }
  settle();
  expect_all_well();
  outcome_.instants = world_.watch.instants();
  for (const std::string& violation : world_.watch.violations()) outcome_.wrong.push_back(violation);
  return outcome_;
}

void Storm::start_daemon() {
  recording_ = std::make_unique<Recording>(fmt::format("{}/{:04}.wire", directory_, daemons_++), clock_,
                                           truth(), world_.port, world_.ps());
  world_.start();
}

void Storm::step() {
  std::vector<std::pair<void (Storm::*)(), const char*>> steps(4, {&Storm::load, "load"});
  steps.emplace_back(&Storm::change_mode, "mode");
  if (plan_.orders) steps.insert(steps.end(), 5, {&Storm::order, "order"});
  if (plan_.cuts) {
    steps.insert(steps.end(), 3, {&Storm::cut_or_mend, "cut or mend"});
    steps.emplace_back(&Storm::kill_or_revive, "switch");
  }
  if (plan_.kills) steps.emplace_back(&Storm::kill_daemon, "kill");
  const auto& [what, word] = dice_.one_of(steps);
  ++outcome_.done[word];
  (this->*what)();
}

void Storm::load() {
  const bool fewer = !flows_.empty() && dice_.chance(0.5);
  if (fewer) {
    for (const sim::TrafficId flow : flows_) world_.plane.remove(flow, world_.ps());
    flows_.clear();
    return;
  }
  const double share = std::vector<double>{0.9, 0.4, 0.1, 0.02}[dice_.below(4)];
  const std::size_t far = 1 + dice_.below(hosts_.size() - 1);
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const Port& port = truth().port(hosts_[i]);
    const auto flow = world_.plane.add({.from = hosts_[i],
                                        .to = hosts_[(i + far) % hosts_.size()],
                                        .demand = data_rate(port.width, port.speed) * share},
                                       world_.ps());
    if (flow) flows_.push_back(*flow);
  }
}

void Storm::order() {
  if (cables_.empty()) return;
  using regulation::Wish;
  for (int i = 0; i < 2; ++i) {
    const Wish wish = std::vector<Wish>{Wish::Off, Wish::Off, Wish::On, Wish::Pin}[dice_.below(4)];
    const Link& link = truth().link(dice_.one_of(cables_));
    world_.daemon->regulator().set_override(link_ref(truth(), link),
                                            {wish, "a storm", "operator", std::nullopt},
                                            regulation::Force::No, world_.now, unheard);
  }
}

void Storm::change_mode() {
  regulate::Regulator& regulator = world_.daemon->regulator();
  if (dice_.chance(0.3)) regulator.restore("operator", regulate::Regulator::Adopt::No, world_.now, unheard);
  const auto mode = dice_.chance(0.33) ? regulation::Mode::Advise : regulation::Mode::Enforce;
  regulator.set_mode(mode, "operator", world_.now, unheard);
}

/// One cable at a time: what more of them cut off no spare can reach.
void Storm::cut_or_mend() {
  if (cables_.empty()) return;
  const bool mends = !cut_.empty();
  const LinkIndex link = mends ? cut_.back() : dice_.one_of(cables_);
  const LinkEnd end = truth().link(link).a;
  commands_.say(mends ? "mend" : "cut", name(end.node), end.port, world_.ps());
  if (mends) {
    world_.watch.mend(link, world_.ps());
    cut_.pop_back();
  } else {
    world_.watch.cut(link, world_.ps());
    cut_.push_back(link);
  }
}

void Storm::kill_or_revive() {
  if (!dead_.empty()) {
    commands_.say("revive", name(dead_.back()), PortNum{0}, world_.ps());
    world_.watch.revive(dead_.back(), world_.ps());
    dead_.pop_back();
  } else if (cut_.empty() && !switches_.empty()) {
    dead_.push_back(dice_.one_of(switches_));
    commands_.say("kill", name(dead_.back()), PortNum{0}, world_.ps());
    world_.watch.kill(dead_.back(), world_.ps());
  }
}

void Storm::kill_daemon() {
  world_.watch.fault();  // what it knew of faults, it has to find anew
  world_.kill();
  world_.run_for(std::chrono::milliseconds{dice_.below(300)});
  start_daemon();
}

void Storm::settle() {
  world_.fabric.set_mad_faults({});
  while (!cut_.empty()) cut_or_mend();
  while (!dead_.empty()) kill_or_revive();
  // An order stands until the next start; a restore ends all of them.
  world_.run([&] { return world_.daemon->configured; }, 60s);
  world_.daemon->regulator().restore("operator", regulate::Regulator::Adopt::No, world_.now, unheard);
  world_.run_for(30s);
}

void Storm::expect_all_well() {
  if (!world_.run([&] { return world_.daemon->quiet(); }, 60s)) {
    outcome_.wrong.push_back("the daemon does not come to rest");
  }
  for (const LinkIndex link : world_.links_off()) {
    const Link& off = truth().link(link);
    outcome_.wrong.push_back(
        fmt::format("{} port {} stays off after all was restored", name(off.a.node), off.a.port.raw()));
  }
  for (const auto& apart : world_.watch.apart(hosts_)) outcome_.wrong.push_back(apart);
  for (const Problem& problem : world_.daemon->regulator().problems()) {
    outcome_.wrong.push_back("a problem that is none: " + problem.text);
  }
  world_.watch.settled();
}

}  // namespace heddle::swarm
