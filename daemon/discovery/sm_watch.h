/// Who manages the subnet, looked at between sweeps with two MADs: the local port knows where its master is
/// (PortInfo:MasterSMLID, which each new master sets), and the master says who it is (SMInfo). For a daemon
/// that is not the subnet manager itself, and never becomes one by looking.
///
/// Fed by completions of the transaction engine; never blocks. One look at a time.
#pragma once

#include <functional>
#include <optional>

#include "base/ids.h"
#include "mad/attributes.h"
#include "transport/transactions.h"

namespace heddle::discovery {

/// What a look saw. What the master said of itself stays known while it is silent.
struct SmSight {
  Lid lid;               ///< of the master; none: no subnet manager has configured the local port
  bool answers = false;  ///< to SMInfo, and as master
  std::optional<mad::SmInfo> info;
};

enum class SmEvent : std::uint8_t {
  Nothing,
  Appeared,  ///< where there was none, or the first look found none
  Moved,     ///< another one, or the same at another LID
  Silent,    ///< it does not answer any more, or is not master any more, and no other has come
  Back,      ///< it answers again
  Gone,      ///< the local port has no master any more
};
/// What happened between two looks. Pure.
[[nodiscard]] SmEvent compare(const SmSight& before, const SmSight& after);

class SmWatch final : public transport::TransactionClient {
 public:
  using Done = std::function<void(const SmSight& seen, Instant now)>;

  SmWatch(transport::TransactionEngine& engine, std::uint64_t m_key, Done done);

  /// From the local port with this number. Nothing happens while a look is under way.
  void look(PortNum local_port, Instant now);
  void on_completion(const transport::Completion& completion) override;

 private:
  enum class Op : std::uint8_t { LocalPort, Master };

  void ask(Op op, const mad::Packet& packet, transport::AgentKey agent, Instant now);
  void end(Instant now);

  transport::TransactionEngine& engine_;
  std::uint64_t m_key_;
  Done done_;
  bool looking_ = false;
  SmSight seen_;
};

}  // namespace heddle::discovery
