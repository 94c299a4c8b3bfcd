/// A fabric without MADs for the governor's tests: carries its orders out as links and link sets, gives it
/// samples of traffic that follows the tables in force, and checks at every action what must hold at every
/// instant. Steps can be made to fail, by number, with or without having taken effect.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "fabric/generators.h"
#include "regulation/governor.h"
#include "routing/quality.h"
#include "unit/regulation/first_switch.h"

namespace heddle::regulation::testing_support {

using std::chrono::seconds;

enum class Answering : std::uint8_t { Done, Failed, TimedOut };
enum class Effect : std::uint8_t { Taken, None };

class World {
 public:
  explicit World(const std::string& spec, const GovernorOptions& given = default_options())
      : World(*assign_lids(**generate(spec), 1), given) {}

  explicit World(std::shared_ptr<const Fabric> made, const GovernorOptions& given = default_options())
      : fabric{std::move(made)}, options{given}, governor{given} {
    NetworkOptions network_options;
    network_options.planes = 2;
    network_options.roots = {first_switch(*fabric)};
    network_options.managers = {manager()};
    network = *Network::make(fabric, network_options);
    up = routing::LinkSet::all(*fabric);
    for (auto& set : tables) set = up;
    for (const Link& link : fabric->links()) modes.push_back(power::mode_of(link));
    enforce_rules = true;
  }

  static GovernorOptions default_options() {
    GovernorOptions result;
    result.mode = Mode::Enforce;
    result.quiet = seconds{60};
    result.least_on = seconds{60};
    result.least_off = seconds{30};
    result.drain = seconds{2};
    result.wake = seconds{2};
    result.plan_every = seconds{10};
    result.queue_looks = 0;
    return result;
  }

  void start() { tell(TopologyChanged{fabric, {manager()}, network->ranks_by_guid()}); }

  /// One event, and whatever follows from it without time passing.
  template <class What>
  void tell(What what) {
    if (crashed) return;
    perform(governor.on({now, std::move(what)}));
    answer_all();
  }

  /// A sample every 10 s, ticks when they are due.
  void run(seconds time) {
    const Instant end = now + time;
    while (now < end && !crashed) {
      Instant next = std::min(end, next_sample);
      if (const auto due = governor.next_deadline(); due && *due < next) next = std::max(now, *due);
      now = next;
      tell(Tick{});
      if (now >= next_sample) {
        next_sample = now + seconds{10};
        tell(LoadsMeasured{sample()});
      }
    }
  }

  [[nodiscard]] std::shared_ptr<const load::Sample> sample() {
    auto sample = std::make_shared<load::Sample>();
    sample->fabric = fabric;
    sample->began = now;
    sample->ports.resize(fabric->ports().size());
    const auto loads =
        predicted_loads(*network, network->tables(tables[plane], plane), traffic_of(*network, flows), plane);
    // Who is offered more than the link carries waits.
    const auto set = [&](LinkEnd end, double bits) {
      load::PortSample& port = sample->ports[fabric->port_index(end).raw()];
      const double most = network->capacity(LinkIndex{0});
      port.xmit_bytes_per_second = static_cast<float>(std::min(bits, most) / 8);
      port.congestion = static_cast<float>(bits > most ? 1 - most / bits : 0);
      port.status = load::PortStatus::Fresh;
    };
    for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
      const LinkIndex link{i};
      if (network->trunk_of(link) == Network::no_trunk) continue;
      const Link& cable = fabric->link(link);
      const Trunk& trunk = network->trunks()[network->trunk_of(link)];
      const bool a_is_lower = network->graph().find(cable.a.node) == trunk.lower;
      set(a_is_lower ? cable.a : cable.b, loads[network->up_hop(link)]);
      set(a_is_lower ? cable.b : cable.a, loads[network->down_hop(link)]);
    }
    const auto hosts = routing::host_targets(network->graph());
    std::vector<double> sent(hosts.size(), 0);
    std::vector<double> received(hosts.size(), 0);
    for (const HostFlow& flow : flows) {
      sent[flow.from] += flow.rate;
      received[flow.to] += flow.rate;
    }
    for (std::size_t h = 0; h < hosts.size(); ++h) {
      const auto& target = network->graph().targets()[hosts[h]];
      const Port& port = fabric->port(target.port);
      set(LinkEnd{port.node, port.num}, sent[h]);
      set(LinkEnd{network->graph().node(target.at), target.out}, received[h]);
    }
    return sample;
  }

  /// Every host sends to the `shift`th after it, this share of a link.
  void shift_traffic(std::uint32_t shift, double share) {
    flows.clear();
    const auto hosts = static_cast<std::uint32_t>(network->graph().host_count());
    for (std::uint32_t h = 0; h < hosts; ++h)
      flows.push_back({h, (h + shift) % hosts, share * network->capacity(LinkIndex{0})});
  }

