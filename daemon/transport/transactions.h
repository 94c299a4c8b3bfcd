/// Requests and their answers over a Transport: many outstanding across the fabric, few per agent, lost ones
/// sent again, silent agents put aside. The heart of speed of discovery, sampling and provisioning.
///
/// A state machine without I/O of its own: MADs come in by on_packet(), time by on_timer(); it sends through
/// Transport::send() only. One thread. Completions are called from on_packet(), on_timer() and stop(), never
/// from within submit(); they may submit again.
///
/// What holds:
/// - every request that submit() took is completed exactly once, also by stop();
/// - requests to one agent go out in the order of their submission, and never delay those to another;
/// - answers are matched by the low 32 bits of the TID, then by class, attribute and modifier;
/// - a dead agent costs its own time-outs: only first attempts count against the window, and once an agent is
///   silent, what waits for it fails at once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "mad/header.h"
#include "mad/packet.h"
#include "transport/transport.h"

namespace heddle::transport {

/// Names who answers, for the cap, the order and the probation. One node may be several agents: its SMA and
/// its PMA fail apart, so use agent_of(NodeGuid) for the one and agent_of(Lid) for the other.
using AgentKey = Id<struct AgentKeyTag, std::uint64_t>;
[[nodiscard]] constexpr AgentKey agent_of(Lid lid) { return AgentKey{lid.raw()}; }
[[nodiscard]] constexpr AgentKey agent_of(NodeGuid guid) { return AgentKey{guid.raw()}; }
/// By its LID: the way there and back is that of the tables, which may have none for an agent that answers by
/// directed route.
[[nodiscard]] constexpr AgentKey agent_by_lid(NodeGuid guid) {
  return AgentKey{guid.raw() * 0xc2b2ae3d27d4eb4fULL + 1};
}
/// Whatever is cabled to this port, while nobody knows what it is.
[[nodiscard]] constexpr AgentKey agent_behind(const PortRef& port) {
  return AgentKey{port.node.raw() * 0x9e3779b97f4a7c15ULL + port.port.raw() + 1};
}

enum class Patience : std::uint8_t {
  Normal,  ///< EngineOptions::attempts
  Brisk,   ///< as many, none longer than the round trips seen make likely: what is missed is asked again soon
  Once,    ///< a single attempt
  Slow,    ///< attempts of four times the time-out, for what takes a device long
};
enum class OnSilence : std::uint8_t {
  FailFast,  ///< an agent on probation is not asked
  Ask,       ///< asked all the same: a check whether it has come back
};

struct Request {
  const mad::Packet& packet;  ///< copied; the TID is the engine's
  AgentKey agent;
  Patience patience = Patience::Normal;
  OnSilence on_silence = OnSilence::FailFast;
};

enum class Outcome : std::uint8_t {
  Answered,     ///< status 0
  Refused,      ///< answered with a status other than 0 (and other than busy, which is asked again)
  TimedOut,     ///< no answer to any attempt
  WrongAnswer,  ///< none that fits: the agent answered with another class, attribute or modifier
  AgentSilent,  ///< not sent: the agent is on probation
  NotSent,      ///< the transport refused it, or its client when its turn came
  Stopped,      ///< stop() came first
};
[[nodiscard]] std::string_view to_string(Outcome outcome);

struct Completion {
  Outcome outcome = Outcome::Stopped;
  std::uint16_t status = 0;              ///< of the answer (mad::status), 0 without one
  std::uint64_t context = 0;             ///< as given to submit()
  const mad::Packet* answer = nullptr;   ///< for Answered and Refused; valid during the call
  const mad::Packet* request = nullptr;  ///< valid during the call
  Instant sent;                          ///< the attempt that was answered, or the last one
  Instant at;                            ///< when it was decided; with an answer, when that arrived
  Instant now;                           ///< for what is submitted from within the call
};

/// Who submits. Must outlive its requests, or stop the engine first.
class TransactionClient {
 public:
  virtual ~TransactionClient() = default;
  virtual void on_completion(const Completion& completion) = 0;
  /// Asked when the request's turn has come, which may be long after submit(): no completes it as NotSent.
  /// What was sent once is sent again without asking. Must not submit.
  [[nodiscard]] virtual bool still_wants(std::uint64_t /*context*/) { return true; }
};

struct EngineOptions {
  using Duration = FabricClock::duration;

