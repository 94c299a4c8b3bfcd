/// OpenSM 3.3.23 beside a daemon, on a simulated fabric and its clock: what a daemon can tell of it, no more
/// (docs/facts/opensm.md). It gives LIDs, sweeps when a trap, a change bit, an error or somebody asks for it,
/// takes its tables from a routing engine, writes block i of all switches before block i + 1 in an order of
/// nobody's, and raises ports after the tables. What it knows of ports is what it found in its last heavy
/// sweep, and what they answered to its own Sets since: it may be out of date, as the real one's is.
///
/// The plugin (scripted_plugin.h) and the file (file_engine.h) are its routing engines.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "authority/own/multicast_table.h"
#include "base/random.h"
#include "mad/attributes.h"
#include "mad/header.h"
#include "planned/subnet.h"
#include "routing/tables.h"
#include "sim/simulated_fabric.h"

namespace heddle::test {

/// What gives OpenSM its tables, and hears of what it does. Called in the order of OpenSM's callbacks.
class RoutingEngine {
 public:
  enum class Event : std::uint8_t { HeavySweepStart, HeavySweepDone, SubnetUp };
  enum class Routing : std::uint8_t { Sweep, Reroute };
  virtual ~RoutingEngine() = default;

  virtual void report(Event /*event*/) {}
  /// Of all switches that OpenSM sees; none: it failed, and all stays as it is.
  virtual std::optional<routing::ForwardingTables> route() = 0;
  /// Every switch has answered, or will not.
  virtual void routed(Routing /*how*/) {}
  /// Out of which ports switches are to send packets of the group.
  virtual std::set<PortRef> tree(Lid group, const std::set<PortIndex>& members) = 0;
  virtual void mastership_changed() {}
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const { return std::nullopt; }
  virtual void on_timer() {}
};

struct ScriptedOpenSmOptions {
  unsigned lmc = 0;
  FabricClock::duration sweep_interval = std::chrono::seconds{10};
  /// Discovery; LIDs; each block of the tables; each step of the ports' states.
  FabricClock::duration step = std::chrono::milliseconds{2};
  /// Until a request without an answer is given up.
  FabricClock::duration patience = std::chrono::milliseconds{600};
  std::uint64_t seed = 1;
};

class ScriptedOpenSm {
 public:
  /// Sits at this port of a host, as its subnet manager. All must outlive it.
  ScriptedOpenSm(sim::SimulatedFabric& fabric, PortIndex at, const ScriptedOpenSmOptions& options,
                 std::function<Instant()> now);
  ~ScriptedOpenSm();
  ScriptedOpenSm(const ScriptedOpenSm&) = delete;
  ScriptedOpenSm& operator=(const ScriptedOpenSm&) = delete;

  /// Once, before begin().
  void use(std::unique_ptr<RoutingEngine> engine) { engine_ = std::move(engine); }
  void begin() { ask_for_heavy_sweep(); }
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  void on_timer();
  /// Nothing is under way, asked for, or known to have failed.
  [[nodiscard]] bool quiet() const;

  void ask_for_heavy_sweep();
  void ask_for_reroute();
  void ask_for_group(Lid group);
  /// Who has joined which group. New trees follow.
  void set_members(Lid group, std::set<PortIndex> members);
  /// Another subnet manager has it, and has it no more.
  void stand_by();
  void become_master();

