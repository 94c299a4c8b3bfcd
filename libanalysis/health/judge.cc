#include "health/judge.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "health/error_rules.h"
#include "health/peers.h"
#include "health/standing.h"

namespace heddle::health {
namespace {

/// Samples may come every second; what they add up to is looked at no more often than this.
constexpr FabricClock::duration pace = std::chrono::seconds{10};
/// A link that fell is told of when sweeps have had the time to see whether somebody wanted it so.
constexpr FabricClock::duration until_sweeps_have_seen = std::chrono::seconds{30};

std::vector<Finding> found_twice(const std::vector<Duplicate>& duplicates) {
  std::vector<Finding> found;
  for (const Duplicate& duplicate : duplicates) {
    Finding finding;
    finding.rule = duplicate.rule;
    finding.sureness = Sureness::Sure;
    finding.at = duplicate.at;
    finding.what = duplicate.what;
    finding.advice =
        duplicate.rule == Rule::DuplicateGuid
            ? "one of the two is left out: give it a GUID of its own, or see whether a cable was "
              "moved while the sweep went on"
            : "packets reach one of the two only: have one subnet manager give LIDs, and the other "
              "node's port down and up";
    found.push_back(std::move(finding));
  }
  return found;
}

/// What could not be corrected is counted as symbol errors, too.
void drop_what_is_told_better(std::vector<Finding>& findings) {
  std::set<PortRef> told;
  for (const Finding& finding : findings) {
    if (finding.rule == Rule::EffectiveBer) told.insert(finding.at);
  }
  if (told.empty()) return;
  std::erase_if(findings, [&](const Finding& finding) {
    return finding.rule == Rule::SymbolErrors && told.contains(finding.at);
  });
}

}  // namespace

Judge::Judge(const Options& options)
    : options_{options},
      growth_{options.window, options.long_window},
      drops_{options.window},
      traffic_{options},
      receivers_{options},
      bit_errors_{options} {}

void Judge::will(std::set<LinkRef> links) {
  if (links == drops_.willed()) return;
  drops_.will(std::move(links));
  standing_is_stale_ = true;
}

void Judge::on_survey(std::shared_ptr<const Survey> survey, std::vector<Duplicate> duplicates, Instant now) {
  if (survey_ && survey_->fabric != survey->fabric) drops_.on_fabric(*survey_->fabric, *survey->fabric, now);
  survey_ = std::move(survey);
  duplicates_ = std::move(duplicates);
  growth_.prepare(survey_->fabric);
  traffic_.prepare(survey_->fabric);
  receivers_.prepare(survey_->fabric);
  look_at_survey();
  if (sampled_) judge(now);
}

void Judge::on_sample(const load::Sample& sample) {
  growth_.read(sample);
  traffic_.on_sample(sample);
  receivers_.on_sample(sample);
  const bool first = sampled_ == nullptr;
  sampled_ = sample.fabric;
  if (survey_ && (first || sample.ended - judged_at_ >= pace)) judge(sample.ended);
}

void Judge::on_firmware(std::shared_ptr<const Firmwares> firmware) {
  firmware_ = std::move(firmware);
  standing_is_stale_ = true;
}

bool Judge::on_routes(std::vector<Finding> refuted) {
  std::set<PortRef> before;
  for (const Finding& finding : refuted_lately_) before.insert(finding.at);
  // Tables are changed while they are read: what is half written is another thing the next time.
  refuted_.clear();
  std::ranges::copy_if(refuted, std::back_inserter(refuted_),
                       [&](const Finding& finding) { return before.contains(finding.at); });
  refuted_lately_ = std::move(refuted);
  return refuted_.size() < refuted_lately_.size();
}

std::set<PortRef> Judge::unexplained() const {
  std::set<PortRef> ports;
  if (!report_) return ports;
  for (const Finding& finding : report_->findings) {
    if (finding.rule == Rule::ReceiveErrors || finding.rule == Rule::XmitDiscards) ports.insert(finding.at);
  }
  return ports;
}

void Judge::look_at_survey() {
  standing_is_stale_ = false;
  standing_ = judge_standing(*survey_, drops_.willed());
  std::ranges::move(judge_peers(*survey_, *firmware_), std::back_inserter(standing_));
  std::ranges::move(found_twice(duplicates_), std::back_inserter(standing_));
  const auto is_cabled = [](const Port& port) { return port.link != no_link; };
  cabled_ = static_cast<std::size_t>(std::ranges::count_if(survey_->fabric->ports(), is_cabled));
}

void Judge::judge(Instant now) {
  if (standing_is_stale_) look_at_survey();
  judged_at_ = now;
  drops_.settle(growth_, now);
  const Fabric& fabric = *survey_->fabric;
  auto report = std::make_shared<Report>();
  report->at = now;
  report->ports = cabled_;
  const auto append = [&](std::vector<Finding> more) {
    std::ranges::move(more, std::back_inserter(report->findings));
  };
  append(standing_);
  append(refuted_);
  append(judge_errors(fabric, growth_, drops_, details_, options_));
  append(traffic_.findings());
  append(receivers_.findings());
  append(bit_errors_.findings());
  drop_what_is_told_better(report->findings);
  std::erase_if(report->findings,
                [&](const Finding& finding) { return options_.off.contains(finding.rule); });

  std::map<std::pair<Rule, PortRef>, Instant> since;
  for (Finding& finding : report->findings) {
    const auto key = std::pair{finding.rule, finding.at};
    const auto before = since_.find(key);
    finding.since = before == since_.end() ? now : before->second;
    since.emplace(key, finding.since);
  }
  since_ = std::move(since);
  std::erase_if(report->findings, [&](const Finding& finding) {
    return finding.rule == Rule::LinkDowned && now - finding.since < until_sweeps_have_seen;
  });
  std::ranges::sort(report->findings, {}, [](const Finding& finding) {
    return std::tuple{finding.sureness, finding.rule, finding.at};
  });
  report_ = std::move(report);
}

}  // namespace heddle::health
