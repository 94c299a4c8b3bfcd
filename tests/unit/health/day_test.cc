// A day of mixed faults with known truth, and of what happens on every fabric without being a fault: what is
// found, what is missed, what is told of without being there, and which links would be taken out. No
// threshold was chosen by these seeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <set>

#include "base/random.h"
#include "health/isolation.h"
#include "support/night.h"
#include "unit/health/day_score.h"
#include "unit/health/health_world.h"

namespace heddle::health {
namespace {

using sim::ErrorCounter;

class Day {
 public:
  explicit Day(std::uint64_t seed) : random_{seed} {
    for (std::uint32_t i = 0; i < world_.truth().links().size(); ++i) {
      const Link& link = world_.truth().links()[i];
      const bool trunk = world_.truth().node(link.a.node).type == NodeType::Switch &&
                         world_.truth().node(link.b.node).type == NodeType::Switch;
      (trunk ? trunks_ : hosts_).push_back(LinkIndex{i});
    }
    hosts_.erase(hosts_.begin());  // where the daemon sits
  }

  Score run() {
    for (int slot = 0; slot < slots; ++slot) {
      const LinkIndex link = fresh();
      plant(slot % kinds, link);
      half_an_hour();
      mend();
    }
    for (const Planted& fault : planted_) {
      ++score_.planted;
      score_.found += fault.found ? 1 : 0;
      if (!fault.found) score_.remarks.push_back("missed: " + fault.name);
    }
    return score_;
  }
  /// Without any fault.
  Score run_well() {
    for (int slot = 0; slot < slots; ++slot) half_an_hour();
    return score_;
  }

 private:
  static constexpr int kinds = 14;
  static constexpr int slots = 48;

  void half_an_hour() {
    for (int i = 0; i < 6; ++i) {
      noise();
      step();
      world_.pass(5min);
      look();
    }
  }

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.below(n)); }
  /// A link that had no fault for as long as the windows are.
  LinkIndex fresh() {
    for (;;) {
      const LinkIndex link = trunks_[below(trunks_.size())];
      if (!busy_.contains(link) || world_.now() - busy_[link] > 5h) {
        busy_[link] = world_.now();
        return link;
      }
    }
  }

