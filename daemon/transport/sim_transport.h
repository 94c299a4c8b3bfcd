/// A port of a simulated fabric in the same process. The fabric is shared with whoever else sits on it (other
/// transports, a server for foreign programs); somebody has to advance it as time goes by: SimPump in the
/// daemon, the test itself with a manual clock. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "sim/simulated_fabric.h"
#include "transport/transport.h"

namespace heddle::transport {

[[nodiscard]] constexpr Picoseconds to_sim(Instant at) { return at.time_since_epoch(); }
[[nodiscard]] constexpr Instant from_sim(Picoseconds at) {
  return Instant{std::chrono::duration_cast<FabricClock::duration>(at)};
}

class SimTransport final : public Transport {
 public:
  /// Called after each send(): the fabric may have something to deliver.
  using Wake = std::function<void()>;

  /// Sits on a node by name or GUID, or on the first channel adapter (sim::find_host). Fabric and clock must
  /// outlive the transport. Errors: NotFound, Invalid.
  static Result<std::unique_ptr<SimTransport>> open(sim::SimulatedFabric& fabric, const Clock& clock,
                                                    std::string_view node, Wake wake = {});
  ~SimTransport() override;
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;

  void receive_with(Receiver receiver) override { receiver_ = std::move(receiver); }
  Result<void> send(const mad::Packet& packet) override;
  [[nodiscard]] LocalPort local() const override;
  Result<void> claim_sm(SmClaim claim) override {
    return set_is_sm(claim == SmClaim::Hold ? sim::IsSm::Yes : sim::IsSm::No);
  }

  /// Whether this program is a subnet manager: SM and SA requests come here. Errors: Conflict.
  Result<void> set_is_sm(sim::IsSm is_sm);

 private:
  SimTransport(sim::SimulatedFabric& fabric, const Clock& clock, PortIndex port, Wake wake);

  sim::SimulatedFabric& fabric_;
  const Clock& clock_;
  PortIndex port_;
  sim::ClientId client_;
  Wake wake_;
  Receiver receiver_;
};

}  // namespace heddle::transport
