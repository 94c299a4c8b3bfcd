#include "swarm/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::swarm {

using namespace std::chrono_literals;

namespace {

void add_later_kinds(Plan& plan, Dice& dice) {
  plan.anywhere = plan.kills && dice.chance(0.5);
  plan.power = dice.chance(0.25);
  plan.failing = dice.chance(0.15);
  plan.lying = plan.power && dice.chance(0.3);
  plan.stops = dice.chance(0.25);
  plan.wall = dice.chance(0.2);
  plan.other = dice.chance(0.2);
  plan.agents = dice.chance(0.2);
  plan.twice = dice.chance(0.15);
  plan.damage = dice.chance(0.05);
  // A damaged answer is believed until the next one.
  if (dice.chance(0.5) || plan.damage) plan.world.heavy_sweep = 5s;
  // Who is slow, or comes twice, is later than others; see above.
  auto& life = plan.world.governor.packet_life;
  if (plan.agents || plan.twice) life = std::max<std::chrono::nanoseconds>(life, 100ms);
}

void add_wider_kinds(Plan& plan, Dice& dice) {
  plan.many = plan.cuts && dice.chance(0.4);
  plan.bounces = dice.chance(0.3);
  plan.late = dice.chance(0.3);
  plan.tampering = dice.chance(0.2);
  plan.overtaken = plan.lossy && dice.chance(0.4);
  auto& life = plan.world.governor.packet_life;
  // No MAD is later than packets live; see above.
  if (plan.overtaken) life = std::max<std::chrono::nanoseconds>(life, 400ms);
  plan.plugin = dice.chance(0.15);
  if (!plan.plugin) return;
  plan.world.written_by = test::WrittenBy::Plugin;
  plan.world.opensm.seed = plan.seed;
  // OpenSM's own answers to these are not what is to be seen here; nor that it gives away the LID of a node
  // that is out of sight when it starts.
  for (bool Plan::*kind : {&Plan::lossy, &Plan::overtaken, &Plan::other, &Plan::agents, &Plan::twice,
                           &Plan::damage, &Plan::tampering, &Plan::own, &Plan::late})
    plan.*kind = false;
}

/// Most that is mended in these worlds shows between two MADs of a sweep, so that links must be quick. But
/// where MADs come late, a Set that enables one takes it down again if it has trained by then.
void add_calms(Plan& plan, Dice& dice) {
  plan.calms = true;
  plan.aimed = !plan.plugin && dice.chance(0.7);
  plan.agents = plan.agents || (!plan.plugin && dice.chance(0.4));
  auto& life = plan.world.governor.packet_life;
  if (plan.agents) life = std::max<std::chrono::nanoseconds>(life, 100ms);
  const auto training = std::vector<Picoseconds>{100us, 10ms, 100ms}[dice.below(3)];
  if (!plan.lossy && !plan.twice) plan.world.sim.training_delay = training;
  plan.overtaken = false;
}

}  // namespace

Plan plan_of(std::uint64_t seed) {
  Dice dice{seed};
  Plan plan;
  plan.seed = seed;
  switch (dice.below(8)) {
    case 0:
      plan.fabric = "torus:4x4,hosts=1,links=2";
      break;
    case 1:
      plan.fabric = "torus:4x4,hosts=1,links=1";
      break;
    case 2:
      plan.fabric = "torus:3x3,hosts=2,links=2";
      break;
    case 3:
      plan.fabric = "tree:k=4,n=2";
      break;
    case 4:
      plan.fabric = "tree:k=3,n=3";
      break;
    case 5:
      plan.fabric = "xgft:3;3,3,2;1,2,2";
      break;
    case 6:
      plan.fabric = fmt::format("grown:seed={},hosts=40", seed % 1000);
      break;
    default:
      plan.fabric = fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed);
      break;
  }
  test::WorldOptions& world = plan.world;
  world.lmc = static_cast<std::uint8_t>(dice.below(2));
  world.agents = test::HostAgents::Absent;
  world.sampling = 200ms;
  world.light_sweep = 400ms;
  world.verify_within = 10s;
  world.sim.training_delay = 100ms;
  world.sim.seed = seed;
  world.sim.mad_latency = Picoseconds{5us};
  world.sim.smp_service = Picoseconds{5us};
  world.engine.timeout = 100ms;
  regulation::GovernorOptions& governor = world.governor;
  governor.mode = regulation::Mode::Enforce;
  governor.select.policy =
      dice.chance(0.5) ? regulation::SelectPolicy::General : regulation::SelectPolicy::Trunk;
  governor.quiet = 600ms;
  governor.plan_every = 600ms;
  governor.least_on = 100ms;
  governor.least_off = 100ms;
  governor.drain = 100ms;
  governor.wake = 100ms;
  governor.break_even = 1;
  governor.retry_after = 1s;
  governor.most_transitions = 100'000;
  governor.packet_life = std::vector<std::chrono::nanoseconds>{5ms, 20ms, 100ms, 1s}[dice.below(4)];
  plan.lossy = dice.chance(0.35);
  // A MAD is a packet too: with faults, none may be later than packets live.
  if (plan.lossy) governor.packet_life = std::max<std::chrono::nanoseconds>(governor.packet_life, 100ms);
  plan.cuts = dice.chance(0.6);
  plan.kills = dice.chance(0.5);
  plan.orders = dice.chance(0.8);
  if (seed < 1'000'000) return plan;
  plan.disk = dice.chance(0.3);
  plan.own = dice.chance(0.2);
  if (seed >= first_of_all_kinds) add_later_kinds(plan, dice);
  // Others keep what they are known for.
  if (seed >= first_of_own_training) world.sim.longest_training = dice.chance(0.5) ? 3s : 0s;
  if (seed >= first_of_wider_storms) add_wider_kinds(plan, dice);
  if (seed >= first_of_calms) add_calms(plan, dice);
  return plan;
}

std::string describe(const Plan& plan) {
  std::string words = fmt::format(
      "{}, LMC {}, {}, packets live {} ms", plan.fabric, plan.world.lmc,
      plan.world.governor.select.policy == regulation::SelectPolicy::General ? "general" : "trunk",
      std::chrono::duration_cast<std::chrono::milliseconds>(plan.world.governor.packet_life).count());
  const std::pair<bool, const char*> kinds[] = {
      {plan.orders, "operators"},
      {plan.cuts, "cuts"},
      {plan.kills, "kills"},
      {plan.lossy, "MADs lost"},
      {plan.disk, "disk"},
      {plan.own, "own cable"},
      {plan.anywhere, "at any moment"},
      {plan.power, "power"},
      {plan.failing, "failing disk"},
      {plan.lying, "lying disk"},
      {plan.stops, "stops"},
      {plan.wall, "calendar"},
      {plan.other, "other manager"},
      {plan.agents, "odd agents"},
      {plan.twice, "MADs twice"},
      {plan.damage, "damaged answers"},
      {plan.many, "many out"},
      {plan.bounces, "bounces"},
      {plan.late, "late parts"},
      {plan.overtaken, "MADs overtaken"},
      {plan.tampering, "tampering"},
      {plan.plugin, "plugin"},
      {plan.calms, "calms"},
      {plan.aimed, "aimed"},
      {plan.world.sim.longest_training > Picoseconds{0}, "own training"}};
  for (const auto& [is_so, word] : kinds) {
    if (is_so) words += fmt::format(", {}", word);
  }
  return words;
}

}  // namespace heddle::swarm
