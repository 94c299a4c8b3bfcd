#include "support/opensm/scripted_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "routing/multicast.h"
#include "routing/packet_life.h"

namespace heddle::test {
namespace {

constexpr FabricClock::duration multicast_look = std::chrono::milliseconds{50};

/// Port 0 leads to the switch itself.
bool leads_somewhere(std::uint8_t port) { return port != 0 && port != no_path.raw(); }

}  // namespace

// --- the channel ---

void ScriptedPlugin::listen(Daemon* daemon) {
  if (daemon_ != nullptr) disconnect();
  daemon_ = daemon;
  connects_at_.reset();
  if (daemon_ != nullptr) connects_at_ = opensm_.now() + retry;
}

/// What happened while nobody listened is in the greeting.
void ScriptedPlugin::connect() {
  connects_at_.reset();
  connected_ = true;
  say(greeting());
}

void ScriptedPlugin::disconnect() {
  connected_ = false;
  lines_.clear();
  unsaid_.clear();
}

void ScriptedPlugin::say(const std::string& line) {
  if (!connected_) return;
  unsaid_.push_back(opensm::parse_plugin_event(std::string_view{line}.substr(0, line.size() - 1)).value());
  say_what_waits();
}

void ScriptedPlugin::say_what_waits() {
  if (manners_.is_dumb) return;
  for (const opensm::PluginEvent& event : std::exchange(unsaid_, {})) {
    for (unsigned i = 0; i < manners_.times; ++i) send([this, event] { daemon_->hear(event); });
  }
}

/// None overtakes another: it is one socket.
void ScriptedPlugin::send(std::function<void()> arrives) {
  const Instant soonest = lines_.empty() ? Instant{} : lines_.back().at;
  lines_.push_back({std::max(opensm_.now() + manners_.latency, soonest), std::move(arrives)});
}

void ScriptedPlugin::tell(opensm::PluginCommand command) {
  if (!connected_) return;
  const auto what =
      command == opensm::PluginCommand::NewPlan ? plugin::Command::NewPlan : plugin::Command::HeavySweep;
  send([this, what] {
    if (!manners_.is_deaf) carry_out(what);
  });
}

std::string ScriptedPlugin::greeting() const {
  return plugin::hello_line({"scripted", "plan.json", opensm_.is_master() ? "master" : "standby", 0, window_},
                            last_);
}

void ScriptedPlugin::carry_out(plugin::Command command) {
  if (!opensm_.is_master()) return;
  if (command == plugin::Command::NewPlan) opensm_.ask_for_reroute();
  if (command == plugin::Command::HeavySweep) opensm_.ask_for_heavy_sweep();
}

void ScriptedPlugin::mastership_changed() {
  if (!opensm_.is_master()) window_ = false;
  say(plugin::state_line(opensm_.is_master() ? "master" : "standby"));
}

std::optional<Instant> ScriptedPlugin::next_deadline() const {
  if (!unsaid_.empty() && !manners_.is_dumb) return opensm_.now();
  std::optional<Instant> first = next_pass_at_;
  for (const auto& at : {connects_at_, groups_at_}) {
    if (at && (!first || *at < *first)) first = at;
  }
  for (const Underway& line : lines_) {
    if (!first || line.at < *first) first = line.at;
  }
  return first;
}

void ScriptedPlugin::on_timer() {
  const Instant now = opensm_.now();
  if (connects_at_ && *connects_at_ <= now) connect();
  say_what_waits();
  while (!lines_.empty() && lines_.front().at <= now) {
    const Underway line = std::move(lines_.front());
    lines_.erase(lines_.begin());
    line.arrives();
  }
  if (groups_at_ && *groups_at_ <= now) look_at_groups();
  if (next_pass_at_ && *next_pass_at_ <= now) {
    // A heavy sweep that begins at this moment forgets that it was asked for.
    next_pass_at_ = now + std::chrono::seconds{5};
    opensm_.ask_for_reroute();
  }
}

void ScriptedPlugin::report(Event event) {
  switch (event) {
    case Event::HeavySweepStart:
      window_ = false;
      return say(plugin::plain_line("heavy_sweep_start"));
    case Event::HeavySweepDone:
      read_tables();
      (void)opensm_.take_blocks_written();
      return say(plugin::plain_line("heavy_sweep_done"));
    case Event::SubnetUp:
      window_ = !opensm_.errors();
      say(plugin::subnet_up_line(!window_, plan_ ? plan_->epoch : 0));
      return subnet_up();
  }
}

// --- unicast ---

void ScriptedPlugin::look_at_plan() {
  const auto text = file_();
  if (std::exchange(looked_, true) && text == seen_) return;
  seen_ = text;
  auto plan = text ? plan::parse(*text, "plan.json") : fail(ErrorCode::NotFound, "no plan.json");
  const bool taken = plan.has_value();
  const std::string message =
      taken ? fmt::format("plan of epoch {}", plan->epoch) : std::string{plan.error().message};
  if (taken) plan_ = *std::move(plan);
  say(plugin::plan_line(plan_ ? plan_->epoch : 0, taken, message));
}

void ScriptedPlugin::read_tables() {
  released_.were_looked_at();
  if (opensm_.first_sweep()) in_force_.forget();
  std::map<NodeGuid, std::vector<std::uint8_t>> read;
  bool any = false;
  for (const NodeGuid guid : opensm_.switches()) {
    if (in_force_.knows(guid)) continue;
    const auto& row = read[guid] = opensm_.read_table(guid);
    any = any || std::ranges::any_of(row, leads_somewhere);
  }
  // Of a fabric that nobody has configured nothing is to be known.
  if (!any && in_force_.empty()) return;
  for (const auto& [guid, row] : read) in_force_.confirm(guid, row, row);
  if (any) packets_gone_ = opensm_.now() + packet_life();
}

std::optional<routing::ForwardingTables> ScriptedPlugin::route() {
  look_at_plan();
  planned::SubnetRecords records = opensm_.records();
  if (opensm_.first_sweep()) hosts_.forget();
  (void)hosts_.recall(records);
  std::vector<LinkRef> absent = cables_.missing(records);
  records.was_up = records.was_up || !in_force_.empty();
  away_.recall(records, absent, plan_ ? &*plan_ : nullptr);
  if (plan_) absent.insert(absent.end(), plan_->off.begin(), plan_->off.end());
  planned::Subnet subnet = planned::make_subnet(std::move(records), absent);
  subnet.released = released_.links();
  auto routes = maker_.make(subnet, plan_ ? &*plan_ : nullptr, opensm_.options().lmc, &in_force_);
  if (!routes) {
    remarks_ = {routes.error().message};
    return std::nullopt;
  }
  routes_ = std::move(*routes);
  usable_ = subnet.usable;
  choose_pass(subnet);
  waiting_ = subnet.waiting;
  remarks_ = subnet.remarks;
  remarks_.insert(remarks_.end(), routes_->remarks.begin(), routes_->remarks.end());
  return pass_.tables;
}

void ScriptedPlugin::choose_pass(const planned::Subnet& subnet) {
  if (opensm_.first_sweep()) stages_.forget();
  in_force_.keep(planned::switches_in_sight(subnet));
  if (in_force_.empty()) {
    pass_ = planned::Pass{};
    pass_.tables = routes_->tables;
    pass_.writes = true;
    return;
  }
  const auto packets = opensm_.now() < packets_gone_ ? planned::Packets::UnderWay : planned::Packets::Gone;
  if (packets == planned::Packets::Gone) in_force_.forget_packets();
  pass_ = maker_.next_pass(subnet, *routes_, in_force_, packets);
}

FabricClock::duration ScriptedPlugin::packet_life() const {
  if (plan_ && plan_->packet_life) return *plan_->packet_life;
  constexpr std::uint8_t value = 18;
  const auto most = *routing::lifetime(value);
  if (!routes_) return most;
  return routing::packet_life(std::span(&value, 1), routes_->tables.switch_count(), most);
}

void ScriptedPlugin::routed(Routing how) {
  plugin::Confirmation done;
  done.reroute = how == Routing::Reroute;
  done.epoch = plan_ ? plan_->epoch : 0;
  done.unconnected = routes_->unconnected;
  done.relaxed = routes_->relaxed || pass_.relaxed;
  done.stages = routes_->stages;
  done.errors = opensm_.errors();
  for (const NodeGuid guid : opensm_.switches()) {
    const ScriptedOpenSm::Table& table = opensm_.table(guid);
    in_force_.confirm(guid, table.has, table.wanted);
    done.switches_behind += table.has == table.wanted ? 0 : 1;
  }
  in_force_.end_pass();
  done.switches_behind = std::max(done.switches_behind, pass_.behind);
  done.staying = pass_.staying;
  done.packet_life = packet_life();
  if (plan_ && done.confirmed()) released_.confirmed(plan_->off);
  plan_next_pass();
  if (manners_.looks_again && second_look_.is_due(done.relaxed, waiting_, time()))
    opensm_.ask_for_heavy_sweep();
  if (how == Routing::Reroute) done.groups = reroute_concerned_groups();
  done.blocks = opensm_.take_blocks_written();
  last_ = done;
  multicast_waits_ = multicast_waits_ || done.groups != 0;
  if (groups_change()) groups_at_ = opensm_.now() + multicast_look;
  say(plugin::routing_line(done));
}

void ScriptedPlugin::plan_next_pass() {
  const Instant now = opensm_.now();
  if (pass_.writes) packets_gone_ = now + packet_life();
  next_pass_at_.reset();
  if (pass_.behind != 0) next_pass_at_ = pass_.writes ? now : packets_gone_;
}

void ScriptedPlugin::subnet_up() {
  if (!opensm_.errors()) stages_.confirm(time(), packet_life());
  if (groups_change()) groups_at_ = opensm_.now() + multicast_look;
  if (std::exchange(waiting_, 0) != 0) opensm_.ask_for_reroute();
}

// --- multicast ---

plugin::GroupStages::Time ScriptedPlugin::time() const {
  using Time = plugin::GroupStages::Time;
  return Time{std::chrono::duration_cast<Time::duration>(opensm_.now().time_since_epoch())};
}

routing::SwitchIndex ScriptedPlugin::switch_of(NodeGuid guid) const {
  const NodeIndex node = routes_->fabric->find_node(guid);
  return node == no_node ? routing::no_switch : maker_.router().graph().find(node);
}

plugin::GroupStages::Leads ScriptedPlugin::where_leads(const PortRef& ref) const {
  if (!opensm_.is_in_sight(ref.node)) return plugin::GroupStages::Leads::Unknown;
  return plugin::GroupStages::where_leads(ref, *routes_->fabric, usable_);
}

std::set<PortRef> ScriptedPlugin::tree(Lid group, const std::set<PortIndex>& members) {
  trees_.erase(group);
  if (!routes_) return {};
  const Fabric& truth = opensm_.fabric().description();
  std::vector<routing::MulticastMember> list;
  std::size_t lost = 0;
  for (const PortIndex member : members) {
    const Port& own = truth.port(member);
    const auto at = truth.peer({own.node, own.num});
    const bool sees = opensm_.is_in_sight(truth.node(own.node).guid);
    const auto s = sees && at ? switch_of(truth.node(at->node).guid) : routing::no_switch;
    if (s == routing::no_switch) {
      ++lost;
    } else {
      list.push_back({s, at->port});
    }
  }
  std::set<PortRef> wanted;
  const routing::SwitchGraph& graph = maker_.router().graph();
  if (list.size() + lost >= 2) {
    const auto grown =
        routing::grow_tree(graph, maker_.router().ranks(), routes_->permitted, list, group.raw());
    for (const auto& port : grown.ports) wanted.insert({graph.guid(port.sw), port.port});
    plugin::KeptTree& kept = trees_[group];
    for (const LinkIndex link : grown.links)
      kept.links.push_back(link_ref(*routes_->fabric, routes_->fabric->link(link)));
    kept.whole = lost + grown.unreached == 0 && grown.in_order;
  }
  groups_at_ = opensm_.now() + multicast_look;
  return stages_.next(
      group.raw(), std::move(wanted), [this](const PortRef& port) { return where_leads(port); }, time());
}

std::size_t ScriptedPlugin::reroute_concerned_groups() {
  for (const auto& [group, tree] : trees_) {
    if (still_good(tree, *routes_)) continue;
    pending_.insert(group);
    opensm_.ask_for_group(group);
  }
  return pending_.size();
}

bool ScriptedPlugin::is_quiet() const { return opensm_.idle(); }

/// As the channel's thread does it, again and again while groups change.
void ScriptedPlugin::look_at_groups() {
  groups_at_ = opensm_.now() + multicast_look;
  if (!is_quiet()) return;
  if (!opensm_.errors()) stages_.confirm(time(), packet_life());
  for (const auto group : stages_.due_by(time())) {
    opensm_.ask_for_group(Lid{group});
    stages_.asked_for(group);
  }
  // After errors OpenSM sweeps again by itself, and every group has its turn then.
  std::erase_if(pending_, [this](Lid group) { return opensm_.errors() || stages_.settled(group.raw()); });
  if (multicast_waits_ && pending_.empty()) {
    multicast_waits_ = false;
    say(plugin::multicast_line(last_.epoch, opensm_.errors()));
  }
  if (!groups_change()) groups_at_.reset();
}

}  // namespace heddle::test
