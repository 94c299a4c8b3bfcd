/// Whatever operators take out of service, under load, on a fabric where somebody looks on at every instant.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fabric/links.h"
#include "regulate/drain_target.h"
#include "story.h"

namespace heddle::test {

using regulate::DrainShown;
using regulate::Whole;

/// Two hosts at each of three leaves, three spines.
constexpr std::string_view small_tree = "xgft:2;2,3;1,3";

class Drains : public Story, public ::testing::WithParamInterface<std::uint8_t> {
 protected:
  RegulatedWorld& begin_loaded(regulation::SelectPolicy policy = regulation::SelectPolicy::Trunk) {
    WorldOptions options = usual(GetParam());
    options.governor.select.policy = policy;
    RegulatedWorld& world = begin(small_tree, options);
    // By trunks, which have a link each, there is nothing to turn off.
    traffic(0.6, 2);
    world.run_for(5s);
    return world;
  }
  [[nodiscard]] const Fabric& truth() const { return world_->fabric.description(); }
  Result<std::string> drain(const std::vector<std::string>& names, Whole whole = Whole::Named,
                            regulation::Force force = regulation::Force::No,
                            std::optional<FabricClock::duration> length = std::nullopt) {
    auto target = regulate::drain_target(world_->daemon->regulator().governor().reference(), names, whole);
    if (!target) return fail(target.error());
    target->by = "ann";
    target->reason = "a fan";
    if (length) target->until = world_->now + *length;
    for (const NodeGuid guid : target->nodes) world_->watch.drain(truth().find_node(guid));
    Result<std::string> answer = fail(ErrorCode::Io, "no answer");
    world_->daemon->order([&](regulate::Regulator& regulator) {
      regulator.set_drain(*target, force, world_->now,
                          [&](const Result<std::string>& given) { answer = given; });
    });
    if (!answer) {
      for (const NodeGuid guid : target->nodes) world_->watch.end_drain(truth().find_node(guid));
    }
    return answer;
  }
  Result<std::string> end(const std::vector<std::string>& names) {
    const auto& regulator = world_->daemon->regulator();
    const auto what =
        regulate::drain_named(regulator.governor().drains(), regulator.governor().reference(), names);
    if (!what) return fail(what.error());
    Result<std::string> answer = fail(ErrorCode::Io, "no answer");
    world_->daemon->order([&](regulate::Regulator& ordered) {
      ordered.end_drain(*what, "bob", world_->now, [&](const Result<std::string>& given) { answer = given; });
    });
    return answer;
  }
  [[nodiscard]] bool all_safe() const {
    const auto drains = world_->daemon->regulator().drains();
    return std::ranges::all_of(drains, [](const DrainShown& one) { return one.safe; });
  }
  void becomes_safe() {
    ASSERT_TRUE(world_->run([&] { return all_safe() && world_->daemon->quiet(); }, 2min)) << events();
    ASSERT_FALSE(world_->daemon->regulator().drains().empty());
    expect_off_in_fact();
  }
  /// By the ports themselves, and by the packets that would go there.
  void expect_off_in_fact() const {
    const auto off = world_->links_off();
    for (const DrainShown& one : world_->daemon->regulator().drains()) {
      for (const LinkRef& ref : one.status.drain.links) {
        const LinkIndex link = truth().port(truth().find_port(ref.a)).link;
        EXPECT_EQ(std::count(off.begin(), off.end(), link), 1) << events();
        for (const LinkEnd& end : {truth().link(link).a, truth().link(link).b})
          EXPECT_EQ(world_->plane.sent(truth().port_index(end), world_->ps()).value(), 0);
      }
    }
  }
  /// In equal parts by each of their LIDs.
  void everybody_to_everybody() {
    for (const sim::TrafficId flow : flows_) world_->plane.remove(flow, world_->ps());
    flows_.clear();
    for (const PortIndex from : hosts_) {
      for (const PortIndex to : hosts_) {
        if (from != to) send_by_every_lid(from, to);
      }
    }
  }
  void send_by_every_lid(PortIndex from, PortIndex to) {
    const unsigned lids = 1U << GetParam();
    const Port& port = truth().port(from);
    const BitRate demand = data_rate(port.width, port.speed) * (0.05 / lids);
    for (unsigned lid = 0; lid < lids; ++lid) {
      flows_.push_back(*world_->plane.add(
          {.from = from, .to = to, .demand = demand, .path_offset = static_cast<std::uint8_t>(lid)},
          world_->ps()));
    }
  }
  /// bit/s, of the links between switches.
  [[nodiscard]] double busiest() {
    double most = 0;
    for (const Link& link : truth().links()) {
      if (!joins_switches(truth(), link)) continue;
      for (const LinkEnd& end : {link.a, link.b})
        most = std::max(most, world_->plane.sent(truth().port_index(end), world_->ps()).value());
    }
    return most;
  }
  [[nodiscard]] NodeIndex node(const std::string& name) const {
    for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) {
      if (truth().node(NodeIndex{i}).description == name) return NodeIndex{i};
    }
    return no_node;
  }
  [[nodiscard]] std::vector<std::string> uplinks(const std::string& leaf) const {
    std::vector<std::string> names;
    for (unsigned p = 1; p <= truth().node(node(leaf)).port_count; ++p) {
      const auto peer = truth().peer({node(leaf), PortNum{static_cast<std::uint8_t>(p)}});
      if (peer && truth().node(peer->node).type == NodeType::Switch)
        names.push_back(fmt::format("{}/{}", leaf, p));
    }
    return names;
  }
  [[nodiscard]] std::vector<std::string> problems() const {
    std::vector<std::string> texts;
    for (const Problem& problem : world_->daemon->regulator().problems()) texts.push_back(problem.text);
    return texts;
  }
  /// Flows of the hosts that were cut off have no way; all others have theirs.
  void expect_nobody_is_led_there(const std::set<std::size_t>& cut) {
    for (const sim::TrafficId id : flows_) {
      const auto is_cut = [&](PortIndex port) {
        return std::ranges::any_of(cut, [&](std::size_t host) { return hosts_[host] == port; });
      };
      const sim::TrafficFlow& flow = world_->plane.flow(id);
      if (is_cut(flow.from) || is_cut(flow.to)) continue;
      EXPECT_EQ(world_->plane.route_end(id, world_->ps()), sim::RouteEnd::Delivered);
    }
    EXPECT_THAT(world_->watch.violations(), ::testing::IsEmpty());
  }
  /// As it was before anything was drained.
  void expect_everything_back() {
    ASSERT_TRUE(comes_to(0)) << events();
    world_->run_for(10s);
    for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) world_->watch.end_drain(NodeIndex{i});
    world_->run_for(10s);
    EXPECT_TRUE(world_->daemon->regulator().drains().empty());
    EXPECT_TRUE(world_->daemon->on_disk().drains.empty());
    EXPECT_TRUE(world_->daemon->on_disk().off.empty()) << events();
    EXPECT_THAT(problems(), ::testing::IsEmpty());
    EXPECT_EQ(figures().unroutable, 0U);
    expect_well();
  }
};

}  // namespace heddle::test
