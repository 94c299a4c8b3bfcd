#include "support/world_shell.h"

#include <gtest/gtest.h>

#include "apm/message.h"
#include "authority/lfts/lfts_opensm.h"
#include "mad/header.h"
#include "plan/plan.h"
#include "support/regulated_world.h"

namespace heddle::test {
namespace {

std::uint64_t time_of_day(Instant now) {
  constexpr std::uint64_t began = 1'700'000'000'000'000;
  return began + static_cast<std::uint64_t>(
                     std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count());
}

}  // namespace

core::CoreOptions core_options(const WorldOptions& world) {
  core::CoreOptions options;
  options.settings.light_sweep = world.light_sweep;
  options.settings.heavy_sweep = world.heavy_sweep;
  options.settings.sampling = world.sampling;
  options.settings.mode = world.governor.mode;
  options.engine = world.engine;
  options.regulation.governor = world.governor;
  options.regulation.pins = world.pins;
  options.regulation.calendar = world.calendar;
  options.on_stop = world.on_stop;
  if (world.agents == HostAgents::Speak) options.agents.emplace();
  return options;
}

std::unique_ptr<provision::OwnFabric> own_fabric(const WorldOptions& world, core::FabricCore& core,
                                                 transport::Transport& transport,
                                                 regulate::PathMigrator& agents,
                                                 provision::OwnFabric::Configured configured) {
  provision::OwnFabricOptions options;
  options.provision.ports.lmc = world.lmc;
  options.provision.verify_within = world.verify_within;
  options.provision.packet_life = world.governor.packet_life;
  options.driver = world.driver;
  options.driver.packet_life = world.governor.packet_life;
  options.planes = world.lmc > 0 ? 2 : 1;
  return std::make_unique<provision::OwnFabric>(options, core.engine(), transport, core.seat(),
                                                movers(world, agents), std::move(configured));
}

regulate::PathMigrator* movers(const WorldOptions& world, regulate::PathMigrator& agents) {
  return world.lmc > 0 && world.agents != HostAgents::Absent ? &agents : nullptr;
}

Beside beside_opensm(const WorldOptions& world, const AroundBeside& around) {
  opensm::OpenSmActuatorOptions options;
  options.planes = world.lmc > 0 ? 2 : 1;
  options.reduction = opensm::Reduction::Allowed;
  options.driver = world.driver;
  options.driver.packet_life = world.governor.packet_life;
  options.packet_life = std::chrono::duration_cast<std::chrono::microseconds>(world.governor.packet_life);
  auto& [core, transport, plans, desk, agents, plugin, put, is_there] = around;
  if (plugin != nullptr) {
    auto beside = std::make_unique<opensm::BesideOpenSm>(core.engine(), transport, core.seat(), *plugin,
                                                         plans, agents, options);
    auto* const listener = beside.get();
    return {std::move(beside), listener};
  }
  lfts::LftsOptions files;
  files.lmc = world.lmc;
  files.put = put;
  files.is_there = is_there;
  return {std::make_unique<lfts::LftsOpenSm>(core.engine(), transport, core.seat(), plans, desk, agents,
                                             options, std::move(files)),
          nullptr};
}

WorldShell::WorldShell(RegulatedWorld& world)
    : world_{world},
      client_{*world.fabric.attach(world.port,
                                   [this](const mad::Packet& packet, Picoseconds at) { hear(packet, at); })},
      recorder_{recorder()},
      recorded_hosts_{recorder_ ? recorder_->between(this) : nullptr},
      journal_{std::make_unique<MortalJournal>(
          journal::open_journal(world.path, world.options.calendar).value(), world.fate)},
      plans_{"plan.json", desk(), plan_file()},
      core_{{.transport = way_in(), .plans = plans_, .desk = desk(), .outside = *this},
            core_options(world.options)} {
  core_.use(authority());
  begin_recording();
  core_.regulate_with(*journal_);
}

std::unique_ptr<authority::Authority> WorldShell::authority() {
  const WorldOptions& options = world_.options;
  regulate::PathMigrator* agents = recorded_hosts_ ? recorded_hosts_.get() : this;
  if (core_.migrator() != nullptr) agents = core_.migrator();
  if (options.written_by == WrittenBy::Daemon) {
    return own_fabric(options, core_, way_in(), *agents, [this](const provision::ProvisionReport& report) {
      reports.push_back(report);
      // A day has thousands, and each would keep what the fabric was like: 12 GB of superpod-krskp.
      reports.back().survey = nullptr;
      reports.back().tables = nullptr;
      reports.back().routes = nullptr;
      configured = configured || !report.failure;
    });
  }
  opensm::PluginPort* const plugin = options.written_by == WrittenBy::Plugin ? &open_socket() : nullptr;
  const auto put = [this](const std::string& text) -> Result<void> {
    world_.fate.pass(Fate::Moment::BeforeWrite);
    if (!world_.fate.dead) world_.put_tables(text);
    world_.fate.pass(Fate::Moment::AfterWrite);
    return {};
  };
  Beside beside = beside_opensm(options, {core_, way_in(), plans_, desk(), movers(options, *agents), plugin,
                                          put, [this] { return world_.lfts_file.has_value(); }});
  if (socket_) socket_->lead_to(*beside.listener);
  return std::move(beside.authority);
}

opensm::PluginPort& WorldShell::open_socket() {
  socket_ = std::make_unique<PluginSocket>(*this);
  if (!recorder_) return *socket_;
  behind_ = std::make_unique<opensm::PluginBehind>(
      [this](opensm::PluginBehind::Question what) {
        const bool is = what == opensm::PluginBehind::Question::Connected && socket_->connected();
        return recorder_->asked(static_cast<std::uint64_t>(what), is);
      },
      [this](opensm::PluginCommand command) {
        recorder_->told(to_string(command));
        socket_->tell(command);
      });
  return *behind_;
}

/// In the world's memory: a disk that is real takes real time.
opensm::PlanStore::File WorldShell::plan_file() {
  return {[this](const std::string& path) -> Result<plan::Plan> {
            const auto& text = path == "plan.json" ? world_.plan_file : world_.plan_file_before;
            if (!text) return fail(ErrorCode::NotFound, path + " is not there");
            return plan::parse(*text, path);
          },
          [this](const std::string&, const plan::Plan& plan) -> Result<void> {
            world_.fate.pass(Fate::Moment::BeforeWrite);
            if (!world_.fate.dead)
              world_.plan_file_before = std::exchange(world_.plan_file, plan::to_text(plan));
            world_.fate.pass(Fate::Moment::AfterWrite);
            return {};
          }};
}

// --- the plugin's socket ---

PluginSocket::PluginSocket(WorldShell& shell) : shell_{shell} { shell_.world_.listen(this); }

PluginSocket::~PluginSocket() { shell_.world_.listen(nullptr); }

void PluginSocket::tell(opensm::PluginCommand command) {
  RegulatedWorld& world = shell_.world_;
  if (!world.fate.dead && world.plugin != nullptr) world.plugin->tell(command);
}

void PluginSocket::hear(const opensm::PluginEvent& event) {
  if (shell_.world_.fate.dead) return;
  greeted_ = greeted_ || event.kind == opensm::PluginEvent::Kind::Hello;
  // Who does not begin with hello has to connect once more.
  if (!greeted_) return shell_.world_.listen(this);
  if (beside_ == nullptr) return;
  const std::string words = to_line(event);
  shell_.on(
      core::CameBack{[&] { beside_->on_plugin(event, shell_.core_.now()); }, core::Source::Plugin, words});
}

void PluginSocket::gone() {
  if (shell_.world_.fate.dead || !std::exchange(greeted_, false)) return;
  shell_.on(core::CameBack{[&] { beside_->on_plugin_gone(shell_.core_.now()); }, core::Source::Plugin});
}

std::unique_ptr<record::Recorder> WorldShell::recorder() {
  if (world_.options.recordings == nullptr) return nullptr;
  world_.options.recordings->emplace_back();
  return std::make_unique<record::Recorder>(
      *this,
      [all = world_.options.recordings, run = world_.options.recordings->size() - 1](std::string_view more) {
        (*all)[run].append(more);
        return true;
      },
      1'000'000'000);
}

transport::Transport& WorldShell::way_in() {
  if (recorder_) return *recorder_;
  return *this;
}

void WorldShell::begin_recording() {
  if (!recorder_) return;
  record::Opening opening;
  opening.journal = journal_->image().value();
  opening.plan = world_.plan_file;
  opening.plan_before = world_.plan_file_before;
  opening.hosts = true;
  recorder_->open(opening);
  journal_ = recorder_->between(std::move(journal_));
}

void WorldShell::begin() {
  if (recorder_) recorder_->made(world_.now);
  on(core::Began{});
}

void WorldShell::order(const Order& what) {
  const std::function<std::string()> words = [&] {
    world_.orders.push_back(what);
    return std::to_string(world_.orders.size() - 1);
  };
  on(core::Asked{[&] { what(*core_.regulator()); }, &words});
}

void WorldShell::on_logged(const journal::Event& event) {
  if (recorder_) recorder_->logged(event);
  events.push_back(event);
}

WorldShell::~WorldShell() { world_.fabric.detach(client_); }

void WorldShell::on(const core::Event& event) {
  if (recorder_) recorder_->begin(event, world_.now);
  core_.on(event, world_.now);
  if (recorder_) recorder_->finish();
}

void WorldShell::say(core::Severity severity, const std::string& text) {
  if (recorder_) recorder_->said(severity, text);
  if (severity >= core::Severity::Warning) said.push_back(text);
}

/// Writes take their time, one after the other.
Desk WorldShell::desk() {
  Desk desk{[this](std::function<void()> work, std::function<void()> then) {
              // What is written waits for what is being written, however fast the disk has become.
              if (world_.options.disk > FabricClock::duration{} || !disk_.empty()) {
                disk_.push_back({world_.now + world_.options.disk, std::move(work), std::move(then)});
                return;
              }
              work();
              on(core::CameBack{then});
            },
            [this] { return world_.now; }};
  return recorder_ ? recorder_->between(std::move(desk)) : desk;
}

void WorldShell::look_at(const std::vector<NodeGuid>& nodes) {
  on(core::Asked{[&] { core_.seat().look_at(nodes, world_.now); }});
}

void WorldShell::take_subnet() {
  on(core::Asked{[&] { (void)core_.take_subnet("operator"); }});
}

void WorldShell::go_on(First first) {
  paused_ = false;
  if (first == First::Timers) on_timers();
  for (const mad::Packet& packet : std::exchange(at_the_door_, {})) {
    if (world_.fate.dead) return;
    take_in(packet, world_.now);
  }
}

std::optional<Instant> WorldShell::next_deadline() const {
  if (paused_) return std::nullopt;
  std::optional<Instant> first = core_.next_deadline();
  const auto sooner = [&](Instant at) {
    if (!first || at < *first) first = at;
  };
  for (const auto& [at, migration] : migrations_) sooner(at);
  if (!disk_.empty()) sooner(disk_.front().done);
  return first;
}

void WorldShell::on_timers() {
  if (paused_) return;
  write_what_is_due();
  if (world_.fate.dead) return;
  on(core::TimersDue{});
  migrate_who_is_due();
}

void WorldShell::write_what_is_due() {
  while (!disk_.empty() && disk_.front().done <= world_.now) {
    const DiskWork write = std::move(disk_.front());
    disk_.pop_front();
    if (!disk_.empty()) disk_.front().done = world_.now + world_.options.disk;
    write.work();
    if (world_.fate.dead) return;
    on(core::CameBack{write.then});
  }
}

void WorldShell::migrate_who_is_due() {
  while (!migrations_.empty() && migrations_.front().first <= world_.now) {
    const auto migration = std::move(migrations_.front().second);
    migrations_.erase(migrations_.begin());
    on(core::CameBack{[&] { migration(world_.now); }, core::Source::Hosts});
  }
}

void WorldShell::hear(const mad::Packet& packet, Picoseconds at) {
  if (apm::is_ours(packet.mad) && !sealer_.admit_answer(packet.mad)) return;
  const bool smp = mad::is_smp(mad::read_header(packet.mad));
  const std::uint64_t number = smp ? world_.fate.answers++ : 0;
  if (smp && world_.fate.on_answer && world_.fate.on_answer(number) == Fate::Verdict::Lost) return;
  mad::Packet arrived = packet;
  if (world_.fate.spoil) world_.fate.spoil(arrived);
  if (paused_) return at_the_door_.push_back(arrived);
  take_in(arrived, RegulatedWorld::instant(at));
}

void WorldShell::take_in(const mad::Packet& packet, Instant at) {
  if (world_.on_wire) world_.on_wire(RegulatedWorld::Way::Received, packet);
  on(core::Arrived{packet, at});
}

Result<void> WorldShell::send(const mad::Packet& packet) {
  if (world_.fate.dead) return {};
  if (!mad::is_smp(mad::read_header(packet.mad))) {
    mad::Packet sent = packet;
    if (apm::is_ours(sent.mad)) sealer_.seal_request(time_of_day(world_.now), sent.mad);
    world_.fabric.send(world_.ps(), client_, sent);
    return {};
  }
  world_.fate.pass(Fate::Moment::BeforeMad);
  if (world_.fate.dead) return {};
  const std::uint64_t number = world_.fate.requests++;
  if (!world_.fate.on_request || world_.fate.on_request(number, packet) == Fate::Verdict::Goes) {
    if (world_.on_wire) world_.on_wire(RegulatedWorld::Way::Sent, packet);
    world_.fabric.send(world_.ps(), client_, packet);
  }
  world_.fate.pass(Fate::Moment::AfterMad);
  return {};
}

transport::LocalPort WorldShell::local() const {
  const Port& port = world_.fabric.description().port(world_.port);
  const mad::PortInfo& info = world_.fabric.port_info(world_.port);
  return {world_.fabric.description().node(port.node).guid, port.guid, port.num, info.lid,
          info.master_sm_lid};
}

Result<void> WorldShell::claim_sm(transport::SmClaim claim) {
  if (world_.fate.dead) return {};
  return world_.fabric.set_is_sm(client_, claim == transport::SmClaim::Hold ? sim::IsSm::Yes : sim::IsSm::No,
                                 world_.ps());
}

void WorldShell::migrate(unsigned plane, Instant now, regulate::PathMigrator::Done done) {
  const auto agents = [this, plane, done = std::move(done)](Instant at) {
    if (world_.fate.dead) return;
    world_.traffic_plane = plane;
    done(world_.hosts.move_all(static_cast<std::uint8_t>(plane), world_.ps()), at);
  };
  migrations_.emplace_back(now + std::chrono::milliseconds{20}, agents);
}

}  // namespace heddle::test
