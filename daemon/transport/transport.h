/// The way into a fabric, real or simulated: MADs out, MADs in. One port of one node; the daemon has one open
/// at a time. Everything runs on the daemon's io_context thread; an implementation that receives elsewhere
/// hands over first.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "mad/packet.h"

namespace heddle::transport {

/// The fabric's clock: real and monotonic on hardware, simulated (and perhaps scaled) in the simulator. All
/// time in the daemon is this time, so that rates and time-outs mean the same on both.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  /// Fabric seconds per real second, to set a real timer by.
  [[nodiscard]] virtual double scale() const { return 1; }
};

struct LocalPort {
  NodeGuid node;
  PortGuid guid;
  PortNum port;
  Lid lid;     ///< none before a subnet manager has been here
  Lid sm_lid;  ///< of the master that configured the port
};

/// Whether a program holds the IsSM bit of its port (IBA 14.2.5.6, CapabilityMask).
enum class SmClaim : std::uint8_t { Release, Hold };

class Transport {
 public:
  /// Called once per MAD that comes in, with the fabric's time at which it arrived. Never from within send().
  using Receiver = std::function<void(const mad::Packet&, Instant)>;

  virtual ~Transport() = default;

  virtual void receive_with(Receiver receiver) = 0;
  /// Hands one MAD over. Never blocks. The low 32 bits of the TID come back in the answer, the upper half may
  /// not. Errors: Io when the device refuses it, Refused in read-only mode for a method other than Get.
  virtual Result<void> send(const mad::Packet& packet) = 0;
  /// Asked anew each time: the LID changes when a subnet manager says so. Never blocks.
  [[nodiscard]] virtual LocalPort local() const = 0;
  /// Says of the port that a subnet manager is there, or no longer. Errors: Conflict where another program
  /// says so. A transport without a say does nothing.
  virtual Result<void> claim_sm(SmClaim /*claim*/) { return {}; }
  /// Whether long answers (RMPP, IBA 13.6) are cut into segments, and these sent again, by who carries them.
  [[nodiscard]] virtual bool segments() const { return false; }
  /// An answer of the subnet administration of any length: `head` up to its data, and then these. Only with
  /// segments(). Never blocks. Errors: as of send().
  virtual Result<void> send_long(const mad::Packet& /*head*/, std::span<const std::uint8_t> /*data*/) {
    return fail(ErrorCode::Unsupported, "answers in segments are not carried here");
  }
  /// The device went away under it: nothing goes in or out any more, and only opening it anew helps.
  [[nodiscard]] virtual bool gone() const { return false; }
};

}  // namespace heddle::transport
