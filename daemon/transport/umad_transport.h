/// A port of this host, through libibumad: hardware, or ibsim's shim. A thread of its own receives, because
/// the shim's descriptors work with poll only, and hands the MADs over to the io_context; everything else is
/// on the io_context's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "transport/transport.h"
#include "transport/umad_port.h"

namespace boost::asio {
class io_context;
}

namespace heddle::transport {

enum class Access : std::uint8_t {
  Read,   ///< only Get goes out
  Write,  ///< everything goes out; what was not asked for comes in while claim_sm() holds, and not otherwise
};

struct UmadOptions {
  Access access = Access::Read;
  /// Of GMPs that name none; nothing: that of the default partition.
  std::optional<std::uint16_t> pkey_index = std::nullopt;
  /// How long whoever sends waits for the answer to one request: what the kernel forgets earlier could come
  /// in too late for no reason.
  std::chrono::milliseconds patience{0};
  /// Whether the agents of hosts are spoken with (libanalysis/apm), too.
  bool speaks_with_agents = false;
};

/// How long the kernel keeps a request in mind: longer than the answer of a slow one is waited for, so that
/// late ones are still counted, and 2 s at least.
[[nodiscard]] std::chrono::milliseconds kernel_timeout(std::chrono::milliseconds patience);

struct UmadStatistics {
  std::uint64_t wrong_length = 0;  ///< MADs that came in with another length than 256
  std::uint64_t gave_up = 0;       ///< requests that the kernel handed back without an answer
};

class UmadTransport final : public Transport {
 public:
  /// Takes nothing that another program of this host may need. Errors: Io when the port cannot be opened
  /// (permissions, driver).
  static Result<std::unique_ptr<UmadTransport>> open(boost::asio::io_context& io, const Clock& clock,
                                                     const UmadPort& port, const UmadOptions& options);
  ~UmadTransport() override;
  UmadTransport(const UmadTransport&) = delete;
  UmadTransport& operator=(const UmadTransport&) = delete;

  void receive_with(Receiver receiver) override;
  Result<void> send(const mad::Packet& packet) override;
  [[nodiscard]] LocalPort local() const override;

  /// Holding: what a subnet manager is asked and told comes here, of which a port has one owner (the kernel
  /// keeps one agent for each class and method), and the port says IsSM. Errors: Conflict where another
  /// program of this host has either; then this one has neither.
  Result<void> claim_sm(SmClaim claim) override;
  [[nodiscard]] bool segments() const override;
  Result<void> send_long(const mad::Packet& head, std::span<const std::uint8_t> data) override;
  [[nodiscard]] bool gone() const override;
  [[nodiscard]] UmadStatistics statistics() const;
  /// No handler follows.
  void stop();

 private:
  struct State;
  explicit UmadTransport(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace heddle::transport
