/// A simulated fabric with traffic, and a daemon that regulates it, wired as in app/ but with a clock that
/// the test moves. The daemon can be killed at any MAD or write, and started again on the same journal; MADs
/// can be lost one by one; a FabricWatch looks on at every instant.
#pragma once

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "authority/own/own_fabric.h"
#include "discovery/discovery.h"
#include "fabric/generators.h"
#include "fabric/source.h"
#include "journal/scribe.h"
#include "mad/header.h"
#include "regulate/regulator.h"
#include "sampling/sampler.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "sim/flow/path_migration.h"
#include "sim/scenario_player.h"
#include "sim/simulated_fabric.h"
#include "support/fabric_watch.h"

namespace heddle::test {

/// Counts what the daemon does to the world outside, and has a test stop it there.
class Fate {
 public:
  enum class Moment : std::uint8_t { BeforeMad, AfterMad, BeforeWrite, AfterWrite };
  enum class Verdict : std::uint8_t { Goes, Lost };
  /// Whether the daemon is killed at this moment. From then on nothing that it does reaches the world; the
  /// world lets go of it as soon as it gives control back.
  enum class Life : std::uint8_t { GoesOn, Ends };
  std::function<Life(Moment, std::uint64_t number)> on_moment;
  bool dead = false;
  /// Whether the disk has no room for this record.
  std::function<bool(const regulation::Record&)> refuses;
  /// Whether the SMP with this number arrives. Answers have numbers of their own. What reads counters is not
  /// counted: it changes nothing.
  std::function<Verdict(std::uint64_t number, const mad::Packet&)> on_request;
  std::function<Verdict(std::uint64_t number)> on_answer;

  std::uint64_t moments = 0;
  std::uint64_t requests = 0;
  std::uint64_t answers = 0;

  void pass(Moment moment) {
    if (dead) return;
    const std::uint64_t number = moments++;
    dead = on_moment && on_moment(moment, number) == Life::Ends;
  }
};

/// Writes through, and dies before or after a write if that is its fate.
class MortalJournal final : public journal::Journal {
 public:
  MortalJournal(std::unique_ptr<journal::Journal> real, Fate& fate) : real_{std::move(real)}, fate_{fate} {}

  [[nodiscard]] Result<void> check() const override { return real_->check(); }
  Result<void> write(const regulation::Record& record) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return {};
    if (fate_.refuses && fate_.refuses(record)) return fail(ErrorCode::Io, "the disk is full");
    auto result = real_->write(record);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  [[nodiscard]] const regulation::Memory& memory() const override { return real_->memory(); }
  Result<void> put_ranks(std::span<const journal::Rank> ranks) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return {};
    auto result = real_->put_ranks(ranks);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  [[nodiscard]] Result<std::vector<journal::Rank>> ranks() const override { return real_->ranks(); }
  Result<void> put_energy(const power::EnergyRecord& record) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return {};
    auto result = real_->put_energy(record);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  [[nodiscard]] Result<power::EnergyRecord> energy() const override { return real_->energy(); }
  Result<std::uint64_t> append(const journal::Event& event) override {
    fate_.pass(Fate::Moment::BeforeWrite);
    if (fate_.dead) return 0;
    auto result = real_->append(event);
    fate_.pass(Fate::Moment::AfterWrite);
    return result;
  }
  [[nodiscard]] Result<std::vector<journal::Event>> events(std::uint64_t after,
                                                           std::size_t most) const override {
    return real_->events(after, most);
  }

 private:
  std::unique_ptr<journal::Journal> real_;
  Fate& fate_;
};

/// Whether hosts have agents that move their connections between planes.
enum class HostAgents : std::uint8_t { Present, Absent };

struct WorldOptions {
  sim::Options sim{};
  transport::EngineOptions engine{};
  std::uint8_t lmc = 1;
  HostAgents agents = HostAgents::Present;
  regulation::GovernorOptions governor{};
  std::vector<std::string> pins{};
  provision::LinkDriverOptions driver{};
  FabricClock::duration sampling = std::chrono::seconds{1};
  FabricClock::duration light_sweep = std::chrono::seconds{10};
  FabricClock::duration verify_within = std::chrono::minutes{10};
  /// What a write to the journal takes, while everything else goes on. None: nothing goes on.
  FabricClock::duration disk{};
};

class RegulatedWorld;

/// The daemon's parts, in the order of app/heddled.cc.
class TestDaemon final : public transport::Transport, public authority::Seat, public regulate::PathMigrator {
 public:
  explicit TestDaemon(RegulatedWorld& world);
  ~TestDaemon() override;
  TestDaemon(const TestDaemon&) = delete;
  TestDaemon& operator=(const TestDaemon&) = delete;

