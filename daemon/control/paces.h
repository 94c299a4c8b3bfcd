/// Who asks for the same answer at a steady pace, as a scraper does, and when the next time is: so an answer
/// that takes long to make can be there before it is asked for. Pure; one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "control/visitors.h"

namespace heddle::control {

/// A newcomer is taken for a scraper with the usual pace, then for one with the pace of its only gap; from
/// the third time on only two like gaps make a pace.
class Paces {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::steady_clock::duration;

  /// What most scrape configurations have; whoever asks every 30 or 60 s costs one answer more, once.
  static constexpr std::chrono::seconds usual{15};

  /// `most`: of so many who ask something is remembered.
  explicit Paces(std::size_t most = 1024) : most_{most} {}

  void asked(const std::string& key, const Peer& peer, Time at);

  struct Due {
    std::string key;
    Time until;  ///< it will have been asked for by then, or not at all
  };
  /// What will be asked for between `from` and `by`; nothing is said twice, and a key once.
  [[nodiscard]] std::vector<Due> due(Time from, Time by);

 private:
  struct Pace {
    Time last;
    Span gap{};         ///< between the last two; at the first time, what it is taken for
    bool seen = false;  ///< whether there have been two
    bool next = false;  ///< somebody is expected `gap` after `last`, and due() has not said so
  };
  void make_room();

  std::size_t most_;
  std::map<std::pair<std::string, Peer>, Pace> paces_;
};

}  // namespace heddle::control
