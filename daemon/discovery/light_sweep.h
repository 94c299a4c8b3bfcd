/// Looks whether anything changed, at one MAD a node: the change bit of every switch, whether every host
/// still answers where it was, and whether something has come back behind ports that were silent. What it
/// finds are nodes to ask anew.
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

class LightSweep final : public transport::TransactionClient {
 public:
  using Done = std::function<void(Suspicion, Instant now)>;

  LightSweep(transport::TransactionEngine& engine, std::uint64_t m_key, Done done);

  void start(std::shared_ptr<const Survey> survey, Instant now);
  void on_completion(const transport::Completion& completion) override;

 private:
  enum class Op : std::uint8_t { SwitchInfo, Identify, Probe };
  struct Task {
    Op op = Op::Identify;
    PortNum port;
    NodeIndex node;
  };

  void pump(Instant now);
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