  std::uint32_t window = 64;  ///< requests in the fabric at most; adapts below this
  std::uint32_t least_window = 4;
  std::uint32_t per_agent = 4;  ///< requests to one agent at most
  /// The longest wait of one attempt, and the last one's. Earlier attempts wait for what the round trips seen
  /// so far make likely, four times as long each.
  Duration timeout = std::chrono::milliseconds{100};
  Duration least_timeout = std::chrono::milliseconds{1};
  std::uint32_t attempts = 4;      ///< 1..8
  std::uint32_t silent_after = 1;  ///< requests in a row without any answer
  /// How long a silent agent is left alone; doubles each time, up to 16 times this.
  Duration probation = std::chrono::seconds{2};
};

struct TransactionStatistics {
  /// Bucket i counts round trips below 2^i microseconds, the last one the rest.
  static constexpr std::size_t latency_buckets = 22;

  std::uint64_t sent = 0;  ///< MADs, retries included
  std::uint64_t received = 0;
  std::uint64_t answered = 0;  ///< transactions, Refused ones included
  std::uint64_t retries = 0;
  std::uint64_t timeouts = 0;     ///< attempts without an answer in time
  std::uint64_t failed = 0;       ///< transactions: TimedOut and WrongAnswer
  std::uint64_t failed_fast = 0;  ///< transactions: AgentSilent
  std::uint64_t busy = 0;         ///< answers "busy"
  std::uint64_t unmatched = 0;    ///< answers that nobody waits for: late, twice, or foreign
  std::uint64_t wrong = 0;        ///< answers with the right TID and the wrong content
  std::uint64_t unsolicited = 0;  ///< MADs that are no answers
  std::uint64_t send_errors = 0;
  std::array<std::uint64_t, latency_buckets> latency{};
  FabricClock::duration latency_sum{};
};

class TransactionEngine {
 public:
  using Unsolicited = std::function<void(const mad::Packet&, Instant)>;
  using WakeUp = std::function<void(Instant)>;

  /// Requests that may wait at once; beyond this submit() says Refused.
  static constexpr std::uint32_t capacity = (1U << 18U) - 1;

  /// The transport must outlive the engine. Values of `options` out of range are brought into it.
  TransactionEngine(Transport& transport, const EngineOptions& options);
  ~TransactionEngine();
  TransactionEngine(const TransactionEngine&) = delete;
  TransactionEngine& operator=(const TransactionEngine&) = delete;

  /// Traps, SMInfo requests and whatever else is no answer.
  void unsolicited_to(Unsolicited handler);
  /// Answers that nobody waits for: late ones, second ones, foreign ones.
  void unmatched_to(Unsolicited handler);
  /// Called when on_timer() is due earlier than next_deadline() said before.
  void wake_with(WakeUp wake_up);

  /// Errors: Refused after stop() and when `capacity` requests wait. Sends at once if the window is open; for
  /// an even load, submit requests to different agents in turn and keep queued() near the window.
  Result<void> submit(const Request& request, TransactionClient& client, std::uint64_t context, Instant now);
  /// A MAD to which no answer is due: a response, TrapRepress.
  Result<void> send_only(const mad::Packet& packet);

  /// `at` is when it arrived, `now` when it is looked at: later where a thread handed it over.
  void on_packet(const mad::Packet& packet, Instant at, Instant now);
  void on_packet(const mad::Packet& packet, Instant at) { on_packet(packet, at, at); }
  void on_timer(Instant now);
  /// What was sent at `began` left by `now`: whoever sent it stopped the clock meanwhile. It waits for its
  /// answers from here on.
  void sent_by(Instant began, Instant now);
  /// When on_timer() has something to do; nothing while nothing is pending.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// Completes everything with Stopped; nothing is taken any more.
  void stop(Instant now);

  [[nodiscard]] std::size_t pending() const;   ///< taken and not completed
  [[nodiscard]] std::size_t queued() const;    ///< of these, not sent yet
  [[nodiscard]] std::uint32_t window() const;  ///< as it is, between least_window and window
  [[nodiscard]] bool is_silent(AgentKey agent, Instant now) const;
  /// Ends a probation, for whoever knows that the agent is back.
  void forgive(AgentKey agent);
  [[nodiscard]] const TransactionStatistics& statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle::transport
