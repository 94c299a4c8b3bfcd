// Storms with calms, and faults that come in the very moments in which they once did harm.

#include <algorithm>
#include <utility>

#include "mad/attributes.h"
#include "mad/header.h"
#include "swarm/storm.h"

namespace heddle::swarm {
namespace {

using namespace std::chrono_literals;
using Way = test::RegulatedWorld::Way;

bool is(const mad::Packet& packet, mad::Method method, mad::SmAttr attribute) {
  const mad::Header header = mad::read_header(packet.mad);
  return mad::is_smp(header) && header.method == method && mad::SmAttr{header.attribute} == attribute;
}

/// Set(PortInfo) that is to have a port in this state.
bool sets(const mad::Packet& packet, PortState state) {
  return is(packet, mad::Method::Set, mad::SmAttr::PortInfo) &&
         mad::decode<mad::PortInfo>(mad::smp_data(packet.mad)).state == state;
}

}  // namespace

/// What goes wrong from here on may be the fault's. Where there are calms, only of cables and switches.
void Storm::excuse() {
  if (!plan_.calms || plan_.lossy) world_.watch.fault();
}

void Storm::mend_all() {
  while (!cut_.empty()) mend(cut_.back());
  while (!dead_.empty()) revive(dead_.back());
}

Storm::Act Storm::calm() {
  return [](Storm& storm) { storm.come_to_rest(); };
}

/// All that is broken is mended. Status, records and tables are true then, as at the end, and whatever was
/// broken before excuses nothing that comes.
void Storm::come_to_rest() {
  if (other_ || !world_.daemon || world_.daemon->core().authority().yields()) return;
  const Instant began = world_.now;
  world_.fate.on_moment = nullptr;
  if (disk_) disk_->set_manners({0, plan_.lying});
  set_disk(false, 0ms);
  world_.options.plugin = {};
  if (odd_ != no_node) end_odd_agent();
  mend_all();
  // Who comes back is unknown until a sweep meets it; and OpenSM has its own pace.
  if (world_.opensm) world_.run_for(5s);
  if (!world_.run([&] { return is_up(); }, 60s) && world_.daemon)
    outcome_.wrong.push_back("at rest in mid-storm: links that nobody took away are not Active");
  // What waits for packets is written then.
  world_.run_for(500ms + plan_.world.governor.packet_life);
  if (!world_.daemon) return;
  expect_true_status("at rest in mid-storm");
  // A Set that enables a link and comes late takes it down once more.
  if (plan_.is_judged() && !plan_.lossy) world_.watch.settled();
  rested_ += world_.now - began;
}

/// Every link that no Set took away is Active, and the daemon has nothing to do.
bool Storm::is_up() const {
  if (!world_.daemon->quiet()) return false;
  return std::ranges::all_of(truth().links(), [&](const Link& link) {
    const auto& a = world_.fabric.port_info(truth().port_index(link.a));
    const auto& b = world_.fabric.port_info(truth().port_index(link.b));
    const bool off = a.physical == PhysState::Disabled || b.physical == PhysState::Disabled;
    return off || (a.state == PortState::Active && b.state == PortState::Active);
  });
}

/// Until the daemon sends or gets such a MAD: that happens within a second, or not at all.
bool Storm::wait_for(Seen seen) {
  came_ = false;
  awaited_ = std::move(seen);
  world_.run([&] { return came_; }, 1s);
  awaited_ = nullptr;
  return came_ && world_.daemon && !world_.fate.dead;
}

void Storm::note_state(const mad::Packet& packet) {
  if (!is(packet, mad::Method::GetResp, mad::SmAttr::PortInfo)) return;
  const NodeIndex node = node_of(packet);
  const std::uint32_t number = mad::read_header(packet.mad).modifier & 0xffU;
  if (node == no_node || number > truth().node(node).port_count) return;
  const PortIndex port = truth().port_index(node, PortNum{static_cast<std::uint8_t>(number)});
  if (mad::decode<mad::PortInfo>(mad::smp_data(packet.mad)).state == PortState::Active) {
    told_.erase(port);
  } else {
    told_.emplace(port, world_.now);
  }
}

/// By one of the two ends, and before what is written now was sent.
bool Storm::is_told_of(PortIndex port) const {
  const auto told = [&](PortIndex end) {
    const auto since = told_.find(end);
    return since != told_.end() && world_.now - since->second > (plan_.lossy ? 300ms : 10ms);
  };
  const Port& near = truth().port(port);
  const auto far = truth().peer({near.node, near.num});
  return told(port) || (far && told(truth().port_index(*far)));
}

/// Where a directed route from the daemon ends.
NodeIndex Storm::node_of(const mad::Packet& packet) const {
  NodeIndex at = truth().port(world_.port).node;
  if (mad::read_header(packet.mad).mgmt_class != mad::MgmtClass::SubnDirected) return no_node;
  const mad::DirectedRoute route = mad::read_directed_route(packet.mad);
  for (unsigned hop = 1; hop <= route.hop_count; ++hop) {
    const auto peer = truth().peer({at, route.initial_path[hop]});
    if (!peer) return no_node;
    at = peer->node;
  }
  return at;
}

Storm::Act Storm::aim() {
  const std::vector<Act (Storm::*)()> all{&Storm::aim_between_two_reads, &Storm::aim_at_raising,
                                          &Storm::aim_at_stages, &Storm::aim_at_new_topology,
                                          &Storm::aim_at_agents};
  return cables_.empty() || switches_.empty() ? Act{[](Storm&) {}} : (this->*dice_.one_of(all))();
}

/// A daemon that has just started has read one end of a cable, which bounces before it reads the other.
Storm::Act Storm::aim_between_two_reads() {
  const LinkIndex link = dice_.one_of(cables_);
  const bool near = dice_.chance(0.5);
  return [link, near](Storm& storm) {
    const LinkEnd end = near ? storm.truth().link(link).a : storm.truth().link(link).b;
    storm.kill_now();
    storm.start_again(1ms);
    const bool came = storm.wait_for([&storm, end](Way way, const mad::Packet& packet) {
      return way == Way::Received && is(packet, mad::Method::GetResp, mad::SmAttr::PortInfo) &&
             (mad::read_header(packet.mad).modifier & 0xffU) == end.port.raw() &&
             storm.node_of(packet) == end.node;
    });
    if (!came) return;
    storm.cut(link);
    storm.world_.run_for(1us);
    storm.mend(link);
  };
}

/// A switch is silent while links are raised, or the daemon dies then. Not between Armed and Active: an Armed
/// port becomes Active when data comes in, and one of the simulator does not.
Storm::Act Storm::aim_at_raising() {
  const LinkIndex link = dice_.one_of(cables_);
  const bool dies = dice_.chance(0.4);
  return [link, dies](Storm& storm) {
    storm.cut(link);
    storm.pass(700ms);
    storm.mend(link);
    NodeIndex node = no_node;
    const bool came = storm.wait_for([&](Way way, const mad::Packet& packet) {
      if (way != Way::Sent || !sets(packet, PortState::Armed)) return false;
      node = storm.node_of(packet);
      return node != no_node && storm.is_switch(node);
    });
    if (!came || storm.odd_ != no_node) return;
    if (dies) {
      storm.kill_now();
      return storm.start_again(1ms);
    }
    storm.odd_ = node;
    storm.world_.fabric.set_agent_faults(node, {.mute_sma = true});
    storm.pass(300ms);
    storm.end_odd_agent();
  };
}

/// A cable is cut while a change is under way in stages, and a sweep finds it down when the next stage is
/// due: one that takes its time, since a switch is silent.
Storm::Act Storm::aim_at_stages() {
  const Act ordered = order();
  const LinkIndex link = dice_.one_of(cables_);
  const NodeIndex slow = dice_.one_of(switches_);
  const auto life = std::chrono::duration_cast<std::chrono::milliseconds>(plan_.world.governor.packet_life);
  return [ordered, link, slow, life](Storm& storm) {
    ordered(storm);
    const bool came = storm.wait_for([](Way way, const mad::Packet& packet) {
      return way == Way::Sent && is(packet, mad::Method::Set, mad::SmAttr::LinearForwardingTable);
    });
    if (!came || storm.odd_ != no_node) return;
    storm.world_.run_for(std::max(life - 2ms, 0ms));
    if (!storm.world_.daemon) return;
    storm.odd_ = slow;
    storm.world_.fabric.set_agent_faults(slow, {.mute_sma = true});
    storm.cut(link);
    const Link& cable = storm.truth().link(link);
    std::vector<NodeGuid> asked;
    for (const NodeIndex node : {cable.a.node, cable.b.node, slow})
      asked.push_back(storm.truth().node(node).guid);
    storm.world_.daemon->look_at(asked);
    storm.pass(300ms);
    if (storm.odd_ == slow) storm.end_odd_agent();
    storm.pass(300ms);
    storm.mend(link);
  };
}

/// A cable that the daemon has never seen comes together with what was gone.
Storm::Act Storm::aim_at_new_topology() {
  const LinkIndex unseen = dice_.one_of(cables_);
  const LinkIndex other = dice_.one_of(cables_);
  const NodeIndex gone = dice_.one_of(switches_);
  const bool dies = dice_.chance(0.5);
  return [unseen, other, gone, dies](Storm& storm) {
    storm.mend_all();
    storm.cut(unseen);
    if (storm.cut_.empty()) return;
    storm.kill_now();
    storm.start_again(1ms);
    storm.pass(2s);
    if (dies) {
      storm.dead_.push_back(gone);
      storm.say("kill", {gone, PortNum{0}});
      storm.world_.watch.kill(gone, storm.world_.ps());
    } else if (other != unseen) {
      storm.cut_.push_back(other);
      storm.say("cut", storm.truth().link(other).a);
      storm.world_.watch.cut(other, storm.world_.ps());
    }
    storm.pass(1s);
    storm.mend_all();
    storm.pass(2s);
  };
}

/// A switch is silent for as long as some sweeps take, and goes on forwarding.
Storm::Act Storm::aim_at_agents() {
  const NodeIndex node = dice_.one_of(switches_);
  return [node](Storm& storm) {
    if (storm.odd_ != no_node) return;
    storm.odd_ = node;
    storm.world_.fabric.set_agent_faults(node, {.mute_sma = true});
    const Instant end = storm.world_.now + 1200ms;
    if (storm.world_.daemon) storm.world_.daemon->look_at({storm.truth().node(node).guid});
    storm.pass(end - storm.world_.now);
    if (storm.odd_ == node) storm.end_odd_agent();
  };
}

}  // namespace heddle::swarm