  void begin();
  void on_timers();
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  [[nodiscard]] bool quiet() const {
    return configured && !discovery->busy() && !authority->is_configuring() && regulation->idle() &&
           scribe.waiting() == 0 && engine.pending() == 0;
  }

  // Transport
  void receive_with(Receiver receiver) override { receiver_ = std::move(receiver); }
  Result<void> send(const mad::Packet& packet) override;
  [[nodiscard]] transport::LocalPort local() const override;
  Result<void> claim_sm(transport::SmClaim claim) override;

  [[nodiscard]] regulate::Regulator& regulator() { return *regulation; }

  bool configured = false;
  std::vector<provision::ProvisionReport> reports;
  std::vector<journal::Event> events;

 private:
  // FabricSeat
  [[nodiscard]] std::shared_ptr<const Survey> survey() const override { return survey_; }
  void adopt(std::shared_ptr<const Survey> survey) override;
  void look_at(const std::vector<NodeGuid>& nodes, Instant now) override;
  void use(std::shared_ptr<const Survey> survey) override;
  void show(std::shared_ptr<const Survey> /*survey*/) override {}
  void hold() override { discovery->hold(); }
  void release(Instant now) override { discovery->release(now); }
  void set_change_bits(authority::ChangeBits bits) override {
    discovery->set_change_bits(bits == authority::ChangeBits::Clear ? discovery::ChangeBits::Clear
                                                                    : discovery::ChangeBits::Leave);
  }
  // PathMigrator
  void migrate(unsigned plane, Instant now, regulate::PathMigrator::Done done) override;

  struct DiskWork {
    Instant done;  ///< of the first one; the others have not begun
    std::function<void()> work;
    std::function<void()> then;
  };

  /// The scribe's desk: writes take their time, one after the other.
  Desk desk();

  RegulatedWorld& world_;
  std::deque<DiskWork> disk_;
  sim::ClientId client_;
  Receiver receiver_;
  std::shared_ptr<const Survey> survey_;
  std::vector<std::pair<Instant, std::function<void(Instant)>>> migrations_;  ///< by when they are due
  std::optional<Instant> light_at_;

 public:
  std::unique_ptr<journal::Journal> journal;
  journal::Scribe scribe;
  transport::TransactionEngine engine;
  std::unique_ptr<discovery::Discovery> discovery;
  std::unique_ptr<provision::OwnFabric> authority;
  std::unique_ptr<regulate::Regulator> regulation;
  std::unique_ptr<sampling::Sampler> sampler;
};

/// Of a generator, or of a file if it begins with a slash.
inline std::shared_ptr<const Fabric> description_of(std::string_view source) {
  return source.starts_with('/') ? load_fabric(std::string{source})->fabric : *generate(source);
}

class RegulatedWorld {
 public:
  RegulatedWorld(std::string_view source, WorldOptions how, std::string journal_file)
      : options{std::move(how)}, path{std::move(journal_file)}, fabric{description_of(source), options.sim} {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
    fabric.set_counter_source(&plane);
    plane.set_schedule(&player);
  }
  ~RegulatedWorld() { fabric.set_counter_source(nullptr); }
  RegulatedWorld(const RegulatedWorld&) = delete;
  RegulatedWorld& operator=(const RegulatedWorld&) = delete;

  void start() {
    daemon = std::make_unique<TestDaemon>(*this);
    daemon->begin();
  }
  /// Brings the fabric up from power-on, and begins to watch.
  void bring_up() {
    start();
    ASSERT_TRUE(run([&] { return daemon->quiet(); }));
    watch.begin();
  }
  /// Also what is written, and packets under way as long as the daemon counts on.
  void judge_writes() {
    watch.judge_writes(options.governor.packet_life, [this](const routing::Target& target, Lid lid) {
      if (options.agents == HostAgents::Absent) return true;
      return target.lmc == 0 || static_cast<unsigned>(lid.raw() - target.base.raw()) % 2 == traffic_plane;
    });
  }
  /// Hears of every MAD before it leaves the daemon, and before the daemon sees it.
  enum class Way : std::uint8_t { Sent, Received };
  std::function<void(Way, const mad::Packet&)> on_wire;

  /// The daemon is gone from one instant to the next; the fabric goes on.
  void kill() { daemon.reset(); }

  [[nodiscard]] Picoseconds ps() const { return Picoseconds{now.time_since_epoch()}; }
  [[nodiscard]] static Instant instant(Picoseconds at) {
    return Instant{std::chrono::duration_cast<FabricClock::duration>(at)};
  }

