// Each cable cut and each switch lost, while everything that may be off is off: what a spare can reach is
// back within the training delay and two seconds, and who else is gone is named.

#include <algorithm>
#include <cstdlib>
#include <set>

#include "regulation/network.h"
#include "story.h"

namespace heddle::test {
namespace {

/// With HEDDLE_EVERY_CASE set all cases are taken, which takes long; else one of so many, and a smaller tree.
const bool all_cases = std::getenv("HEDDLE_EVERY_CASE") != nullptr;
const std::size_t every = all_cases ? 1 : 8;

constexpr auto training = 500ms;

struct Shape {
  std::string_view spec;
  std::uint8_t lmc;
  std::size_t first;  ///< case, where not all are taken

  friend void PrintTo(const Shape& shape, std::ostream* out) {
    *out << shape.spec << " at LMC " << unsigned{shape.lmc};
  }
};

class Spares : public Story, public ::testing::WithParamInterface<Shape> {
 protected:
  [[nodiscard]] const Fabric& truth() const { return world_->fabric.description(); }
  [[nodiscard]] bool is_switch(NodeIndex node) const { return truth().node(node).type == NodeType::Switch; }

  /// Nobody has turned anything off for a while.
  void turn_off_what_may_be() {
    WorldOptions options;
    options.lmc = GetParam().lmc;
    options.governor = quick();
    options.governor.select.policy = regulation::SelectPolicy::General;
    options.sim.training_delay = training;
    world_.reset();
    flows_.clear();
    world_ = std::make_unique<RegulatedWorld>(GetParam().spec, options, journal_file());
    world_->start();
    ASSERT_TRUE(world_->run([&] { return world_->daemon->quiet(); }));
    hosts_ = sim::host_ports(truth());
    traffic(0.01);
    std::size_t off = 0;
    Instant since = world_->now;
    ASSERT_TRUE(world_->run(
        [&] {
          if (const std::size_t now = world_->links_off().size(); now != off || now == 0) {
            off = now;
            since = world_->now;
          }
          return world_->now - since > 25s && world_->daemon->quiet();
        },
        10min))
        << events();
    // A change may follow a change without rest.
    world_->watch.packets_live(options.governor.packet_life);
    world_->watch.begin();
  }

  [[nodiscard]] std::vector<NodeIndex> switches() const {
    std::vector<NodeIndex> nodes;
    const Port& seat = truth().port(world_->port);
    for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) {
      const bool own = truth().peer({seat.node, seat.num})->node == NodeIndex{i};
      if (is_switch(NodeIndex{i}) && !own) nodes.push_back(NodeIndex{i});
    }
    return nodes;
  }

