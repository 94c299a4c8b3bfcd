/// Large answers: each is made once per sample for all who ask for it, on another thread and from immutable
/// things, and shared by those who take it. What they hold altogether is bounded by twice the largest: when
/// that is reached, answers of earlier samples are withdrawn from those who still take them, or given to
/// newcomers as well. /metrics has a lane of its own, so that no number of other questions delays it. Where
/// one is there uncompressed, a compressed one is made of it. What somebody asks for at a steady pace is made
/// before the next time, from the sample before that or the one before it: so a scraper waits for nothing.
///
/// One thread, that of the daemon; only what makes an answer runs elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "control/http.h"
#include "control/shared_body.h"

namespace heddle::control {

/// What-ifs take seconds: nobody else waits for them.
enum class Lane : std::uint8_t { Metrics, Views, WhatIf };
inline constexpr std::size_t lanes = 3;

struct AnswerLimits {
  /// Answers that wait to be made for those who may only read; beyond it they are told to ask again.
  std::size_t waiting = 8;
  /// As many for those who may change things.
  std::size_t waiting_for_changers = 64;
  /// Bodies alive may have so many bytes in any case, and twice the largest where that is more.
  std::size_t least_bytes = 32U << 20U;
  /// A body is not withdrawn earlier than this after it was made.
  std::chrono::seconds grace{10};
  /// What is expected to be asked for is not begun earlier than this and a sample before that.
  std::chrono::seconds longest_lead{5};
};

class Answers {
 public:
  /// Writes the body; on another thread. Errors: answered to all who wait.
  using Make = std::function<Result<void>(BodyWriter& out)>;
  /// Runs `job` elsewhere, one of a lane after the other.
  using Elsewhere = std::function<void(Lane lane, std::function<void()> job)>;
  /// Runs a function on the daemon's thread; called from elsewhere.
  using Back = std::function<void(std::function<void()>)>;
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  struct Order {
    std::string key;  ///< same key and encoding, same sample: same answer
    Encoding encoding = Encoding::Plain;
    Lane lane = Lane::Views;
    Access access = Access::Read;
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers{};
    Make make;
    /// Who asks, and how the same is made of a later sample, on the daemon's thread, while there are Answers.
    /// None, or not compressed: it is made only when somebody asks.
    Peer peer{};
    std::function<Make()> again{};
  };

  Answers(Elsewhere elsewhere, Back back, Clock clock = std::chrono::steady_clock::now,
          AnswerLimits limits = {});
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  /// Answers once, perhaps from within.
  void serve(Order order, Respond respond);
  /// What has been made is not the latest any more.
  void outdate();
  /// There is a new sample: outdates what was made, and makes what will soon be asked for.
  void sampled();

  /// Bytes of all bodies that are alive.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// For what this request asks for: same path, query and encoding, same answer.
[[nodiscard]] Answers::Order order_for(const Request& request, Answers::Make make);

}  // namespace heddle::control
