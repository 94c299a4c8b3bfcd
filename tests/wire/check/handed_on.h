/// Until when what a program sent has been handed on by the server, which hands it on in its order: no later
/// than an answer came to something that was asked after it.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "check/recording.h"

namespace wire {

class HandedOn {
 public:
  void answered(int process, Time asked, Time now) {
    auto& known = answers_[process];
    // Answers come in the order of time: what was asked before another one that is known says nothing new.
    if (known.empty() || known.back().asked < asked) known.push_back({asked, now});
  }
  /// 0: nobody knows.
  [[nodiscard]] Time by(int process, Time sent) const {
    const auto known = answers_.find(process);
    if (known == answers_.end()) return 0;
    const auto later = std::upper_bound(known->second.begin(), known->second.end(), sent,
                                        [](Time time, const Answer& each) { return time < each.asked; });
    return later == known->second.end() ? 0 : later->now;
  }

 private:
  struct Answer {
    Time asked;
    Time now;
  };
  std::map<int, std::vector<Answer>> answers_;
};

}  // namespace wire