  /// What carries traffic, and every link that is off at an end that can be reached, however far.
  [[nodiscard]] routing::LinkSet usable() const {
    routing::LinkSet set = routing::LinkSet::none(truth());
    std::set<NodeIndex> reached{truth().port(world_->port).node};
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t i = 0; i < truth().links().size(); ++i) {
        const Link& link = truth().link(LinkIndex{i});
        if (set.contains(LinkIndex{i}) || world_->watch.is_faulty(LinkIndex{i})) continue;
        const auto enabled = [&](LinkEnd end) {
          return reached.contains(end.node) ||
                 world_->fabric.port_info(truth().port_index(end)).physical != PhysState::Disabled;
        };
        if (!reached.contains(link.a.node) && !reached.contains(link.b.node)) continue;
        if (!enabled(link.a) || !enabled(link.b)) continue;
        set.insert(LinkIndex{i});
        reached.insert({link.a.node, link.b.node});
        more = true;
      }
    }
    return set;
  }

  /// Host ports that no link that can be used joins to the others by a legal path.
  [[nodiscard]] std::set<PortRef> lost_for_good() const {
    const auto& governor = world_->daemon->regulator().governor();
    regulation::NetworkOptions options;
    options.ranks = governor.ranks();
    const auto reference = governor.reference();
    const PortIndex seat = reference->find_port(truth().ref(world_->port));
    options.managers = {reference->port(seat).lid};
    const auto network = regulation::Network::make(reference, options).value();
    const routing::LinkSet here = usable();
    routing::LinkSet there = routing::LinkSet::none(*reference);
    for (std::uint32_t i = 0; i < truth().links().size(); ++i) {
      if (!here.contains(LinkIndex{i})) continue;
      const LinkRef ref = link_ref(truth(), truth().link(LinkIndex{i}));
      there.insert(reference->port(reference->find_port(ref.a)).link);
    }
    const auto cut = regulation::cut_off_hosts(*network, there);
    return {cut.begin(), cut.end()};
  }

  /// Of the hosts that are to be back, those that some other one's packets do not come to.
  [[nodiscard]] std::vector<std::string> missing(const std::set<PortRef>& lost) const {
    std::vector<PortIndex> wanted;
    for (const PortIndex host : hosts_) {
      if (!lost.contains(truth().ref(host))) wanted.push_back(host);
    }
    return world_->watch.apart(wanted);
  }

  /// From the fault on.
  void expect_back(const std::string& what) {
    ++cases_;
    const std::set<PortRef> lost = lost_for_good();
    const Instant at = world_->now;
    const std::string before = fmt::format("{}\nbefore it: {} links off", what, world_->links_off().size());
    const bool back = world_->run([&] { return missing(lost).empty(); }, training + 2s);
    EXPECT_TRUE(back) << before << "\n" << ::testing::PrintToString(missing(lost)) << "\n" << events();
    slowest_ = std::max(slowest_, world_->now - at);
    world_->run_for(20s);
    // The order may have been made anew without what is lost.
    const std::set<PortRef> still_lost = lost_for_good();
    EXPECT_THAT(missing(still_lost), ::testing::IsEmpty()) << before << "\n" << events();
    EXPECT_THAT(world_->watch.violations(), ::testing::IsEmpty()) << before << "\n" << events();
    const auto problems = world_->daemon->regulator().problems();
    for (const PortRef& port : still_lost) {
      const std::string& name = truth().node(truth().find_node(port.node)).description;
      EXPECT_TRUE(std::any_of(
          problems.begin(), problems.end(),
          [&](const Problem& problem) { return problem.text.find(name + "/") != std::string::npos; }))
          << name << " is gone, and nothing says so: " << before << "\n"
          << events();
    }
    lost_ += still_lost.size();
  }

  void TearDown() override {
    fmt::print("{} at LMC {}: {} cases, slowest {:.3f} s, {} host ports that nothing could reach\n",
               GetParam().spec, GetParam().lmc, cases_, seconds(slowest_), lost_);
  }

  std::size_t cases_ = 0;
  std::size_t lost_ = 0;
  FabricClock::duration slowest_{};
};

TEST_P(Spares, EachCableCut) {
  turn_off_what_may_be();
  const auto cables = trunk_links();
  for (std::size_t i = GetParam().first % every; i < cables.size(); i += every) {
    if (cases_ > 0) turn_off_what_may_be();
    if (HasFailure()) return;
    const LinkRef ref = link_ref(truth(), truth().link(cables[i]));
    world_->watch.cut(cables[i], world_->ps());
    expect_back(fmt::format("cable {} {} -- {} {} cut",
                            truth().node(truth().find_node(ref.a.node)).description, ref.a.port.raw(),
                            truth().node(truth().find_node(ref.b.node)).description, ref.b.port.raw()));
  }
  EXPECT_EQ(lost_, 0U) << "hosts whose spare could be turned on only from where nobody was";
}

TEST_P(Spares, EachSwitchLost) {
  turn_off_what_may_be();
  const auto nodes = switches();
  for (std::size_t i = GetParam().first % every; i < nodes.size(); i += every) {
    if (cases_ > 0) turn_off_what_may_be();
    if (HasFailure()) return;
    world_->watch.kill(nodes[i], world_->ps());
    expect_back(fmt::format("switch {} lost", truth().node(nodes[i]).description));
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Spares,
                         ::testing::Values(Shape{"xgft:3;3,3,2;1,2,2", 0, 2},
                                           // The second cable is a switch's only one that is on.
                                           Shape{"torus:4x4,hosts=1,links=1", 1, 1},
                                           Shape{all_cases ? "tree:k=4,n=3" : "tree:k=2,n=3", 1, 5},
                                           // Its first switch takes others out of sight that only several
                                           // links lead to, one behind the other.
                                           Shape{"mesh:3x3,hosts=1,links=2", 0, 0}),
                         [](const auto& shape) { return std::to_string(shape.index); });

}  // namespace
}  // namespace heddle::test
