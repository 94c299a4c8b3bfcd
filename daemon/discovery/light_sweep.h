/// Looks whether anything changed: whether every host still answers where it was, whether something has come
/// back behind ports that were silent, what the switches say, and how the own port is: with its cable gone
/// there is nobody else to ask. What it finds are nodes to ask anew.
///
/// A subnet manager asks each switch for its change bit, one MAD a node. Whoever only watches cannot: the
/// subnet manager resets that bit long before. So it asks for the state of every port of every switch, and
/// does that gently: at a pace (pace.h), by LID wherever there is one (a directed route costs every switch on
/// the way), and hosts not at all. Where a LID leads to no answer, one question by route at a time tells
/// whether the switch is there: one that is gone costs the time-out of one. A round may take long; where it
/// finds something it stops to say so, and goes on from there the next time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "mad/survey.h"
#include "transport/pace.h"
#include "transport/transactions.h"

namespace heddle::discovery {

struct Suspicion {
  std::vector<NodeGuid> nodes;  ///< ask these anew
  bool whole = true;            ///< the round has come to its end
  bool lost = false;            ///< the local node does not answer as before: only a full sweep helps
  std::optional<Error> failure;
};

/// What the own port says is heeded once: not while a sweep over all that it led to is awaited.
enum class OwnPort : std::uint8_t { Look, Leave };

enum class LookAt : std::uint8_t {
  ChangeBits,  ///< where nobody else resets them
  EveryPort,
};

class LightSweep final : public transport::TransactionClient {
 public:
  using Done = std::function<void(Suspicion, Instant now)>;

  /// `pace`: of whoever looks at every port; must outlive it.
  LightSweep(transport::TransactionEngine& engine, std::uint64_t m_key, transport::Pace& pace, Done done);

  void start(std::shared_ptr<const Survey> survey, LookAt look_at, OwnPort own_port, Instant now);
  void on_completion(const transport::Completion& completion) override;

  void on_timer(Instant now) { pump(now); }
  /// When the pace allows the next request.
  [[nodiscard]] std::optional<Instant> next_deadline() const { return wake_; }
  /// Ends a round that is paced, which goes on from there the next time: there is something more urgent.
  /// Nothing where none is under way. No done() follows.
  std::optional<Suspicion> interrupt();
  /// How long the last whole round at a pace took.
  [[nodiscard]] std::optional<FabricClock::duration> round() const { return round_; }

 private:
  enum class Op : std::uint8_t { SwitchInfo, Identify, Probe, Port, OwnPort, PortByRoute };
  struct Task {
    Op op = Op::Identify;
    PortNum port;
    NodeIndex node;
  };

  void begin_round(LookAt look_at, Instant now);
  [[nodiscard]] std::optional<Task> next_task(Instant now);
  [[nodiscard]] std::optional<Task> next_port();
  [[nodiscard]] std::optional<PortRef> first_open() const;
  [[nodiscard]] bool may_send(Instant now);
  [[nodiscard]] bool submit(const Task& task, Instant now);
  void pump(Instant now);
  void look_at_own_port(const Task& task, const transport::Completion& completion);
  void look_at_port(const Task& task, const transport::Completion& completion);
  void judge(const Task& task, const transport::Completion& completion);

  transport::TransactionEngine& engine_;
  std::uint64_t m_key_;
  Done done_;
  std::shared_ptr<const Survey> survey_;
  std::uint16_t run_ = 0;
  bool running_ = false;
  std::size_t asked_ = 0;
  bool in_doubt_ = false;  ///< of those, one is a question by route: nothing else is asked before its answer
  std::deque<Task> tasks_;
  Suspicion found_;

  // A round at a pace.
  transport::Pace& pace_;
  bool paced_ = false;  ///< the sweep under way
  bool in_round_ = false;
  std::optional<PortRef> cursor_;  ///< the port that is asked next
  std::uint32_t next_port_ = 0;    ///< the next that is not in `open_`
  std::set<std::uint32_t> open_;   ///< ports of this survey that are to answer, or to be asked again
  std::optional<Instant> wake_;    ///< set while the pace is waited for
  Instant round_began_;
  std::optional<FabricClock::duration> round_;
};

}  // namespace heddle::discovery