  void plant(int kind, LinkIndex link) {
    const Link& cable = world_.truth().link(link);
    const bool at_a = below(2) == 0;
    const LinkEnd in = at_a ? cable.a : cable.b;
    const PortRef sender = world_.truth().ref(at_a ? cable.b : cable.a);
    Planted fault{.name = "",
                  .link = link,
                  .node = {},
                  .rules = {},
                  .from = world_.now(),
                  .until = world_.now() + 30min,
                  .blame = {}};
    const std::set<Rule> falls{Rule::LinkDowned, Rule::LinkFlaps};
    switch (kind) {
      case 0:
        fault.name = "lanes lost";
        fault.rules = falls;
        fault.rules.insert(Rule::LinkWidth);
        world_.fabric().limit(link, {.width = below(2) == 0 ? LinkWidth::X1 : LinkWidth::X2}, world_.ps());
        mend_ = [this, link] { world_.fabric().limit(link, {}, world_.ps()); };
        break;
      case 1: {
        fault.name = "code words that cannot be corrected";
        fault.rules = {Rule::EffectiveBer, Rule::SymbolErrors};
        fault.blame = sender;
        world_.bits(in, {.uncorrectable_per_second = 0.02 + 0.1 * random_.unit()});
        mend_ = [this, in] { world_.bits(in, {}); };
        break;
      }
      case 2:
        fault.name = "symbol errors";
        fault.rules = {Rule::SymbolErrors};
        fault.blame = sender;
        step_ = [this, in] { world_.errors(in, ErrorCounter::Symbol, 2 + below(5)); };
        break;
      case 3:
        fault.name = "flaps";
        fault.rules = falls;
        world_.fabric().flap(link, {.down = 20s, .up = 70s, .times = 4}, world_.ps());
        break;
      case 4:
        fault.name = "broken packets";
        fault.rules = {Rule::ReceiveErrors};
        fault.blame = sender;
        step_ = [this, in] { world_.errors(in, ErrorCounter::RcvErrors, 5 + below(10)); };
        break;
      case 5: {
        fault.name = "what is no packet";
        fault.rules = {Rule::ReceiveErrors};
        fault.blame = sender;
        step_ = [this, in] { world_.errors(in, sim::ErrorDetail::Malformed, 5 + below(10)); };
        break;
      }
      case 6:
        plant_slow_host(fault);
        break;
      case 7:
        fault.name = "a link that is slow";
        fault.rules = falls;
        fault.rules.insert(Rule::LinkSpeed);
        world_.fabric().limit(link, {.speed = below(2) == 0 ? LinkSpeed::Qdr : LinkSpeed::Edr}, world_.ps());
        mend_ = [this, link] { world_.fabric().limit(link, {}, world_.ps()); };
        break;
      case 8:
        fault.name = "more than there is room for";
        fault.rules = {Rule::LinkIntegrity};
        fault.blame = sender;
        step_ = [this, in] { world_.errors(in, ErrorCounter::ExcessiveBufferOverrun, 1 + below(2)); };
        break;
      case 9:
        fault.name = "an end that does not take packets";
        fault.rules = {Rule::XmitDiscards};
        fault.blame = sender;
        step_ = [this, in] { world_.errors(in, ErrorCounter::XmitDiscards, 70 + below(100)); };
        break;
      case 10:
        plant_silent_counters(fault);
        break;
      case 11:
        plant_odd_adapter(fault);
        break;
      case 12:
        plant_missing_entry(fault);
        break;
      default:
        fault.name = "lost locks";
        fault.rules = {Rule::LinkRecovery};
        step_ = [this, in] { world_.errors(in, ErrorCounter::LinkRecovers, 1 + below(2)); };
        break;
    }
    planted_.push_back(std::move(fault));
  }
  void plant_slow_host(Planted& fault) {
    fault.name = "a host that takes too little";
    fault.rules = {Rule::SlowReceiver};
    const std::size_t slow = 1 + below(hosts_.size());
    const LinkEnd end = world_.host_end(slow);
    fault.link = world_.truth().port(end).link;
    fault.blame = world_.truth().ref(end);
    world_.take_in(end, Ratio{0.1 + 0.5 * random_.unit()});
    const sim::TrafficId flow = world_.send(0, slow, BitRate{160e9});
    mend_ = [this, end, flow] {
      world_.take_in(end, Ratio{1});
      world_.stop(flow);
    };
  }
  void plant_silent_counters(Planted& fault) {
    fault.name = "counters that stand still";
    fault.rules = {Rule::SilentCounters};
    const std::size_t silent = 1 + below(hosts_.size());
    const LinkEnd end = world_.host_end(silent);
    fault.link = world_.truth().port(end).link;
    fault.blame = world_.truth().ref(end);
    world_.fabric().set_agent_faults(end.node, {.stuck_counters = true});
    const sim::TrafficId flow = world_.send(0, silent, BitRate{5e9});
    mend_ = [this, end, flow] {
      world_.fabric().set_agent_faults(end.node, {});
      world_.stop(flow);
    };
  }
  void plant_odd_adapter(Planted& fault) {
    fault.name = "an adapter of another revision";
    fault.rules = {Rule::OddDevice};
    const LinkEnd end = world_.host_end(1 + below(hosts_.size()));
    fault.link = world_.truth().port(end).link;
    fault.node = world_.truth().node(end.node).guid;
    fault.blame = PortRef{*fault.node, PortNum{0}};
    const auto replace = [this, end](const sim::Device& device) {
      world_.fabric().kill(end.node, world_.ps());
      world_.pass(2min);
      world_.fabric().set_device(end.node, device);
      world_.fabric().revive(end.node, world_.ps());
      world_.pass(2min);
    };
    replace({.revision = 0xa1});
    mend_ = [replace] { replace({}); };
  }
  void plant_missing_entry(Planted& fault) {
    fault.name = "an entry that somebody has overwritten";
    fault.rules = {Rule::RefutedRoutes};
    const LinkEnd host = world_.host_end(1 + below(hosts_.size()));
    const LinkEnd leaf = *world_.truth().peer(host);
    fault.link = world_.truth().port(host).link;
    fault.node = world_.truth().node(leaf.node).guid;
    const Lid lid = world_.fabric().port_info(world_.truth().port_index(host)).lid;
    // Whenever the subnet manager routes it is mended.
    step_ = [this, leaf, lid] { world_.lead(leaf.node, lid, no_path); };
    mend_ = [this, leaf, lid] { world_.lead(leaf.node, lid, leaf.port); };
  }
  void mend() {
    if (mend_) mend_();
    mend_ = nullptr;
    step_ = nullptr;
  }
  void step() {
    if (step_) step_();
  }

