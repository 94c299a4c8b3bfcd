/// A round of questions, a few at a time, at leisure: what readers of one attribute each have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "mad/packet.h"
#include "transport/transactions.h"

namespace heddle::sampling {

class Round final : private transport::TransactionClient {
 public:
  struct Question {
    mad::Packet packet;
    transport::AgentKey agent;
  };
  struct Reader {
    /// The n-th question.
    std::function<Question(std::size_t nth)> ask;
    /// What came of it.
    std::function<void(std::size_t nth, const transport::Completion& completion)> heard;
    /// All have been asked, and heard.
    std::function<void(Instant now)> ended;
  };

  /// `most`: questions at a time. The engine must outlive the round, or be stopped before.
  Round(transport::TransactionEngine& engine, std::size_t most, Reader reader)
      : engine_{engine}, most_{most}, reader_{std::move(reader)} {}
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  [[nodiscard]] bool is_under_way() const { return under_way_; }
  /// Answers to an older one are dropped.
  void begin(std::size_t questions, Instant now) {
    under_way_ = true;
    ++generation_;
    next_ = outstanding_ = 0;
    questions_ = questions;
    go_on(now);
  }
  /// From within heard().
  void add(std::size_t questions) { questions_ += questions; }
  void drop() { under_way_ = false; }

 private:
  void on_completion(const transport::Completion& completion) override {
    if (completion.outcome == transport::Outcome::Stopped || !under_way_) return;
    if (completion.context >> 32U != generation_) return;
    --outstanding_;
    reader_.heard(completion.context & 0xffffffffU, completion);
    go_on(completion.at);
  }
  void go_on(Instant now) {
    while (outstanding_ < most_ && next_ < questions_) {
      const Question question = reader_.ask(next_);
      const std::uint64_t context = std::uint64_t{generation_} << 32U | next_;
      ++next_;
      if (engine_.submit({.packet = question.packet, .agent = question.agent}, *this, context, now))
        ++outstanding_;
    }
    if (!under_way_ || outstanding_ > 0 || next_ < questions_) return;
    under_way_ = false;
    reader_.ended(now);
  }

  transport::TransactionEngine& engine_;
  std::size_t most_;
  Reader reader_;
  std::size_t questions_ = 0;
  std::size_t next_ = 0;
  std::size_t outstanding_ = 0;
  std::uint32_t generation_ = 0;
  bool under_way_ = false;
};

}  // namespace heddle::sampling
