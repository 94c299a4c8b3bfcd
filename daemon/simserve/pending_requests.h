/// What a client has asked and not been answered yet. The shim hands no time-outs and no number of retries
/// over, but programs rely on the kernel's: it asks again, and in the end gives the request back with
/// ETIMEDOUT. So does this, but for a program that repeats by itself: whoever asks the same of the same agent
/// once more, in another transaction, is left to it; whoever does so with a Set in the very next transaction,
/// while nobody has answered, is left to it from then on. A copy of this program's making would come late,
/// and undo what the client has written since.
#pragma once

#include <chrono>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simserve/wire.h"

namespace heddle::simserve {

class PendingRequests {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// OpenSM's own figures for what it has the kernel do: 200 ms, three retries.
  static constexpr std::chrono::milliseconds agent_timeout{200};
  static constexpr int agent_attempts = 4;
  /// Of requests to other programs (subnet administration): those take their time.
  static constexpr std::chrono::seconds program_timeout{20};
  /// A Set of the same content this soon after the answer was sent before that came: it is a repetition, too.
  static constexpr std::chrono::milliseconds answer_way{20};
  /// More than any program has outstanding; a flood is not remembered beyond it.
  static constexpr std::size_t capacity = 65536;

  /// Forgets nothing that is no request (responses, traps, sends).
  void sent(const PacketMessage& request, TimePoint now);
  void answered(const PacketMessage& answer, TimePoint now);

  struct Due {
    std::vector<PacketMessage> again;  ///< to be sent once more
    std::vector<PacketMessage> lost;   ///< to be given back
  };
  [[nodiscard]] Due due(TimePoint now);
  [[nodiscard]] bool empty() const { return requests_.empty(); }

 private:
  struct Request {
    PacketMessage message;
    int attempts_left = 0;
    std::uint64_t serial = 0;  ///< of its entry in a queue; an older entry is void
    std::uint64_t content = 0;
  };
  struct Entry {
    TimePoint at;
    std::uint64_t key = 0;
    std::uint64_t serial = 0;
  };

  void enqueue(std::uint64_t key, Request& request, TimePoint now);
  void forget(std::uint64_t key);
  void note_repetition(std::uint64_t key, Request& request);
  [[nodiscard]] bool is_just_answered(std::uint64_t content, TimePoint now);

  std::unordered_map<std::uint64_t, Request> requests_;
  std::unordered_map<std::uint64_t, std::uint64_t> by_content_;  ///< key of the latest request
  std::unordered_map<std::uint64_t, TimePoint> answered_sets_;   ///< by content; none older than answer_way
  std::deque<std::pair<TimePoint, std::uint64_t>> answered_order_;
  std::deque<Entry> to_agents_;
  std::deque<Entry> to_programs_;
  std::uint64_t next_serial_ = 1;
  bool repeats_by_itself_ = false;
};

}  // namespace heddle::simserve