  /// What is no fault, once an hour each.
  void noise() {
    const auto any_end = [&] {
      const auto& links = world_.truth().links();
      const Link& link = links[below(links.size())];
      return below(2) == 0 ? link.a : link.b;
    };
    if (below(12) == 0) world_.errors(any_end(), ErrorCounter::Symbol, 1);
    if (below(12) == 0) world_.errors(any_end(), ErrorCounter::LinkRecovers, 1);
    if (below(12) == 0) world_.errors(any_end(), ErrorCounter::RcvErrors, 1 + below(3));
    if (below(12) == 0) world_.errors(any_end(), ErrorCounter::XmitDiscards, 1 + below(50));
    if (below(12) == 0) world_.errors(any_end(), ErrorCounter::RcvRemotePhysical, 100);
    if (below(12) == 0) world_.bits(any_end(), {.corrected_per_second = 1e6 * random_.unit()});
    if (below(12) == 0) {  // all send to one
      std::vector<sim::TrafficId> flows;
      const std::size_t to = below(hosts_.size());
      for (std::size_t i = 1; i <= 3; ++i)
        flows.push_back(world_.send((to + i) % hosts_.size(), to, BitRate{150e9}));
      world_.pass(3min);
      for (const sim::TrafficId flow : flows) world_.stop(flow);
    }
    if (below(12) == 0) {  // a host is started anew
      const LinkIndex link = hosts_[below(hosts_.size())];
      // Its counters begin anew: no whole window is left of those that stand still.
      if (!planted_.empty() && planted_.back().link == link) return;
      world_.cut(link);
      world_.pass(90s);
      world_.mend(link);
    }
    if (below(24) == 0) switched_off();
    if (below(12) == 0) {  // an operator looks at something
      const LinkIndex link = trunks_[below(trunks_.size())];
      if (busy_.contains(link)) return;
      const LinkEnd end = world_.end(link);
      world_.set_physical(end, PhysState::Disabled);
      world_.pass(90s);
      world_.set_physical(end, PhysState::Polling);
    }
  }

  /// A switch without a fault is off for some minutes, and packets are led there for a while.
  void switched_off() {
    const LinkIndex link = trunks_[below(trunks_.size())];
    const Link& cable = world_.truth().link(link);
    const NodeIndex node = cable.b.node;
    // With it would go what is planted there.
    if (!planted_.empty() || node == world_.truth().peer(world_.host_end(0))->node) return;
    world_.fabric().kill(node, world_.ps());
    world_.errors(cable.a, ErrorCounter::XmitDiscards, 1000);
    world_.pass(3min);
    world_.fabric().revive(node, world_.ps());
    world_.pass(2min);
  }

