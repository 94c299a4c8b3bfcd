/// The agent of one host port: answers the daemon's questions and orders about the host's connections. A
/// state machine without I/O: heddle-agent serves it by umad, the simulated fabric's hosts by simulated MADs.
///
/// What holds:
/// - nothing is answered, and nothing done, but for a request from a LID that is obeyed, sealed with the key,
///   for this port;
/// - an order is obeyed once: its sequence number is above all that were obeyed before, also before the agent
///   started, and is written down first;
/// - an order to move never waits: the answer says how things stand, and the next question what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apm/message.h"
#include "apm/seal.h"
#include "base/ids.h"
#include "base/result.h"
#include "mad/packet.h"

namespace heddle::apm {

/// What an agent needs of its host.
class Host {
 public:
  virtual ~Host() = default;
  /// All but plane, progress, incarnation and order.
  [[nodiscard]] virtual Standing standing() = 0;
  virtual void arm() = 0;
  /// Connections that are not there begin to move; those that are opened later, too.
  virtual void move(unsigned plane) = 0;
  /// On disk, before what it counts is done. Errors: those of the disk.
  [[nodiscard]] virtual Result<void> keep(std::uint64_t sequence) = 0;
};

struct AgentOptions {
  Key key{};
  PortGuid port;
  std::vector<Lid> obeys{};         ///< besides the LID of the port's subnet manager
  std::uint64_t last_sequence = 0;  ///< that an earlier run has kept
  std::uint64_t incarnation = 0;
};

struct AgentStatistics {
  std::uint64_t obeyed = 0;
  std::uint64_t answered = 0;   ///< obeyed ones included
  std::uint64_t strangers = 0;  ///< from a LID that is not obeyed, or for another port
  std::uint64_t unsealed = 0;
  std::uint64_t stale = 0;
  std::uint64_t malformed = 0;
};

class Agent {
 public:
  /// The host must outlive it.
  Agent(AgentOptions options, Host& host) : options_{std::move(options)}, host_{host} {
    last_sequence_ = options_.last_sequence;
  }

  /// The answer; none where nothing is said.
  [[nodiscard]] std::optional<mad::Packet> answer(const mad::Packet& request, Lid sm_lid);
  [[nodiscard]] Standing standing();
  [[nodiscard]] const AgentStatistics& statistics() const { return statistics_; }

 private:
  [[nodiscard]] bool is_for_us(const mad::Packet& request, const Envelope& envelope, Lid sm_lid);
  [[nodiscard]] std::uint16_t carry_out(const mad::Packet& request, const Envelope& envelope);
  [[nodiscard]] Progress progress(const Standing& now) const;

  AgentOptions options_;
  Host& host_;
  std::uint64_t last_sequence_ = 0;
  std::optional<MoveOrder> order_;
  AgentStatistics statistics_;
};

}  // namespace heddle::apm