  /// Goes from event to event until `done`, or until so much time has passed. True if `done`.
  bool run(const std::function<bool()>& done, FabricClock::duration limit = std::chrono::minutes{10}) {
    const Instant end = now + limit;
    while (!done()) {
      std::optional<Instant> next = daemon ? daemon->next_deadline() : std::nullopt;
      const auto sooner = [&](std::optional<Picoseconds> at) {
        if (!at) return;
        // Round up: the fabric counts finer than we do.
        const Instant due = instant(*at + Picoseconds{999});
        if (!next || due < *next) next = due;
      };
      sooner(fabric.next_event());
      sooner(plane.next_event());
      if (!next || *next > end) {
        now = end;
        advance();
        return done();
      }
      now = std::max(now, *next);
      advance();
      if (daemon && !fate.dead) daemon->on_timers();
      if (fate.dead) {
        daemon.reset();
        fate.dead = false;
        fate.on_moment = nullptr;
        return false;
      }
    }
    return true;
  }
  void run_for(FabricClock::duration span) {
    run([] { return false; }, span);
  }

  /// Whether one of the links between switches is off by a Set.
  [[nodiscard]] std::vector<LinkIndex> links_off() const {
    std::vector<LinkIndex> off;
    const Fabric& truth = fabric.description();
    for (std::uint32_t i = 0; i < truth.links().size(); ++i) {
      const Link& link = truth.link(LinkIndex{i});
      for (const LinkEnd& end : {link.a, link.b}) {
        if (fabric.port_info(truth.port_index(end)).physical == PhysState::Disabled) {
          off.push_back(LinkIndex{i});
          break;
        }
      }
    }
    return off;
  }

  WorldOptions options;
  std::string path;  ///< of the journal
  Fate fate;
  sim::SimulatedFabric fabric;
  sim::FabricView view{fabric};
  sim::FlowPlane plane{view};
  sim::ScenarioPlayer player{fabric.description()};
  sim::PathMigration hosts{plane};
  PortIndex port = no_port;    ///< where the daemon sits
  unsigned traffic_plane = 0;  ///< that hosts use where there are two
  Instant now{};
  FabricWatch watch{fabric, find_port(), &plane};
  std::unique_ptr<TestDaemon> daemon;

 private:
  [[nodiscard]] PortIndex find_port() {
    const Fabric& truth = fabric.description();
    for (std::uint32_t i = 0; i < truth.ports().size(); ++i) {
      const Port& candidate = truth.port(PortIndex{i});
      if (candidate.link != no_link && truth.node(candidate.node).type == NodeType::ChannelAdapter) {
        return port = PortIndex{i};
      }
    }
    return no_port;
  }