  [[nodiscard]] Lid manager() const {
    for (const Port& port : fabric->ports()) {
      if (fabric->node(port.node).type == NodeType::ChannelAdapter && port.lid != no_lid) return port.lid;
    }
    return no_lid;
  }
  [[nodiscard]] std::size_t count(LinkState state) const {
    std::size_t n = 0;
    for (const LinkStatus& link : governor.links()) n += link.state == state ? 1 : 0;
    return n;
  }
  [[nodiscard]] std::size_t off() const { return fabric->links().size() - up.count(); }
  [[nodiscard]] LinkRef ref(LinkIndex link) const { return link_ref(*fabric, fabric->link(link)); }
  [[nodiscard]] std::vector<LinkRef> down_links() const {
    std::vector<LinkRef> result;
    for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
      if (!up.contains(LinkIndex{i})) result.push_back(ref(LinkIndex{i}));
    }
    return result;
  }
  [[nodiscard]] bool reported(ReportKind kind) const {
    for (const Report& report : reports) {
      if (report.kind == kind) return true;
    }
    return false;
  }

  /// The link breaks by itself.
  void break_link(LinkIndex link) {
    up.erase(link);
    broken.insert(link.raw());
    tell(LinkLost{ref(link)});
  }

  /// The daemon was killed, and comes again: only the journal and the fabric are left.
  void restart() {
    crashed = false;
    crash_at.reset();
    outstanding.clear();
    governor = Governor{options};
    now += seconds{5};
    tell(TopologyChanged{fabric, {manager()}, network->ranks_by_guid()});
    tell(Restarted{journal, down_links()});
  }

  /// Everything that must be so when nothing is under way.
  void expect_settled() {
    for (int i = 0; i < 120 && governor.stage() != Stage::Idle; ++i) run(seconds{1});
    EXPECT_EQ(governor.stage(), Stage::Idle);
    EXPECT_TRUE(outstanding.empty());
    EXPECT_EQ(journal, governor.memory());
    EXPECT_TRUE(journal.open.empty());
    EXPECT_EQ(tables[0], tables[1]);
    for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
      const LinkIndex link{i};
      const bool off_on_purpose = journal.off.contains(ref(link)) && !journal.off.at(ref(link)).mode.on();
      if (broken.contains(i)) continue;
      EXPECT_EQ(up.contains(link), !off_on_purpose) << "link " << i;
      EXPECT_EQ(tables[0].contains(link), up.contains(link)) << "link " << i;
    }
  }

  std::shared_ptr<const Fabric> fabric;
  GovernorOptions options;
  Governor governor;
  std::unique_ptr<Network> network;
  Instant now{};
  Instant next_sample{};
  std::vector<HostFlow> flows;

  routing::LinkSet up;
  std::vector<power::LinkMode> modes;
  routing::LinkSet tables[2];
  unsigned plane = 0;
  Memory journal;
  std::vector<Report> reports;
  std::vector<Answer> answers;
  std::set<std::uint32_t> broken;
  std::size_t transitions = 0;
  bool enforce_rules = true;

  /// Numbers of steps that do not succeed, and how.
  std::size_t steps = 0;
  std::function<std::pair<Answering, Effect>(std::size_t step)> fate;
  /// Actions carried out before the daemon is killed.
  std::size_t actions = 0;
  std::optional<std::size_t> crash_at;
  bool crashed = false;
  /// Links into which packets wait.
  std::function<bool(const LinkRef&)> waits = [](const LinkRef&) { return false; };
  std::vector<std::vector<LinkRef>> looked_at;
  /// Steps wait until answer_all() when set.
  bool hold = false;
  std::deque<Action> outstanding;

  void answer_all() {
    while (!outstanding.empty() && !hold && !crashed) {
      const Action action = outstanding.front();
      outstanding.pop_front();
      perform(governor.on({now, settle(action)}));
    }
  }

  void answer_one() {
    if (outstanding.empty()) return;
    const Action action = outstanding.front();
    outstanding.pop_front();
    perform(governor.on({now, settle(action)}));
  }
  /// What had been ordered when the daemon was killed.
  void carry_out_outstanding() {
    for (const Action& action : outstanding) carry_out(action);
    outstanding.clear();
  }

 private:
  void perform(const std::vector<Action>& list) {
    for (const Action& action : list) {
      if (crash_at && actions >= *crash_at) {
        crashed = true;
        return;
      }
      ++actions;
      take(action);
      check();
    }
  }

  void take(const Action& action) {
    if (const auto* record = std::get_if<Record>(&action)) {
      regulation::apply(journal, *record);
    } else if (const auto* report = std::get_if<Report>(&action)) {
      EXPECT_FALSE(report->reason.empty());
      reports.push_back(*report);
    } else if (const auto* answer = std::get_if<Answer>(&action)) {
      answers.push_back(*answer);
    } else if (const auto* cancel = std::get_if<Cancel>(&action)) {
      std::erase_if(outstanding, [&](const Action& other) { return step_of(other) == cancel->step; });
    } else {
      if (const auto* ports = std::get_if<SetPorts>(&action)) check_order(*ports);
      if (const auto* write = std::get_if<WriteTables>(&action)) check_order(*write);
      outstanding.push_back(action);
    }
  }

  void check_order(const SetPorts& order) {
    for (const PortOrder& port : order.ports) {
      const LinkIndex link = fabric->port(fabric->find_port(port.link.a)).link;
      EXPECT_TRUE(port.port == port.link.a || port.port == port.link.b);
      const bool takes_down = up.contains(link) && !(port.mode == modes[link.raw()]);
      if (!takes_down) continue;
      // Not in the tables of any plane, nor in those that are being written.
      for (const auto& set : tables) {
        EXPECT_FALSE(set.contains(link)) << "ordered off while in a table";
      }
      for (const Action& other : outstanding) {
        if (const auto* write = std::get_if<WriteTables>(&other)) {
          EXPECT_FALSE(write->active.contains(link));
        }
      }
      // The intent is on disk.
      bool intended = false;
      for (const auto& [id, intent] : journal.open) {
        for (const OffRecord& off : intent.off) {
          intended = intended || (off.link == port.link && off.port == port.port);
        }
      }
      EXPECT_TRUE(intended) << "no intent in the journal";
    }
  }

  void check_order(const WriteTables& order) {
    if (order.writing == Writing::Unused) {
      ASSERT_TRUE(order.plane);
      EXPECT_NE(*order.plane, plane) << "traffic uses the plane";
      for (const Action& other : outstanding) EXPECT_FALSE(std::holds_alternative<Migrate>(other));
    }
    for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
      if (order.active.contains(LinkIndex{i}) && !broken.contains(i)) {
        EXPECT_TRUE(up.contains(LinkIndex{i})) << "tables over a link that is off";
      }
    }
  }

  /// At every instant: no table that traffic uses leads into a link that is off, and every rule holds in it.
  void check() {
    for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
      if (tables[plane].contains(LinkIndex{i}) && !broken.contains(i)) {
        EXPECT_TRUE(up.contains(LinkIndex{i})) << "traffic into a link that is off";
      }
    }
    if (!enforce_rules || !broken.empty()) return;
    for (const auto& set : tables) {
      const auto rule = broken_rule(*network, set);
      EXPECT_FALSE(rule) << *rule;
    }
  }

  static std::optional<StepId> step_of(const Action& action) {
    if (const auto* write = std::get_if<WriteTables>(&action)) return write->step;
    if (const auto* migrate = std::get_if<Migrate>(&action)) return migrate->step;
    if (const auto* ports = std::get_if<SetPorts>(&action)) return ports->step;
    if (const auto* look = std::get_if<LookAtQueues>(&action)) return look->step;
    return std::nullopt;
  }

  decltype(Event::what) settle(const Action& action) {
    const StepId step = *step_of(action);
    const auto [answer, effect] = fate ? fate(steps) : std::pair{Answering::Done, Effect::Taken};
    ++steps;
    if (effect == Effect::Taken) carry_out(action);
    if (const auto* look = std::get_if<LookAtQueues>(&action); look != nullptr && answer == Answering::Done)
      return QueuesSeen{step, look_at(*look)};
    if (answer == Answering::Failed) return StepFailed{step, "refused", {}};
    if (answer == Answering::TimedOut) return StepTimedOut{step};
    return StepDone{step};
  }

  std::vector<QueueSeen> look_at(const LookAtQueues& look) {
    looked_at.push_back(look.links);
    std::vector<QueueSeen> seen;
    for (const LinkRef& link : look.links) {
      if (waits(link)) seen.push_back({link, link.a, Vl{3}, 12});
    }
    return seen;
  }

  void carry_out(const Action& action) {
    if (const auto* write = std::get_if<WriteTables>(&action)) {
      if (!write->plane || *write->plane == 0) tables[0] = write->active;
      if (!write->plane || *write->plane == 1) tables[1] = write->active;
    } else if (const auto* migrate = std::get_if<Migrate>(&action)) {
      plane = migrate->plane;
    } else if (const auto* ports = std::get_if<SetPorts>(&action)) {
      for (const PortOrder& port : ports->ports) {
        const LinkIndex link = fabric->port(fabric->find_port(port.link.a)).link;
        if (broken.contains(link.raw())) continue;
        if (up.contains(link) != port.mode.on()) ++transitions;
        modes[link.raw()] = port.mode;
        if (port.mode.on()) {
          up.insert(link);
        } else {
          up.erase(link);
        }
      }
    }
    check();
  }
};

}  // namespace heddle::regulation::testing_support
