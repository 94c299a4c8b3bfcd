/// A daemon in a simulated world: the core, and what a shell is around it, but on the world's clock.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apm/seal.h"
#include "authority/opensm/beside_opensm.h"
#include "authority/own/own_fabric.h"
#include "core/fabric_core.h"
#include "journal/journal.h"
#include "record/recorder.h"
#include "sim/simulated_fabric.h"
#include "support/fate.h"
#include "support/opensm/scripted_plugin.h"

namespace heddle::test {

/// Whether hosts have agents that move their connections between planes.
enum class HostAgents : std::uint8_t {
  Present,
  Absent,
  Speak,  ///< they are told by MADs, and answer
};

/// Who writes the fabric, and so by what the daemon's decisions reach it.
enum class WrittenBy : std::uint8_t {
  Daemon,  ///< its own small subnet manager
  Plugin,  ///< OpenSM, with our plugin
  File,    ///< OpenSM, which reads its tables from a file
};

struct WorldOptions {
  WrittenBy written_by = WrittenBy::Daemon;
  sim::Options sim{};
  transport::EngineOptions engine{};
  std::uint8_t lmc = 1;
  HostAgents agents = HostAgents::Present;
  regulation::GovernorOptions governor{};
  std::vector<std::string> pins{};
  regulation::Stopping::Links on_stop = regulation::Stopping::Links::ComeBack;
  provision::LinkDriverOptions driver{};
  FabricClock::duration sampling = std::chrono::seconds{1};
  FabricClock::duration light_sweep = std::chrono::seconds{10};
  FabricClock::duration heavy_sweep = std::chrono::minutes{10};
  FabricClock::duration verify_within = std::chrono::minutes{10};
  /// What a write to the journal takes, while everything else goes on. None: nothing goes on.
  FabricClock::duration disk{};
  /// What time the daemon takes it to be when it starts.
  journal::Calendar calendar{};
  ScriptedOpenSmOptions opensm{};
  PluginManners plugin{};
  /// Where each run of the daemon is recorded, one after the other; takes a disk that takes time.
  std::vector<std::string>* recordings = nullptr;
};

/// The core's options, and its authority, as a world's are.
[[nodiscard]] core::CoreOptions core_options(const WorldOptions& world);
[[nodiscard]] std::unique_ptr<provision::OwnFabric> own_fabric(const WorldOptions& world,
                                                               core::FabricCore& core,
                                                               transport::Transport& transport,
                                                               regulate::PathMigrator& agents,
                                                               provision::OwnFabric::Configured configured);

/// Beside OpenSM: what takes the place of own_fabric().
struct Beside {
  std::unique_ptr<authority::Authority> authority;
  opensm::BesideOpenSm* listener = nullptr;  ///< where there is a plugin
};
struct AroundBeside {
  core::FabricCore& core;
  transport::Transport& transport;
  opensm::PlanStore& plans;
  Desk desk;
  regulate::PathMigrator* agents;
  opensm::PluginPort* plugin;  ///< null where OpenSM reads a file
  std::function<Result<void>(const std::string&)> put{};
  std::function<bool()> is_there{};
};
[[nodiscard]] Beside beside_opensm(const WorldOptions& world, const AroundBeside& around);
/// Null where no host moves its connections.
[[nodiscard]] regulate::PathMigrator* movers(const WorldOptions& world, regulate::PathMigrator& agents);

class RegulatedWorld;
class WorldShell;

/// The daemon's end of the socket of OpenSM's plugin.
class PluginSocket final : public opensm::PluginPort, private ScriptedPlugin::Daemon {
 public:
  explicit PluginSocket(WorldShell& shell);
  ~PluginSocket();
  PluginSocket(const PluginSocket&) = delete;
  PluginSocket& operator=(const PluginSocket&) = delete;

  /// Before that nobody hears what is said.
  void lead_to(opensm::BesideOpenSm& beside) { beside_ = &beside; }
  [[nodiscard]] bool connected() const override { return greeted_; }
  void tell(opensm::PluginCommand command) override;

 private:
  void hear(const opensm::PluginEvent& event) override;
  void gone() override;

