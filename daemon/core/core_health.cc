// What becomes of health's findings.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "core/fabric_core.h"
#include "health/route_rules.h"

namespace heddle::core {
namespace {

/// Tables that are refuted are read once more so soon: they may have been in the midst of a change, and
/// OpenSM takes its time for a large fabric.
constexpr FabricClock::duration look_again_after = std::chrono::seconds{30};
/// And then so often: somebody mends them.
constexpr FabricClock::duration look_at_refuted_every = std::chrono::minutes{1};

/// Who orders links off that are bad, in the journal and in events.
constexpr std::string_view isolator = "health";

}  // namespace

/// After each sweep of the counters. What the regulation turned off or reduced is no fault.
void FabricCore::judge_health(const load::Sample& sample) {
  health_.will(regulation_ ? off_on_purpose(regulation_->regulator().governor().memory())
                           : std::set<LinkRef>{});
  health_.on_sample(sample);
}

/// To their subnet manager switches say themselves that a link has gone. A guest's next round over all ports
/// may be minutes away; the counters of both ends have told it by now.
void FabricCore::look_at_downed() {
  if (authority_->owns_fabric() || health_.downed().empty()) return;
  std::set<NodeGuid> nodes;
  for (const PortRef& port : health_.downed()) nodes.insert(port.node);
  discovery_.rediscover(std::vector<NodeGuid>(nodes.begin(), nodes.end()), now_);
}

/// Once for each report. Its orders are wishes like an operator's: the governor has them in its journal, and
/// refuses what would cut hosts off.
void FabricCore::isolate() {
  if (!regulation_ || !survey_ || health_.report() == isolated_by_) return;
  isolated_by_ = health_.report();
  regulate::Regulator& regulator = regulation_->regulator();
  health::Isolation::Wishes wishes;
  for (const auto& [link, wish] : regulator.governor().memory().overrides) {
    wishes.all.insert(link);
    if (wish.wish == regulation::Wish::Off && wish.by == isolator) ++wishes.ours;
  }
  to_isolate_ = isolation_.decide(*isolated_by_, *survey_->fabric, wishes, now_);
  if (options_.isolation.mode != health::Isolate::Enforce || authority_->yields()) return;
  for (const health::IsolationOrder& order : to_isolate_) {
    isolation_.given(order, now_);
    regulator.set_override(
        order.link, {regulation::Wish::Off, order.reason, std::string(isolator), order.until},
        regulation::Force::No, now_, [this, order](const Result<std::string>& done) {
          if (done) return;
          isolation_.refused(order, now_);
          say(Severity::Warning,
              fmt::format("a bad link stays ({}): {}", order.reason, done.error().message));
        });
  }
}

void FabricCore::look_at_cables() {
  if (!regulation_ || !survey_) return;
  const regulation::Governor& governor = regulation_->regulator().governor();
  cabling_.look(desk_, governor.memory(), governor.reference(), survey_->fabric);
}

std::shared_ptr<const CablingFound> FabricCore::cabling() const {
  return regulation_ ? cabling_.found(regulation_->regulator().governor().memory()) : nullptr;
}

/// Proved where it keeps nobody waiting. What is not whole is not judged, nor is what was judged already.
void FabricCore::on_tables(const std::shared_ptr<const discovery::TablesRead>& read) {
  if (!read->unread.empty()) return;
  if (proved_ && proved_->tables->before == read->before && proved_->tables->fabric == read->fabric &&
      proved_->tables->tables == read->tables) {
    return judge_routes(proved_->refuted);
  }
  const auto proved = std::make_shared<Proved>();
  proved->tables = read;
  desk_.run(
      [proved, read] { proved->refuted = health::judge_routes(*read->fabric, *read->before, read->tables); },
      [this, proved] {
        proved_ = proved;
        judge_routes(proved->refuted);
      });
}

void FabricCore::judge_routes(const std::vector<health::Finding>& refuted) {
  const bool surprises = health_.on_routes(refuted);
  if (!refuted.empty()) tables_.hurry(now_ + (surprises ? look_again_after : look_at_refuted_every));
}

std::vector<health::IsolationOrder> FabricCore::isolated() const {
  std::vector<health::IsolationOrder> links;
  if (!regulation_) return links;
  for (const auto& [link, wish] : regulator()->governor().memory().overrides) {
    if (wish.wish == regulation::Wish::Off && wish.by == isolator && wish.until) {
      links.push_back({link, *wish.until, wish.reason});
    }
  }
  std::ranges::sort(links, {}, &health::IsolationOrder::link);
  return links;
}

}  // namespace heddle::core
