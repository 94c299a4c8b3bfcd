/// Looks whether anything changed: whether every host still answers where it was, whether something has come
/// back behind ports that were silent, and what the switches say. What it finds are nodes to ask anew.
///
/// A subnet manager asks each switch for its change bit, one MAD a node. Whoever only watches cannot: the
/// subnet manager resets that bit long before. So it asks for the state of every port of every switch.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "mad/survey.h"
#include "transport/transactions.h"

namespace heddle::discovery {

struct Suspicion {
  std::vector<NodeGuid> nodes;  ///< ask these anew
  bool lost = false;            ///< the local node does not answer as before: only a full sweep helps
  std::optional<Error> failure;
};

enum class LookAt : std::uint8_t {
  ChangeBits,  ///< where nobody else resets them
  EveryPort,
};

class LightSweep final : public transport::TransactionClient {
 public:
  using Done = std::function<void(Suspicion, Instant now)>;

  LightSweep(transport::TransactionEngine& engine, std::uint64_t m_key, Done done);

  void start(std::shared_ptr<const Survey> survey, LookAt look_at, Instant now);
  void on_completion(const transport::Completion& completion) override;

 private:
  enum class Op : std::uint8_t { SwitchInfo, Identify, Probe, Port };
  struct Task {
    Op op = Op::Identify;
    PortNum port;
    NodeIndex node;
  };

  void pump(Instant now);
  void look_at_port(const Task& task, const transport::Completion& completion);
  void judge(const Task& task, const transport::Completion& completion);

  transport::TransactionEngine& engine_;
  std::uint64_t m_key_;
  Done done_;
  std::shared_ptr<const Survey> survey_;
  std::uint16_t run_ = 0;
  bool running_ = false;
  std::size_t asked_ = 0;
  std::deque<Task> tasks_;
  Suspicion found_;
};

}  // namespace heddle::discovery
