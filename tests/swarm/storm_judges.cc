// What must be true when a storm has passed.

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <utility>

#include "routing/updn.h"
#include "swarm/storm.h"

namespace heddle::swarm {

using namespace std::chrono_literals;

/// Status says that something is wrong, and nothing is.
std::vector<std::string> Storm::untrue_problems() const {
  std::vector<std::string> texts;
  const Problems problems =
      is_wide() ? world_.daemon->core().problems() : world_.daemon->regulator().problems();
  for (const Problem& problem : problems) {
    // They lead there, which is judged elsewhere.
    if (is_wide() && problem.kind == ProblemKind::EarlierRoutes) continue;
    if (forgot_ && problem.kind == ProblemKind::DisabledPorts) continue;
    if (is_wide() && problem.kind == ProblemKind::SilentPorts && is_out_of_reach(problem)) continue;
    texts.push_back("a problem that is none: " + problem.text);
  }
  return texts;
}

/// Switches that the order leaves without a path by LID, from the daemon or to it, with all links on
/// (mends.h): it reaches these by directed route, by which no counters can be read.
std::set<std::string> Storm::out_of_reach() const {
  const authority::KnownFabric& known = world_.daemon->regulator().known();
  if (!known.reference) return {};
  routing::UpDownOptions options;
  options.ranks = known.ranks;
  options.turns = known.turns;
  const auto router = routing::UpDownRouter::make(*known.reference, options);
  if (!router) return {};
  const Port& seat = truth().port(world_.port);
  const NodeGuid own = truth().node(truth().peer({seat.node, seat.num})->node).guid;
  std::set<std::string> names;
  for (const auto& [from, to] : router->mends().left()) {
    for (const auto& [one, other] : {std::pair{from, to}, std::pair{to, from}}) {
      if (router->graph().guid(one) == own)
        names.insert(name(truth().find_node(router->graph().guid(other))));
    }
  }
  return names;
}

/// Whether all ports that a problem of silent ones names are of such switches.
bool Storm::is_out_of_reach(const Problem& problem) const {
  const std::set<std::string> names = out_of_reach();
  static const std::regex port{R"(([^ ,:]+)/\d+(?=[,:]))"};
  for (std::sregex_iterator it(problem.text.begin(), problem.text.end(), port), end; it != end; ++it) {
    if (!names.contains((*it)[1])) return false;
  }
  return !names.empty();
}

/// Of the links between switches that are off, and those that the records call off.
std::vector<std::string> Storm::untrue_records() const {
  std::vector<std::string> texts;
  std::set<LinkRef> off;
  for (const LinkIndex link : world_.links_off()) off.insert(link_ref(truth(), truth().link(link)));
  const auto recorded = world_.daemon->regulator().links_off();
  for (const LinkRef& link : recorded) {
    if (!off.contains(link)) texts.push_back(text_of(link) + " counts as off, and is not");
  }
  for (const LinkRef& link : off) {
    const bool known = std::find(recorded.begin(), recorded.end(), link) != recorded.end();
    if (!known && !forgot_) texts.push_back(text_of(link) + " is off, and no record says so");
  }
  if (!plan_.calms) return texts;
  for (const LinkRef& link : world_.daemon->regulator().governor().links_in(regulation::LinkState::Lost))
    texts.push_back(text_of(link) + " counts as lost, and is not");
  return texts;
}

std::string Storm::text_of(const LinkRef& link) const {
  const Port& port = truth().port(truth().find_port(link.a));
  return fmt::format("{} port {}", name(port.node), port.num.raw());
}

/// Nobody orders anything, everything that was broken is mended: what is on, off and wrong is what status
/// says, at some moment soon.
void Storm::expect_true_status(const char* when) {
  std::vector<std::string> untrue;
  const auto is_true = [&] {
    if (!world_.daemon->quiet()) return false;
    untrue = untrue_problems();
    for (std::string& text : untrue_records()) untrue.push_back(std::move(text));
    // Before a restore writes blocks anew.
    if (untrue.empty()) untrue = untrue_tables();
    return untrue.empty();
  };
  if (world_.run(is_true, 120s)) return;
  if (untrue.empty()) untrue.emplace_back("the daemon does not come to rest");
  for (const std::string& text : untrue) outcome_.wrong.push_back(fmt::format("{}: {}", when, text));
}

/// What the daemon knows switches to hold, beside what they hold.
std::vector<std::string> Storm::untrue_tables() const {
  for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) {
    const NodeIndex node{i};
    for (unsigned p = 0; is_switch(node) && p <= truth().node(node).port_count; ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto believed = world_.daemon->core().authority().lids_through({truth().node(node).guid, port});
      const auto held = world_.fabric.forwarding_table(node);
      for (const Lid lid : believed.value_or(std::vector<Lid>{})) {
        if (lid == no_lid || (lid.raw() < held.size() && held[lid.raw()] == port)) continue;
        return {fmt::format("{} does not lead LID {} to port {} as the daemon believes", name(node),
                            lid.raw(), p)};
      }
    }
  }
  return {};
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
  for (const std::string& text : untrue_problems()) outcome_.wrong.push_back(text);
  expect_true_picture();
  expect_small_journal();
  world_.watch.settled();
}

/// A state directory of 2 MB must do, and most of that is the log of decisions.
void Storm::expect_small_journal() {
  constexpr std::size_t most = 512 * 1024;
  const std::size_t log = disk_ ? disk_->size(world_.path + "-wal") : 0;
  if (log > most) outcome_.wrong.push_back(fmt::format("the journal's log has {} bytes", log));
}

/// What the daemon believes of the fabric, beside what the simulator knows.
void Storm::expect_true_picture() {
  const auto& survey = world_.daemon->core().usable();
  if (!survey) {
    outcome_.wrong.push_back("the daemon has no picture of the fabric");
    return;
  }
  const Fabric& picture = *survey->fabric;
  for (const Node& node : truth().nodes()) {
    if (picture.find_node(node.guid) == no_node)
      outcome_.wrong.push_back(node.description + " is not in the daemon's picture");
  }
  for (const Link& link : truth().links()) {
    for (const LinkEnd& end : {link.a, link.b}) {
      const PortIndex port = picture.find_port(truth().ref(end));
      const bool active = port != no_port && picture.port(port).link != no_link &&
                          picture.port(port).state == PortState::Active;
      if (!active)
        outcome_.wrong.push_back(fmt::format("{} port {} is not linked and Active in the daemon's picture",
                                             name(end.node), end.port.raw()));
    }
  }
  // A record that sweeps contradict is believed for a minute.
  world_.run([&] { return world_.daemon->regulator().links_off().empty(); }, 120s);
  const auto off = world_.daemon->regulator().links_off();
  if (!off.empty()) outcome_.wrong.push_back(fmt::format("{} links count as off, and none is", off.size()));
}

}  // namespace heddle::swarm
