#include "support/opensm/scripted_opensm.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "mad/header.h"

namespace heddle::test {
namespace {

using Routing = RoutingEngine::Routing;
using Event = RoutingEngine::Event;

/// As subn.opt.packet_life_time.
constexpr std::uint8_t life_time = 18;
constexpr std::uint16_t link_state_change = 128;

Picoseconds picoseconds(Instant at) { return Picoseconds{at.time_since_epoch()}; }

}  // namespace

ScriptedOpenSm::ScriptedOpenSm(sim::SimulatedFabric& fabric, PortIndex at,
                               const ScriptedOpenSmOptions& options, std::function<Instant()> now)
    : fabric_{fabric},
      description_{fabric.description()},
      at_{at},
      options_{options},
      now_{std::move(now)},
      client_{*fabric.attach(at, [this](const mad::Packet& packet, Picoseconds) { hear(packet); })},
      random_{options.seed},
      light_at_{now_() + options.sweep_interval} {
  (void)fabric_.set_is_sm(client_, sim::IsSm::Yes, picoseconds(now_()));
}

ScriptedOpenSm::~ScriptedOpenSm() { fabric_.detach(client_); }

// --- what is due ---

void ScriptedOpenSm::after(FabricClock::duration delay, std::function<void()> what) {
  due_.emplace(now_() + delay, std::move(what));
}

std::optional<Instant> ScriptedOpenSm::next_deadline() const {
  Instant first = light_at_;
  if (!due_.empty()) first = std::min(first, due_.begin()->first);
  if (const auto at = engine_->next_deadline()) first = std::min(first, *at);
  return first;
}

void ScriptedOpenSm::on_timer() {
  while (!due_.empty() && due_.begin()->first <= now_()) {
    const auto what = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    what();
  }
  if (const auto at = engine_->next_deadline(); at && *at <= now_()) engine_->on_timer();
  if (light_at_ <= now_()) light_sweep();
}

bool ScriptedOpenSm::quiet() const { return idle() && !heavy_wanted_ && !reroute_wanted_ && !errors_; }

void ScriptedOpenSm::ask_for_heavy_sweep() {
  heavy_wanted_ = true;
  after({}, [this] { next(); });
}

void ScriptedOpenSm::ask_for_reroute() {
  reroute_wanted_ = true;
  after({}, [this] { next(); });
}

void ScriptedOpenSm::ask_for_group(Lid group) {
  groups_asked_.insert(group);
  after({}, [this] { next(); });
}

void ScriptedOpenSm::set_members(Lid group, std::set<PortIndex> members) {
  groups_[group] = std::move(members);
  ask_for_group(group);
}

void ScriptedOpenSm::stand_by() {
  master_ = false;
  heavy_wanted_ = reroute_wanted_ = false;
  groups_asked_.clear();
  engine_->mastership_changed();
}

void ScriptedOpenSm::become_master() {
  master_ = first_sweep_ = true;
  tables_.clear();
  tops_.clear();
  group_tables_there_.clear();
  engine_->mastership_changed();
  ask_for_heavy_sweep();
}

void ScriptedOpenSm::next() {
  if (busy_ || !master_) return;
  if (heavy_wanted_) return heavy_sweep();
  if (reroute_wanted_) {
    reroute_wanted_ = false;
    busy_ = true;
    return route(Routing::Reroute);
  }
  if (groups_asked_.empty()) return;
  busy_ = true;
  const std::vector<Lid> groups(groups_asked_.begin(), groups_asked_.end());
  groups_asked_.clear();
  write_groups(groups, [this] { done(); });
}

void ScriptedOpenSm::done() {
  busy_ = false;
  next();
}

// --- sweeps ---

void ScriptedOpenSm::light_sweep() {
  light_at_ = now_() + options_.sweep_interval;
  if (busy_ || !master_) return;
  const bool changed = std::ranges::any_of(ways_, [this](const auto& each) {
    if (!is_switch(each.first)) return false;
    if (!answers(each.first)) return true;
    mad::Bytes smp{};
    mad::Header header;
    header.attribute = static_cast<std::uint16_t>(mad::SmAttr::SwitchInfo);
    mad::write_header(header, smp);
    const PortIndex port0 = description_.node(each.first).first_port;
    return fabric_.ask(port0, smp, picoseconds(now_())) &&
           mad::decode<mad::SwitchInfo>(mad::smp_data(smp)).port_state_change;
  });
  if (changed || errors_) ask_for_heavy_sweep();
}

/// One that was asked for before it begins is this one; so is a reroute.
void ScriptedOpenSm::heavy_sweep() {
  heavy_wanted_ = reroute_wanted_ = false;
  busy_ = true;
  errors_ = false;
  ++heavy_sweeps_;
  engine_->report(Event::HeavySweepStart);
  after(options_.step, [this] { discovered(); });
}

void ScriptedOpenSm::discovered() {
  look_around();
  for (const auto& [node, way] : ways_) {
    if (is_switch(node)) write_switch_info(node, true);
  }
  engine_->report(Event::HeavySweepDone);
  after(options_.step, [this] { give_lids(); });
}

void ScriptedOpenSm::look_around() {
  ways_.clear();
  ports_.clear();
  std::deque<NodeIndex> queue{description_.port(at_).node};
  ways_[queue.front()] = {};
  while (!queue.empty()) {
    const NodeIndex node = queue.front();
    queue.pop_front();
    const Node& record = description_.node(node);
    const bool sw = is_switch(node);
    for (unsigned p = 0; p <= record.port_count; ++p) {
      const PortIndex port{record.first_port.raw() + p};
      if (!sw && (p == 0 || (node != description_.port(at_).node && description_.port(port).link == no_link)))
        continue;
      ports_[port] = fabric_.port_info(port);
      if (p == 0 || (!sw && port != at_) || ports_[port].physical != PhysState::LinkUp) continue;
      const auto peer = description_.peer({node, PortNum{static_cast<std::uint8_t>(p)}});
      if (!peer || ways_.contains(peer->node) || !fabric_.alive(peer->node)) continue;
      ways_[peer->node] = ways_[node];
      ways_[peer->node].push_back(port);
      queue.push_back(peer->node);
    }
  }
  // Who is out of sight is forgotten, with all that was written there.
  const auto gone = [this](const auto& each) { return !is_in_sight(each.first); };
  std::erase_if(tables_, gone);
  std::erase_if(tops_, gone);
  std::erase_if(group_tables_there_, [this](const auto& each) { return !ways_.contains(each.first); });
  for (const NodeGuid guid : switches()) tables_[guid];
}

void ScriptedOpenSm::give_lids() {
  const auto is_end = [this](const auto& each) {
    const Port& port = description_.port(each.first);
    return is_switch(port.node) ? port.num == PortNum{0} : each.second.physical == PhysState::LinkUp;
  };
  for (const auto& each : ports_) {
    if (!is_end(each) || lids_.contains(each.first)) continue;
    const unsigned count = is_switch(description_.port(each.first).node) ? 1U : 1U << options_.lmc;
    next_lid_ = (next_lid_ + count - 1) / count * count;
    lids_[each.first] = Lid{static_cast<std::uint16_t>(next_lid_)};
    next_lid_ += count;
  }
  std::vector<Request> requests;
  for (const auto& each : ports_) {
    const auto& [port, info] = each;
    if (!is_end(each) || (info.lid == lids_[port] && info.master_sm_lid == lids_[at_])) continue;
    requests.emplace_back([this, port = port] { return set_port(port, PortState::NoChange); });
  }
  send(std::move(requests), [this] { route(Routing::Sweep); });
}

// --- states of ports ---

/// Of those that it takes for Init, all; then those that it takes for Armed.
void ScriptedOpenSm::raise(PortState to) {
  std::vector<Request> requests;
  const PortState before = to == PortState::Armed ? PortState::Init : PortState::Armed;
  for (const auto& [port, info] : ports_) {
    if (info.physical != PhysState::LinkUp || info.state != before) continue;
    requests.emplace_back([this, port = port, to] {
      // A link that is down again takes it for a wrong field, which is no error of the subnet's.
      return set_port(port, to);
    });
  }
  send(std::move(requests), [this, to] { to == PortState::Armed ? raise(PortState::Active) : subnet_up(); });
}

void ScriptedOpenSm::subnet_up() {
  first_sweep_ = false;
  engine_->report(Event::SubnetUp);
  done();
}

// --- MADs ---

void ScriptedOpenSm::send(std::vector<Request> requests, std::function<void()> then) {
  auto open = std::make_shared<std::size_t>(requests.size());
  if (requests.empty()) return after({}, std::move(then));
  const auto answered = [this, open, then = std::move(then)](bool was) {
    if (!was) errors_ = true;
    if (--*open == 0) then();
  };
  for (Request& request : requests) {
    const FabricClock::duration delay{random_.below(static_cast<std::uint64_t>(options_.step.count()))};
    after(delay, [this, request = std::move(request), answered] {
      if (request()) return answered(true);
      after(options_.patience, [answered] { answered(false); });
    });
  }
}

/// By the way on which it was found.
bool ScriptedOpenSm::answers(NodeIndex node) const {
  const auto way = ways_.find(node);
  if (way == ways_.end() || !fabric_.alive(node)) return false;
  return std::ranges::all_of(way->second, [this](PortIndex port) {
    const Port& out = description_.port(port);
    const auto peer = description_.peer({out.node, out.num});
    return fabric_.alive(out.node) && fabric_.port_info(port).physical == PhysState::LinkUp && peer;
  });
}

bool ScriptedOpenSm::is_switch(NodeIndex node) const {
  return description_.node(node).type == NodeType::Switch;
}

PortIndex ScriptedOpenSm::agent_of(PortIndex port) const {
  const NodeIndex node = description_.port(port).node;
  return is_switch(node) ? description_.node(node).first_port : port;
}

bool ScriptedOpenSm::set(NodeIndex node, PortIndex agent, mad::SmAttr attribute, std::uint32_t modifier,
                         mad::Bytes& smp) {
  if (!answers(node)) return false;
  mad::Header header;
  header.method = mad::Method::Set;
  header.attribute = static_cast<std::uint16_t>(attribute);
  header.modifier = modifier;
  mad::write_header(header, smp);
  return fabric_.ask(agent, smp, picoseconds(now_()));
}

bool ScriptedOpenSm::set_port(PortIndex port, PortState state) {
  const NodeIndex node = description_.port(port).node;
  mad::PortInfo info = fabric_.port_info(port);
  info.state = state;
  info.physical = PhysState::NoChange;
  if (const auto lid = lids_.find(port); lid != lids_.end()) {
    info.lid = lid->second;
    info.lmc = is_switch(node) ? std::uint8_t{0} : static_cast<std::uint8_t>(options_.lmc);
    info.master_sm_lid = lids_[at_];
  }
  info.link_width_enabled = 0;
  info.link_speed_enabled = 0;
  mad::Bytes smp{};
  mad::encode(info, mad::smp_data(smp));
  if (!set(node, agent_of(port), mad::SmAttr::PortInfo, description_.port(port).num.raw(), smp)) return false;
  ports_[port] = fabric_.port_info(port);  // as it answers
  return true;
}

void ScriptedOpenSm::write_switch_info(NodeIndex node, bool clears) {
  const NodeGuid guid = description_.node(node).guid;
  const auto top = static_cast<std::uint16_t>(next_lid_ - 1);
  if (!clears && tops_[guid] == top) return;
  mad::SwitchInfo info;
  info.linear_fdb_top = clears ? tops_[guid] : top;
  info.life_time = life_time;
  info.port_state_change = clears;
  mad::Bytes smp{};
  mad::encode(info, mad::smp_data(smp));
  const bool done = set(node, description_.node(node).first_port, mad::SmAttr::SwitchInfo, 0, smp);
  if (done && !clears) tops_[guid] = top;
  errors_ = errors_ || !done;
}

void ScriptedOpenSm::hear(const mad::Packet& packet) {
  mad::Header header = mad::read_header(packet.mad);
  mad::Packet answer = packet;
  std::swap(answer.address.dlid, answer.address.slid);
  if (header.method == mad::Method::Trap) {
    header.method = mad::Method::TrapRepress;
    mad::write_header(header, answer.mad);
    fabric_.send(picoseconds(now_()), client_, answer);
    if (mad::decode<mad::Notice>(mad::smp_data(packet.mad)).trap == link_state_change) ask_for_heavy_sweep();
    return;
  }
  const bool asks_who = header.attribute == static_cast<std::uint16_t>(mad::SmAttr::SmInfo);
  if (header.method != mad::Method::Get || !asks_who) return;
  header.method = mad::Method::GetResp;
  mad::write_header(header, answer.mad);
  mad::SmInfo info;
  info.guid = fabric_.port_guid(at_);
  info.state = master_ ? mad::SmInfo::State::Master : mad::SmInfo::State::Standby;
  mad::encode(info, mad::smp_data(answer.mad));
  fabric_.send(picoseconds(now_()), client_, answer);
}

// --- its structures ---

std::vector<NodeGuid> ScriptedOpenSm::switches() const {
  std::vector<NodeGuid> all;
  for (const auto& [node, way] : ways_) {
    if (is_switch(node)) all.push_back(description_.node(node).guid);
  }
  return all;
}

bool ScriptedOpenSm::has_tables() const {
  return std::ranges::all_of(tables_, [](const auto& each) {
    return std::ranges::any_of(each.second.has, [](std::uint8_t port) { return port != no_path.raw(); });
  });
}

bool ScriptedOpenSm::is_in_sight(NodeGuid guid) const {
  const NodeIndex node = description_.find_node(guid);
  return node != no_node && ways_.contains(node);
}

planned::SubnetRecords ScriptedOpenSm::records() const {
  planned::SubnetRecords records;
  records.manager = description_.ref(at_);
  for (const auto& [node, way] : ways_) records.nodes.push_back(description_.node(node));
  const auto known = [this](PortIndex port) {
    const auto found = ports_.find(port);
    return found == ports_.end() ? nullptr : &found->second;
  };
  for (const auto& [port, info] : ports_) {
    const PortRef ref = description_.ref(port);
    if (info.lid != no_lid && lids_.contains(port)) {
      records.lids.push_back({ref, fabric_.port_guid(port), info.lid, info.lmc});
    }
    const Port& own = description_.port(port);
    const auto peer = description_.peer({own.node, own.num});
    if (!peer || info.physical != PhysState::LinkUp) continue;
    const PortIndex other = description_.port_index(*peer);
    const mad::PortInfo* const far = ways_.contains(peer->node) ? known(other) : nullptr;
    const bool active = info.state == PortState::Active;
    if (far == nullptr && is_switch(own.node) && active) records.open.push_back(ref);
    const PortRef far_ref = description_.ref(other);
    if (far == nullptr || !(ref < far_ref)) continue;
    records.cables.push_back({{ref, far_ref},
                              active && far->state == PortState::Active,
                              is_switch(own.node) && is_switch(peer->node)});
  }
  return records;
}

}  // namespace heddle::test
