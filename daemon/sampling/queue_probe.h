/// Looks into the transmit queues of chosen ports, by PortSamplesControl and PortSamplesResult (IBA 16.1.3.2,
/// 16.1.3.4): on demand, since each look sets up the port's sampling machine and takes several MADs. Agents
/// need not have it; XmitWait is what always tells of congestion.
///
/// A state machine on the engine's thread. An agent has one sampling machine, so the ports of one switch take
/// their turns; different agents work at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "sampling/pma_agents.h"
#include "transport/transactions.h"

namespace heddle::sampling {

inline constexpr std::size_t data_vl_count = 15;

struct QueueLook {
  PortRef port;
  /// PortXmitQueue of VL 0 to 14, in the agent's units: 64-byte credits.
  std::array<std::uint32_t, data_vl_count> depth{};
  /// Why there is nothing. Unsupported: the agent does not have it; Unreachable; Conflict: busy for others.
  std::optional<Error> failure{};
};

class QueueProbe final : private transport::TransactionClient {
 public:
  using Done = std::function<void(std::vector<QueueLook>)>;

  /// The engine must outlive the probe, or be stopped before.
  explicit QueueProbe(transport::TransactionEngine& engine) : engine_{engine} {}
  QueueProbe(const QueueProbe&) = delete;
  QueueProbe& operator=(const QueueProbe&) = delete;

  /// Samples for `length` at each port; `done` is called once, with one look per port in no special
  /// order; from within only if nothing could be asked.
  /// `ports` of `fabric`, and `agents` for it. Errors: Conflict while another measurement is under way.
  Result<void> look(const Fabric& fabric, const PmaAgents& agents, const std::vector<PortIndex>& ports,
                    FabricClock::duration length, Instant now, Done done);

  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  struct Task {
    PortRef port;
    transport::PmaAddress agent;
    std::uint32_t next = 0;  ///< task that has to wait for this one's agent, or none
    std::uint8_t asked = 0;  ///< times that the result was not there yet
    std::uint16_t tag = 0;
  };
  static constexpr std::uint32_t none = 0xffffffffU;

  void on_completion(const transport::Completion& completion) override;
  void start(std::uint32_t task, Instant now);
  void started(std::uint32_t task, const transport::Completion& completion);
  void ask_result(std::uint32_t task, Instant now);
  void result_came(std::uint32_t task, const transport::Completion& completion);
  void finish(std::uint32_t task, QueueLook look, Instant now);
  void fail(std::uint32_t task, ErrorCode code, std::string why, Instant now);

  transport::TransactionEngine& engine_;
  Done done_;
  std::vector<Task> tasks_;
  std::vector<QueueLook> looks_;
  std::size_t remaining_ = 0;                  ///< tasks without a look
  std::multimap<Instant, std::uint32_t> due_;  ///< tasks whose result should be there by then
  FabricClock::duration length_{};
  std::uint16_t tag_ = 0;
};

}  // namespace heddle::sampling