  void advance() {
    // Traffic changes in turn with the fabric, so that it meets the routes of its time.
    for (auto next = plane.next_event(); next && *next <= ps(); next = plane.next_event()) {
      if (fabric.now() < *next) fabric.advance(*next);
      plane.advance(*next);
    }
    fabric.advance(std::max(ps(), fabric.now()));
  }
};

inline TestDaemon::TestDaemon(RegulatedWorld& world)
    : world_{world},
      client_{*world.fabric.attach(world.port,
                                   [this](const mad::Packet& packet, Picoseconds at) {
                                     const bool smp = mad::is_smp(mad::read_header(packet.mad));
                                     const std::uint64_t number = smp ? world_.fate.answers++ : 0;
                                     if (smp && world_.fate.on_answer &&
                                         world_.fate.on_answer(number) == Fate::Verdict::Lost) {
                                       return;
                                     }
                                     if (world_.on_wire)
                                       world_.on_wire(RegulatedWorld::Way::Received, packet);
                                     engine.on_packet(packet, RegulatedWorld::instant(at));
                                   })},
      journal{std::make_unique<MortalJournal>(journal::open_journal(world.path, {{}, Instant{}}).value(),
                                              world.fate)},
      scribe{*journal, desk()},
      engine{*this, world.options.engine} {
  const unsigned planes = world.options.lmc > 0 ? 2 : 1;
  const bool moves = planes > 1 && world.options.agents == HostAgents::Present;
  regulate::RegulatorOptions options;
  options.governor = world.options.governor;
  options.pins = world.options.pins;
  discovery::SweepOptions sweeps;
  sweeps.on_inactive = [this](const PortRef& port) { authority->on_inactive(port); };
  discovery =
      std::make_unique<discovery::Discovery>(engine, sweeps, [this](const discovery::SweepReport& report) {
        if (report.failure || report.survey == report.before) return;
        authority->on_found(report.survey, world_.now);
      });
  provision::OwnFabricOptions own;
  own.provision.ports.lmc = world.options.lmc;
  own.provision.verify_within = world.options.verify_within;
  own.provision.packet_life = world.options.governor.packet_life;
  own.driver = world.options.driver;
  own.planes = planes;
  authority = std::make_unique<provision::OwnFabric>(own, engine, *this, *this, moves ? this : nullptr,
                                                     [this](const provision::ProvisionReport& report) {
                                                       reports.push_back(report);
                                                       configured = configured || !report.failure;
                                                     });
  regulation =
      std::make_unique<regulate::Regulator>(options, scribe, *authority->actuator(),
                                            [this](const journal::Event& event) { events.push_back(event); });
  authority->regulate_with(*regulation, scribe.ranks() ? *scribe.ranks() : std::vector<journal::Rank>{});
  sampling::SamplerOptions sampling;
  sampling.interval = world.options.sampling;
  sampler = std::make_unique<sampling::Sampler>(engine, sampling,
                                                [this](const std::shared_ptr<const load::Sample>& sample) {
                                                  regulator().on_sample(sample, world_.now);
                                                });
  engine.unsolicited_to([this](const mad::Packet& packet, Instant at) {
    if (const auto notice = authority->on_unsolicited(packet, at)) discovery->on_notice(*notice, at);
  });
}

inline Desk TestDaemon::desk() {
  return {[this](std::function<void()> work, std::function<void()> then) {
            // What is written waits for what is being written, however fast the disk has become.
            if (world_.options.disk > FabricClock::duration{} || !disk_.empty()) {
              disk_.push_back({world_.now + world_.options.disk, std::move(work), std::move(then)});
              return;
            }
            work();
            then();
          },
          [this] { return world_.now; }};
}

inline TestDaemon::~TestDaemon() { world_.fabric.detach(client_); }

inline void TestDaemon::begin() {
  discovery->full(world_.now);
  light_at_ = world_.now + world_.options.light_sweep;
}

inline std::optional<Instant> TestDaemon::next_deadline() const {
  std::optional<Instant> first = engine.next_deadline();
  const auto sooner = [&](std::optional<Instant> at) {
    if (at && (!first || *at < *first)) first = at;
  };
  sooner(authority->next_deadline());
  sooner(regulation->next_deadline());
  sooner(sampler->next_deadline());
  sooner(light_at_);
  for (const auto& [at, migration] : migrations_) sooner(at);
  if (!disk_.empty()) sooner(disk_.front().done);
  return first;
}

inline void TestDaemon::on_timers() {
  const Instant now = world_.now;
  const auto due = [&](std::optional<Instant> at) { return at && *at <= now; };
  while (!disk_.empty() && due(disk_.front().done)) {
    const DiskWork write = std::move(disk_.front());
    disk_.pop_front();
    if (!disk_.empty()) disk_.front().done = now + world_.options.disk;
    write.work();
    if (world_.fate.dead) return;
    write.then();
  }
  if (due(engine.next_deadline())) engine.on_timer(now);
  if (due(authority->next_deadline())) authority->on_timer(now);
  if (due(regulation->next_deadline())) regulation->on_timer(now);
  if (due(sampler->next_deadline())) sampler->on_timer(now);
  while (!migrations_.empty() && due(migrations_.front().first)) {
    const auto migration = std::move(migrations_.front().second);
    migrations_.erase(migrations_.begin());
    migration(now);
  }
  if (due(light_at_)) {
    discovery->light(now);
    light_at_ = now + world_.options.light_sweep;
  }
}

inline Result<void> TestDaemon::send(const mad::Packet& packet) {
  if (world_.fate.dead) return {};
  if (!mad::is_smp(mad::read_header(packet.mad))) {
    world_.fabric.send(world_.ps(), client_, packet);
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

inline transport::LocalPort TestDaemon::local() const {
  const Port& port = world_.fabric.description().port(world_.port);
  const mad::PortInfo& info = world_.fabric.port_info(world_.port);
  return {world_.fabric.description().node(port.node).guid, port.guid, port.num, info.lid,
          info.master_sm_lid};
}

inline Result<void> TestDaemon::claim_sm(transport::SmClaim claim) {
  if (world_.fate.dead) return {};
  return world_.fabric.set_is_sm(client_, claim == transport::SmClaim::Hold ? sim::IsSm::Yes : sim::IsSm::No,
                                 world_.ps());
}

inline void TestDaemon::adopt(std::shared_ptr<const Survey> survey) {
  survey_ = std::move(survey);
  discovery->adopt(survey_);
  sampler->use(survey_->fabric);
}

inline void TestDaemon::use(std::shared_ptr<const Survey> survey) {
  survey_ = std::move(survey);
  sampler->use(survey_->fabric);
}

inline void TestDaemon::look_at(const std::vector<NodeGuid>& nodes, Instant now) {
  discovery->rediscover(nodes, now);
}

inline void TestDaemon::migrate(unsigned plane, Instant now, regulate::PathMigrator::Done done) {
  const auto agents = [this, plane, done = std::move(done)](Instant at) {
    if (world_.fate.dead) return;
    world_.traffic_plane = plane;
    done(world_.hosts.move_all(static_cast<std::uint8_t>(plane), world_.ps()), at);
  };
  migrations_.emplace_back(now + std::chrono::milliseconds{20}, agents);
}

}  // namespace heddle::test