  /// Each finding counts once, when it is new.
  void look() {
    std::set<std::pair<Rule, PortRef>> seen;
    for (const Finding& finding : world_.judge().report()->findings) {
      const auto key = std::pair{finding.rule, finding.at};
      seen.insert(key);
      const auto at = static_cast<std::size_t>(finding.sureness);
      const bool counted = known_.contains(key);
      Planted* fault = fault_of(finding);
      if (fault != nullptr) fault->found = true;
      if (counted) continue;
      ++(fault != nullptr ? score_.right : score_.wrong)[at];
      if (fault == nullptr) {
        score_.remarks.push_back(fmt::format("not there: {} {} {}: {}", to_string(finding.sureness),
                                             to_string(finding.rule), to_string(finding.at), finding.what));
      } else if (finding.blame && fault->blame) {
        ++score_.blamed;
        score_.blamed_right += finding.blame == fault->blame ? 1 : 0;
      }
    }
    known_ = std::move(seen);
    look_at_isolations();
  }
  /// Each link that would be taken out, once.
  void look_at_isolations() {
    const Isolation isolation{{.mode = Isolate::Enforce}};
    for (const IsolationOrder& order :
         isolation.decide(*world_.judge().report(), world_.seen(), {}, world_.now())) {
      if (!isolated_.insert(order.link).second) continue;
      const bool is_bad = std::ranges::any_of(planted_, [&](const Planted& fault) {
        return link_ref(world_.truth(), world_.truth().link(fault.link)) == order.link &&
               world_.now() < fault.until + 131min;
      });
      ++(is_bad ? score_.isolated_right : score_.isolated_wrong);
      if (!is_bad) score_.remarks.push_back(fmt::format("would be taken out: {}", order.reason));
    }
  }
  Planted* fault_of(const Finding& finding) {
    for (Planted& fault : planted_) {
      const LinkRef link = link_ref(world_.truth(), world_.truth().link(fault.link));
      const bool there = finding.at == link.a || finding.at == link.b ||
                         (finding.at.port == PortNum{0} && finding.at.node == fault.node);
      if (there && fault.rules.contains(finding.rule) && world_.now() < fault.until + 131min) return &fault;
    }
    return nullptr;
  }

  /// Single flows go over single links of trunks: that they are unbalanced is so, and no fault.
  HealthWorld world_{"torus:3x3,hosts=2,links=3,speed=HDR", {}, {.off = {Rule::UnbalancedTrunk}}};
  Random random_;
  std::vector<LinkIndex> trunks_;
  std::vector<LinkIndex> hosts_;
  std::map<LinkIndex, Instant> busy_;
  std::vector<Planted> planted_;
  std::function<void()> mend_;
  std::function<void()> step_;
  std::set<std::pair<Rule, PortRef>> known_;
  std::set<LinkRef> isolated_;
  Score score_;
};

constexpr std::uint64_t first_seed = 201;

TEST(HealthDay, WhatIsFoundIsThereAndWhatIsThereIsFound) {
  Score sum;
  const unsigned days = test::last_of({.always = 3, .by_night = 40});
  for (std::uint64_t seed = first_seed; seed < first_seed + days; ++seed) {
    const Score score = Day{seed}.run();
    sum.add(score);
    for (const std::string& remark : score.remarks) fmt::print("seed {}: {}\n", seed, remark);
  }
  fmt::print(
      "{} of {} faults found; sure: {} right, {} wrong; likely: {} right, {} wrong; blamed: {} of {}; "
      "isolated: {} right, {} wrong\n",
      sum.found, sum.planted, sum.right[0], sum.wrong[0], sum.right[1], sum.wrong[1], sum.blamed_right,
      sum.blamed, sum.isolated_right, sum.isolated_wrong);
  EXPECT_EQ(sum.found, sum.planted);
  EXPECT_GE(20 * sum.right[0], 19 * (sum.right[0] + sum.wrong[0])) << "95 % of what is sure";
  EXPECT_GE(10 * sum.right[1], 7 * (sum.right[1] + sum.wrong[1])) << "70 % of what is likely";
  EXPECT_GE(20 * sum.blamed_right, 19 * sum.blamed) << "the end, in 95 %";
  EXPECT_GT(sum.blamed, 20U);
  EXPECT_GT(sum.isolated_right, 5U);
  EXPECT_EQ(sum.isolated_wrong, 0U);
}

TEST(HealthDay, OfADayWithoutFaultsNoLinkIsTakenOut) {
  Score sum;
  const unsigned days = test::last_of({.always = 1, .by_night = 40});
  for (std::uint64_t seed = first_seed; seed < first_seed + days; ++seed) {
    const Score score = Day{seed}.run_well();
    sum.add(score);
    for (const std::string& remark : score.remarks) fmt::print("seed {}: {}\n", seed, remark);
  }
  fmt::print("{} days: sure {}, likely {}, would be taken out {}\n", days, sum.wrong[0], sum.wrong[1],
             sum.isolated_wrong);
  EXPECT_EQ(sum.wrong[0], 0U);
  EXPECT_EQ(sum.isolated_wrong, 0U);
}

}  // namespace
}  // namespace heddle::health
