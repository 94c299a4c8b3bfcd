#include "routing/lid_stages.h"

#include <algorithm>

namespace heddle::routing {
namespace {

using Way = LidChange::Way;

class StageNumbers {
 public:
  StageNumbers(const Ranks& ranks, const LidChange& change, std::vector<std::uint32_t>& stage)
      : ranks_{ranks}, change_{change}, stage_{stage} {}

  std::size_t number() {
    std::vector<std::uint32_t> upwards;
    for (const SwitchIndex s : ranks_.order()) upwards.push_back(s.raw());
    std::reverse(upwards.begin(), upwards.end());

    // Packets go up before they go down: what a way down needs is lower, what a way up needs is higher.
    std::size_t gained = 0;
    const auto gain_after_next = [&](std::uint32_t s) {
      const std::uint32_t next = change_.after[s].next;
      stage_[s] = next != LidChange::nowhere && change_.gains(next) ? stage_[next] + 1 : 0;
      gained = std::max<std::size_t>(gained, stage_[s] + 1);
    };
    for (const std::uint32_t s : upwards) {
      if (change_.gains(s) && change_.after[s].way == Way::Down) gain_after_next(s);
    }
    // Whose packets died further down must not send them there any more when they would turn up again.
    std::vector<std::uint32_t> after_senders(change_.any_broken ? change_.before.size() : 0, 0);
    for (auto it = upwards.rbegin(); it != upwards.rend(); ++it) {
      const std::uint32_t s = *it;
      if (change_.gains(s) && change_.after[s].way == Way::Up) {
        gain_after_next(s);
      } else if (change_.is_broken(s) && change_.after[s].way == Way::None) {
        stage_[s] = 0;
      }
      // Also where a switch has no entry yet: what is sent there dies there, and must not turn up again.
      if (change_.any_broken && change_.gains(s) && change_.after[s].way == Way::Up) {
        stage_[s] = std::max(stage_[s], after_senders[s]);
        gained = std::max<std::size_t>(gained, stage_[s] + 1);
      }
      if (!change_.is_broken(s)) continue;
      if (change_.after[s].way == Way::None) stage_[s] = std::max(stage_[s], after_senders[s]);
      gained = std::max<std::size_t>(gained, stage_[s] + 1);
      if (const std::uint32_t next = change_.died_to[s]; next != LidChange::nowhere)
        after_senders[next] = std::max(after_senders[next], stage_[s] + 1);
    }
    if (change_.any_broken) gained = std::max(gained, number_mends(after_senders));

    std::size_t kept = 0;
    for (const std::uint32_t s : change_.changed) {
      if (change_.gains(s) || change_.loses(s) || change_.is_broken(s)) continue;
      stage_[s] = static_cast<std::uint32_t>(gained);
      kept = 1;
    }

    // A switch loses its way when those that sent packets there have lost theirs.
    const auto first = static_cast<std::uint32_t>(gained + kept);
    std::size_t all = gained + kept;
    std::vector<std::uint32_t> earliest(change_.before.size(), first);
    const auto lose = [&](std::uint32_t s) {
      stage_[s] = earliest[s];
      all = std::max<std::size_t>(all, stage_[s] + 1);
      const std::uint32_t next = change_.before[s].next;
      if (next != LidChange::nowhere) earliest[next] = std::max(earliest[next], stage_[s] + 1);
    };
    for (const std::uint32_t s : upwards) {
      if (change_.loses(s) && change_.before[s].way == Way::Up) lose(s);
    }
    for (auto it = upwards.rbegin(); it != upwards.rend(); ++it) {
      if (change_.loses(*it) && change_.before[*it].way == Way::Down) lose(*it);
    }
    return all;
  }

 private:
  /// Mends turn packets up, too: whoever gains one comes after those whose packets died there, and after what
  /// it leads to, unless the two would wait for one another. How many stages that takes.
  std::size_t number_mends(const std::vector<std::uint32_t>& after_senders) {
    const std::vector<std::uint32_t> first = stage_;
    for (const bool after_next : {true, false}) {
      stage_ = first;
      if (raise_mends(after_next, after_senders)) break;
    }
    std::size_t count = 0;
    for (const std::uint32_t s : change_.changed) {
      if (change_.gains(s)) count = std::max<std::size_t>(count, stage_[s] + 1);
    }
    return count;
  }
  /// False where that has no end.
  bool raise_mends(bool after_next, std::vector<std::uint32_t> after_senders) {
    bool more = true;
    for (std::size_t round = 0; more && round <= change_.before.size(); ++round) {
      more = false;
      for (const std::uint32_t s : change_.changed) {
        if (!change_.gains(s) || (change_.after[s].way != Way::Mended && change_.after[s].way != Way::Up))
          continue;
        std::uint32_t stage = std::max(stage_[s], after_senders[s]);
        const std::uint32_t next = change_.after[s].next;
        if (after_next && change_.after[s].way == Way::Mended && change_.gains(next))
          stage = std::max(stage, stage_[next] + 1);
        more = more || stage != stage_[s];
        stage_[s] = stage;
        if (const std::uint32_t died_to = change_.died_to[s];
            change_.is_broken(s) && died_to != LidChange::nowhere)
          after_senders[died_to] = std::max(after_senders[died_to], stage + 1);
      }
    }
    return !more;
  }

  const Ranks& ranks_;
  const LidChange& change_;
  std::vector<std::uint32_t>& stage_;
};

}  // namespace

std::size_t number_stages(const Ranks& ranks, const LidChange& change, std::vector<std::uint32_t>& stage) {
  return StageNumbers(ranks, change, stage).number();
}

}  // namespace heddle::routing