  // What OpenSM's structures say.
  [[nodiscard]] Instant now() const { return now_(); }
  [[nodiscard]] const ScriptedOpenSmOptions& options() const { return options_; }
  [[nodiscard]] bool is_master() const { return master_; }
  /// No sweep of this mastership has ended yet.
  [[nodiscard]] bool first_sweep() const { return first_sweep_; }
  [[nodiscard]] bool errors() const { return errors_; }
  /// Nothing is on its way to switches.
  [[nodiscard]] bool idle() const { return !busy_ && groups_asked_.empty(); }
  [[nodiscard]] const sim::SimulatedFabric& fabric() const { return fabric_; }
  [[nodiscard]] planned::SubnetRecords records() const;
  /// Switches in sight.
  [[nodiscard]] std::vector<NodeGuid> switches() const;
  [[nodiscard]] bool is_in_sight(NodeGuid guid) const;
  struct Table {
    std::vector<std::uint8_t> has;  ///< as far as answered
    std::vector<std::uint8_t> wanted;
  };
  [[nodiscard]] const Table& table(NodeGuid guid) const { return tables_.at(guid); }
  /// What the switch holds, read from it. Empty where it does not answer.
  [[nodiscard]] std::vector<std::uint8_t> read_table(NodeGuid guid) const;
  /// Blocks of forwarding tables that switches have taken since this was asked last.
  [[nodiscard]] std::uint64_t take_blocks_written() { return std::exchange(blocks_written_, 0); }
  [[nodiscard]] std::uint64_t heavy_sweeps() const { return heavy_sweeps_; }
  /// Each switch leads somewhere.
  [[nodiscard]] bool has_tables() const;

  /// For tests: OpenSM does not know that this port is Active, until it looks again.
  void mistake(PortIndex port, PortState state) { ports_.at(port).state = state; }

 private:
  /// A request to a node: what it does, and whether it was answered.
  using Request = std::function<bool()>;

  void after(FabricClock::duration delay, std::function<void()> what);
  void next();
  void heavy_sweep();
  void discovered();
  void give_lids();
  void route(RoutingEngine::Routing how);
  void write_block(std::size_t block, RoutingEngine::Routing how);
  void written(RoutingEngine::Routing how);
  void write_groups(const std::vector<Lid>& groups, std::function<void()> then);
  void raise(PortState to);
  void subnet_up();
  void done();
  void light_sweep();
  /// All at once, in no order; `then` when all have been answered or given up.
  void send(std::vector<Request> requests, std::function<void()> then);

  void hear(const mad::Packet& packet);
  void look_around();
  [[nodiscard]] bool answers(NodeIndex node) const;
  [[nodiscard]] PortIndex agent_of(PortIndex port) const;
  [[nodiscard]] bool is_switch(NodeIndex node) const;
  bool set(NodeIndex node, PortIndex agent, mad::SmAttr attribute, std::uint32_t modifier, mad::Bytes& smp);
  bool set_port(PortIndex port, PortState state);
  void write_switch_info(NodeIndex node, bool clears);

  sim::SimulatedFabric& fabric_;
  const Fabric& description_;
  PortIndex at_;
  ScriptedOpenSmOptions options_;
  std::function<Instant()> now_;
  sim::ClientId client_;
  Random random_;
  std::unique_ptr<RoutingEngine> engine_;

  std::multimap<Instant, std::function<void()>> due_;
  Instant light_at_{};
  bool master_ = true;
  bool busy_ = false;
  bool first_sweep_ = true;
  bool errors_ = false;
  bool heavy_wanted_ = false;
  bool reroute_wanted_ = false;
  std::set<Lid> groups_asked_;

  std::map<NodeIndex, std::vector<PortIndex>> ways_;  ///< ports to leave by, of each node in sight
  std::map<PortIndex, mad::PortInfo> ports_;          ///< of nodes in sight
  std::map<PortIndex, Lid> lids_;                     ///< for good
  unsigned next_lid_ = 1;
  std::map<NodeGuid, Table> tables_;
  std::map<NodeGuid, std::uint16_t> tops_;  ///< LinearFDBTop, as told
  std::map<Lid, std::set<PortIndex>> groups_;
  std::map<NodeIndex, provision::MulticastTable> group_tables_;  ///< as wanted
  std::map<NodeIndex, provision::MulticastTable> group_tables_there_;
  std::uint64_t blocks_written_ = 0;
  std::uint64_t heavy_sweeps_ = 0;
};

}  // namespace heddle::test
