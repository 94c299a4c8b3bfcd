/// A transport that seals what goes to the agents of hosts (apm/seal.h), and lets nothing in from them that
/// is not sealed. All else goes through as it is. So nobody behind it has the key: not the core, and no
/// recording of it.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "apm/seal.h"
#include "transport/transport.h"

namespace heddle::transport {

class SealedTransport final : public Transport {
 public:
  /// Microseconds since 1970.
  using TimeOfDay = std::function<std::uint64_t()>;

  SealedTransport(Transport& behind, const apm::Key& key, TimeOfDay time_of_day)
      : behind_{behind}, sealer_{key}, time_of_day_{std::move(time_of_day)} {}

  void receive_with(Receiver receiver) override;
  Result<void> send(const mad::Packet& packet) override;
  [[nodiscard]] LocalPort local() const override { return behind_.local(); }
  Result<void> claim_sm(SmClaim claim) override { return behind_.claim_sm(claim); }
  [[nodiscard]] bool segments() const override { return behind_.segments(); }
  Result<void> send_long(const mad::Packet& head, std::span<const std::uint8_t> data) override {
    return behind_.send_long(head, data);
  }
  [[nodiscard]] bool gone() const override { return behind_.gone(); }

  /// Answers in the name of agents that none of them has sealed.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  Transport& behind_;
  apm::Sealer sealer_;
  TimeOfDay time_of_day_;
  std::uint64_t refused_ = 0;
};

}  // namespace heddle::transport
