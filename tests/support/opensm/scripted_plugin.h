/// Our plugin in a scripted OpenSM: what plugins/opensm does with OpenSM's structures, on the world's clock,
/// and from the same parts (libanalysis/planned, plugins/opensm/core). What it says goes to the daemon as the
/// lines that the real one writes. QoS tables are left out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/opensm/plugin_event.h"
#include "authority/opensm/plugin_port.h"
#include "core/events.h"
#include "core/group_stages.h"
#include "core/kept_tree.h"
#include "core/second_look.h"
#include "planned/away.h"
#include "planned/route_maker.h"
#include "planned/subnet.h"
#include "planned/tables_in_force.h"
#include "planned/transition.h"
#include "support/opensm/scripted_opensm.h"

namespace heddle::test {

/// How the plugin behaves, which a test may change at any time.
struct PluginManners {
  /// Until a line is at its other end.
  FabricClock::duration latency = std::chrono::microseconds{200};
  /// It is connected, and says nothing. As the connection is a stream, what it had to say comes later, unless
  /// the connection ends before.
  bool is_dumb = false;
  /// It does not hear what it is told.
  bool is_deaf = false;
  /// Each line is said so often.
  unsigned times = 1;
  /// As it does since it had refused plans that were good.
  bool looks_again = true;
};

class ScriptedPlugin final : public RoutingEngine {
 public:
  /// A daemon's end of the socket.
  class Daemon {
   public:
    virtual void hear(const opensm::PluginEvent& event) = 0;
    virtual void gone() = 0;

   protected:
    ~Daemon() = default;
  };
  /// The text of the plan's file; none where there is no file.
  using PlanFile = std::function<std::optional<std::string>()>;
  /// As Backoff::first.
  static constexpr FabricClock::duration retry = std::chrono::milliseconds{500};

  ScriptedPlugin(ScriptedOpenSm& opensm, PlanFile file, const PluginManners& manners)
      : opensm_{opensm}, file_{std::move(file)}, manners_{manners} {}

  /// Somebody listens from here on; null: nobody.
  void listen(Daemon* daemon);
  /// The daemon says something.
  void tell(opensm::PluginCommand command);

  // RoutingEngine
  void report(Event event) override;
  std::optional<routing::ForwardingTables> route() override;
  void routed(Routing how) override;
  std::set<PortRef> tree(Lid group, const std::set<PortIndex>& members) override;
  void mastership_changed() override;
  [[nodiscard]] std::optional<Instant> next_deadline() const override;
  void on_timer() override;

  /// Remarks of the last routing, as in OpenSM's log.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  struct Underway {
    Instant at;
    std::function<void()> arrives;
  };

  // The channel.
  void say(const std::string& line);
  void say_what_waits();
  void send(std::function<void()> arrives);
  void connect();
  void disconnect();
  [[nodiscard]] std::string greeting() const;
  void carry_out(plugin::Command command);

  // The engine, as plugins/opensm/engine*.cc has it.
  void look_at_plan();
  void read_tables();
  void choose_pass(const planned::Subnet& subnet);
  void plan_next_pass();
  void subnet_up();
  [[nodiscard]] FabricClock::duration packet_life() const;
  [[nodiscard]] plugin::GroupStages::Leads where_leads(const PortRef& port) const;
  [[nodiscard]] std::size_t reroute_concerned_groups();
  [[nodiscard]] bool is_quiet() const;
  [[nodiscard]] bool groups_change() const { return multicast_waits_ || !stages_.settled(); }
  void look_at_groups();
  [[nodiscard]] plugin::GroupStages::Time time() const;
  [[nodiscard]] routing::SwitchIndex switch_of(NodeGuid guid) const;

  ScriptedOpenSm& opensm_;
  PlanFile file_;
  const PluginManners& manners_;

  Daemon* daemon_ = nullptr;
  std::optional<Instant> connects_at_;
  bool connected_ = false;
  std::vector<Underway> lines_;  ///< both ways, in the order of time
  std::vector<opensm::PluginEvent> unsaid_;
  bool window_ = false;
  plugin::Confirmation last_;

  std::optional<std::string> seen_;  ///< of the plan's file
  bool looked_ = false;
  std::optional<plan::Plan> plan_;
  planned::CableMemory cables_;
  planned::HostMemory hosts_;
  planned::AwayMemory away_;
  planned::ReleasedLinks released_;
  planned::RouteMaker maker_;
  std::optional<planned::Routes> routes_;
  planned::TablesInForce in_force_;
  planned::Pass pass_;
  Instant packets_gone_{};
  std::optional<Instant> next_pass_at_;
  std::size_t waiting_ = 0;
  plugin::SecondLook second_look_;
  routing::LinkSet usable_;
  std::map<Lid, plugin::KeptTree> trees_;
  std::set<Lid> pending_;
  bool multicast_waits_ = false;
  std::optional<Instant> groups_at_;
  plugin::GroupStages stages_;
  std::vector<std::string> remarks_;
};

}  // namespace heddle::test
