#include "sim/host_agents.h"

#include <algorithm>
#include <utility>

#include "sim/scenario_hosts.h"

namespace heddle::sim {

class HostAgents::At final : public apm::Host {
 public:
  At(SimulatedFabric& fabric, TrafficPlane& plane, PathMigration& migration, const apm::Key& key,
     PortIndex port)
      : fabric_{fabric}, plane_{plane}, migration_{migration}, key_{key}, port_{port} {
    begin();
    const auto client = fabric_.attach(
        port_, [this](const mad::Packet& packet, Picoseconds when) { on_packet(packet, when); });
    client_ = *client;
    fabric_.take_other_classes(client_);
  }
  ~At() override { fabric_.detach(client_); }
  At(const At&) = delete;
  At& operator=(const At&) = delete;

  [[nodiscard]] PortIndex port() const { return port_; }
  void set_conduct(AgentConduct conduct) { conduct_ = conduct; }
  void begin() {
    agent_.emplace(apm::AgentOptions{.key = key_,
                                     .port = fabric_.port_guid(port_),
                                     .last_sequence = kept_,
                                     .incarnation = ++incarnation_},
                   *this);
    ordered_.reset();
    stuck_.clear();
  }

  // apm::Host
  [[nodiscard]] apm::Standing standing() override {
    if (ordered_ && ready_at_ <= now_) carry_on();
    apm::Standing standing{.processes = 1};
    for (const TrafficId flow : own()) {
      if (plane_.flow(flow).path_offset) {
        ++standing.others;
        continue;
      }
      ++standing.connections;
      ++standing.in_plane[plane_.path(flow) % apm::planes];
      if (migration_.paths(flow).state == MigrationState::Armed) ++standing.armed;
      if (stuck_.contains(flow)) ++standing.failed;
    }
    if (ordered_ && ready_at_ > now_) standing.moving = standing.connections - standing.in_plane[*ordered_];
    if (standing.failed > 0) standing.trouble = "a queue pair cannot migrate";
    if (conduct_ == AgentConduct::Lies && ordered_) {
      standing.in_plane = {};
      standing.in_plane[*ordered_] = standing.connections;
    }
    return standing;
  }
  void arm() override {
    for (const TrafficId flow : own()) {
      if (!plane_.flow(flow).path_offset) (void)migration_.arm_other(flow);
    }
  }
  void move(unsigned to) override {
    ordered_ = static_cast<std::uint8_t>(to);
    ready_at_ = conduct_ == AgentConduct::Slow ? now_ + slowness : now_;
    if (conduct_ == AgentConduct::Honest) plane_.open_on(*ordered_);
  }
  [[nodiscard]] Result<void> keep(std::uint64_t sequence) override {
    kept_ = sequence;
    return {};
  }

 private:
  void on_packet(const mad::Packet& packet, Picoseconds when) {
    if (conduct_ == AgentConduct::Dead) return;
    now_ = std::max(when, fabric_.now());
    auto answer = agent_->answer(packet, fabric_.port_info(port_).master_sm_lid);
    if (answer && conduct_ == AgentConduct::Boasts) boast(*answer);
    if (conduct_ == AgentConduct::Late) std::swap(held_, answer);
    if (answer) fabric_.send(now_, client_, *answer);
  }
  /// Says that all have moved, and leaves the figures as they are.
  void boast(mad::Packet& answer) {
    apm::Standing standing = agent_->standing();
    if (standing.progress == apm::Progress::None) return;
    standing.progress = apm::Progress::Moved;
    apm::encode(standing, answer.mad);
    apm::seal(key_, answer.mad);
  }
  void carry_on() {
    if (conduct_ == AgentConduct::Lies || conduct_ == AgentConduct::Boasts) return;
    std::size_t number = 0;
    for (const TrafficId flow : own()) {
      if (plane_.flow(flow).path_offset || plane_.path(flow) == *ordered_) continue;
      const bool refuses = conduct_ == AgentConduct::Half && number++ % 2 == 0;
      if (refuses || !migration_.move(flow, *ordered_, now_)) stuck_.insert(flow);
    }
  }
  [[nodiscard]] std::vector<TrafficId> own() const {
    std::vector<TrafficId> flows;
    for (const TrafficId flow : plane_.ids()) {
      if (plane_.flow(flow).from == port_) flows.push_back(flow);
    }
    return flows;
  }

  SimulatedFabric& fabric_;
  TrafficPlane& plane_;
  PathMigration& migration_;
  apm::Key key_;
  PortIndex port_;
  ClientId client_;
  std::optional<apm::Agent> agent_;
  AgentConduct conduct_ = AgentConduct::Honest;
  std::optional<std::uint8_t> ordered_;
  Picoseconds ready_at_{0};
  Picoseconds now_{0};
  std::set<TrafficId> stuck_;
  std::optional<mad::Packet> held_;
  std::uint64_t kept_ = 0;
  std::uint64_t incarnation_ = 0;
};

HostAgents::HostAgents(SimulatedFabric& fabric, TrafficPlane& plane, PathMigration& migration,
                       const apm::Key& key)
    : key_{key} {
  for (const PortIndex host : host_ports(fabric.description())) {
    agents_.push_back(std::make_unique<At>(fabric, plane, migration, key_, host));
  }
}

HostAgents::~HostAgents() = default;

HostAgents::At& HostAgents::at(PortIndex host) {
  return **std::ranges::find_if(agents_, [host](const auto& agent) { return agent->port() == host; });
}

void HostAgents::set_conduct(PortIndex host, AgentConduct conduct) { at(host).set_conduct(conduct); }

void HostAgents::restart(PortIndex host) { at(host).begin(); }

}  // namespace heddle::sim
