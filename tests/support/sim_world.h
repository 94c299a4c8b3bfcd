/// A simulated fabric, a port on it and a transaction engine, in the test's own time: run() goes from event
/// to event.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "fabric/generators.h"
#include "sim/simulated_fabric.h"
#include "transport/transactions.h"

namespace heddle::test {

class SimWorld final : public transport::Transport {
 public:
  /// Sits on the first channel adapter.
  explicit SimWorld(std::shared_ptr<const Fabric> description, const sim::Options& options = {},
                    const transport::EngineOptions& engine_options = {})
      : fabric{std::move(description), options}, engine{*this, engine_options} {
    for (const Node& node : fabric.description().nodes()) {
      if (node.type != NodeType::ChannelAdapter || node.aggregation) continue;
      for (unsigned p = 1; p <= node.port_count; ++p) {
        port_ = PortIndex{node.first_port.raw() + p};
        if (fabric.description().port(port_).link != no_link) break;
      }
      break;
    }
    client_ = *fabric.attach(port_, [this](const mad::Packet& packet, Picoseconds at) {
      if (receiver_) receiver_(packet, instant(at));
    });
    receive_with([this](const mad::Packet& packet, Instant at) { engine.on_packet(packet, at); });
  }
  explicit SimWorld(std::string_view generator, const sim::Options& options = {},
                    const transport::EngineOptions& engine_options = {})
      : SimWorld{*generate(generator), options, engine_options} {}
  ~SimWorld() override { fabric.detach(client_); }
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  void receive_with(Receiver receiver) override { receiver_ = std::move(receiver); }
  Result<void> send(const mad::Packet& packet) override {
    if (on_send) on_send(packet);
    fabric.send(ps(), client_, packet);
    return {};
  }
  [[nodiscard]] transport::LocalPort local() const override {
    const Port& port = fabric.description().port(port_);
    const mad::PortInfo& info = fabric.port_info(port_);
    return {fabric.description().node(port.node).guid, port.guid, port.num, info.lid, info.master_sm_lid};
  }

  Result<void> claim_sm(transport::SmClaim claim) override {
    return fabric.set_is_sm(client_, claim == transport::SmClaim::Hold ? sim::IsSm::Yes : sim::IsSm::No,
                            ps());
  }

  [[nodiscard]] Picoseconds ps() const { return Picoseconds{now.time_since_epoch()}; }
  [[nodiscard]] static Instant instant(Picoseconds at) {
    return Instant{std::chrono::duration_cast<FabricClock::duration>(at)};
  }

  /// Until `done` is true, nothing is left to do, or this much time has passed. True if `done`.
  bool run(const std::function<bool()>& done, FabricClock::duration limit = std::chrono::seconds{100}) {
    const Instant end = now + limit;
    while (!done()) {
      std::optional<Instant> next = engine.next_deadline();
      if (const auto own = next_deadline ? next_deadline() : std::nullopt; own && (!next || *own < *next))
        next = own;
      if (const auto event = fabric.next_event()) {
        // Round up: the fabric counts finer than we do.
        const Instant at = instant(*event + Picoseconds{999});
        if (!next || at < *next) next = at;
      }
      if (!next || *next > end) {
        now = next ? end : now;
        return done();
      }
      now = std::max(now, *next);
      fabric.advance(ps());
      if (const auto deadline = engine.next_deadline(); deadline && *deadline <= now) engine.on_timer(now);
      if (const auto own = next_deadline ? next_deadline() : std::nullopt; own && *own <= now) on_timer(now);
    }
    return true;
  }

  sim::SimulatedFabric fabric;
  Instant now{};
  transport::TransactionEngine engine;
  // Of a state machine under test that has deadlines besides the engine's; both or neither.
  std::function<std::optional<Instant>()> next_deadline;
  std::function<void(Instant)> on_timer;
  std::function<void(const mad::Packet&)> on_send;  ///< if somebody looks on

  [[nodiscard]] PortIndex port() const { return port_; }
  [[nodiscard]] sim::ClientId client() const { return client_; }

 private:
  PortIndex port_ = no_port;
  sim::ClientId client_{0};
  Receiver receiver_;
};

}  // namespace heddle::test
