/// A transport through which nothing goes that could change a fabric, while somebody says that it must not:
/// asked before each MAD, as late as it can be. Questions (Get) always go.
#pragma once

#include <functional>
#include <utility>

#include "transport/transport.h"

namespace heddle::transport {

class FencedTransport final : public Transport {
 public:
  using MayWrite = std::function<bool()>;
  FencedTransport(Transport& behind, MayWrite may_write)
      : behind_{behind}, may_write_{std::move(may_write)} {}

  void receive_with(Receiver receiver) override { behind_.receive_with(std::move(receiver)); }
  /// Errors: Refused, besides those of the transport behind.
  Result<void> send(const mad::Packet& packet) override;
  [[nodiscard]] LocalPort local() const override { return behind_.local(); }
  /// Letting go is always allowed.
  Result<void> claim_sm(SmClaim claim) override;
  [[nodiscard]] bool segments() const override { return behind_.segments(); }
  Result<void> send_long(const mad::Packet& head, std::span<const std::uint8_t> data) override;
  [[nodiscard]] bool gone() const override { return behind_.gone(); }

 private:
  Transport& behind_;
  MayWrite may_write_;
};

}  // namespace heddle::transport