  WorldShell& shell_;
  opensm::BesideOpenSm* beside_ = nullptr;
  bool greeted_ = false;
};

/// One run of the daemon: its core as it ships, and around it what app/ is around it, on the world's clock.
class WorldShell final : public transport::Transport, public regulate::PathMigrator, private core::Outside {
 public:
  explicit WorldShell(RegulatedWorld& world);
  ~WorldShell() override;
  WorldShell(const WorldShell&) = delete;
  WorldShell& operator=(const WorldShell&) = delete;

  void begin();
  void on_timers();
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  [[nodiscard]] bool quiet() const { return (configured || core_.authority().is_ready()) && core_.quiet(); }

  /// An operator asks for something.
  using Order = std::function<void(regulate::Regulator&)>;
  void order(const Order& what);
  void stop(core::Changes changes) { on(core::StopAsked{changes}); }
  /// As SIGSTOP and SIGCONT do: meanwhile answers wait at its door, and time passes. Which it sees first is
  /// up to the kernel.
  void pause() { paused_ = true; }
  enum class First : std::uint8_t { Answers, Timers };
  void go_on(First first);
  /// As a trap would have it.
  void look_at(const std::vector<NodeGuid>& nodes);
  void sweep() { on(core::WayMoved{}); }
  /// `heddle sm take --force`
  void take_subnet();

  [[nodiscard]] const core::FabricCore& core() const { return core_; }
  [[nodiscard]] const regulate::Regulator& regulator() const { return *core_.regulator(); }
  [[nodiscard]] const regulation::Memory& on_disk() const { return journal_->memory(); }
  [[nodiscard]] power::EnergyTotals energy_on_disk() const { return journal_->energy().value().total; }

  // Transport
  void receive_with(Receiver /*receiver*/) override {}
  Result<void> send(const mad::Packet& packet) override;
  [[nodiscard]] transport::LocalPort local() const override;
  Result<void> claim_sm(transport::SmClaim claim) override;

  bool configured = false;
  std::vector<provision::ProvisionReport> reports;
  std::vector<journal::Event> events;
  std::vector<std::string> said;  ///< warnings and errors
  bool rests = false;             ///< what stop() waited for is over

 private:
  friend class PluginSocket;
  struct DiskWork {
    Instant done;  ///< of the first one; the others have not begun
    std::function<void()> work;
    std::function<void()> then;
  };

  void on(const core::Event& event);
  [[nodiscard]] std::unique_ptr<record::Recorder> recorder();
  [[nodiscard]] transport::Transport& way_in();
  [[nodiscard]] opensm::PlanStore::File plan_file();
  [[nodiscard]] std::unique_ptr<authority::Authority> authority();
  [[nodiscard]] opensm::PluginPort& open_socket();
  void begin_recording();
  void hear(const mad::Packet& packet, Picoseconds at);
  void take_in(const mad::Packet& packet, Instant at);
  [[nodiscard]] Desk desk();
  void write_what_is_due();
  void migrate_who_is_due();
  // PathMigrator
  void migrate(unsigned plane, Instant now, regulate::PathMigrator::Done done) override;
  // Outside
  void say(core::Severity severity, const std::string& text) override;
  void on_rest() override { rests = true; }
  void on_logged(const journal::Event& event) override;

  RegulatedWorld& world_;
  sim::ClientId client_;
  apm::Sealer sealer_{apm::Key{}};
  std::deque<DiskWork> disk_;
  bool paused_ = false;
  std::vector<mad::Packet> at_the_door_;                                      ///< while it is paused
  std::vector<std::pair<Instant, std::function<void(Instant)>>> migrations_;  ///< by when they are due
  std::unique_ptr<record::Recorder> recorder_;  ///< null where nothing is recorded
  std::unique_ptr<regulate::PathMigrator> recorded_hosts_;
  std::unique_ptr<journal::Journal> journal_;
  opensm::PlanStore plans_;
  core::FabricCore core_;
  std::unique_ptr<PluginSocket> socket_;          ///< beside OpenSM with our plugin
  std::unique_ptr<opensm::PluginBehind> behind_;  ///< in front of it, where a run is recorded
};

}  // namespace heddle::test
