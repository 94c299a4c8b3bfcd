/// Judges the fabric's health: told of surveys and samples, it keeps what must be remembered between them,
/// and publishes a Report. Decides by rules (standing.h, error_rules.h, traffic_watch.h) and options alone;
/// time comes in with what it is told. One thread; Reports may go anywhere.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "health/bit_errors.h"
#include "health/drop_watch.h"
#include "health/error_details.h"
#include "health/finding.h"
#include "health/growth.h"
#include "health/options.h"
#include "health/peers.h"
#include "health/receiver_watch.h"
#include "health/traffic_watch.h"
#include "load/sample.h"
#include "mad/survey.h"

namespace heddle::health {

/// What a sweep met twice, and left out.
struct Duplicate {
  Rule rule = Rule::DuplicateGuid;  ///< or DuplicateLid
  PortRef at;
  std::string what;  ///< printable
};

class Judge {
 public:
  explicit Judge(const Options& options = {});

  /// Links that somebody keeps off or reduced on purpose: that they are is no fault of theirs.
  void will(std::set<LinkRef> links);
  void on_survey(std::shared_ptr<const Survey> survey, std::vector<Duplicate> duplicates, Instant now);
  void on_sample(const load::Sample& sample);
  /// Of the physical layers; judged with the next sample.
  void on_round(const PhyRound& round) { bit_errors_.on_round(round); }

  /// Why packets were lost at the ports that unexplained() names; judged with the next sample.
  void on_details(const DetailRound& round) { details_.on_round(round); }
  /// Of all devices that have said what they run; judged with the next report.
  void on_firmware(std::shared_ptr<const Firmwares> firmware);
  /// Of the tables in force (route_rules.h), as they were read back once more; what was refuted both times is
  /// told with the next report. Whether something was refuted that was not the time before: a reason to read
  /// them again soon.
  bool on_routes(std::vector<Finding> refuted);
  /// Ports that a rule tells of whose findings would be better for more details.
  [[nodiscard]] std::set<PortRef> unexplained() const;

  /// Ports whose link went down between the last two readings of their counters.
  [[nodiscard]] const std::vector<PortRef>& downed() const { return growth_.downed(); }

  /// Of all ports that the last round read.
  [[nodiscard]] const std::shared_ptr<const std::vector<PortBitErrors>>& bit_errors() const {
    return bit_errors_.ports();
  }
  /// Null before the first survey and sample.
  [[nodiscard]] const std::shared_ptr<const Report>& report() const { return report_; }

 private:
  void judge(Instant now);
  void look_at_survey();

  Options options_;
  Growth growth_;
  DropWatch drops_;
  TrafficWatch traffic_;
  ReceiverWatch receivers_;
  BitErrorWatch bit_errors_;
  ErrorDetails details_;
  std::shared_ptr<const Survey> survey_;
  std::shared_ptr<const Fabric> sampled_;  ///< that of the last sample
  std::vector<Duplicate> duplicates_;
  std::vector<Finding> standing_;  ///< of survey_ as it is: that changes more seldom than counters do
  bool standing_is_stale_ = false;
  std::shared_ptr<const Firmwares> firmware_ = std::make_shared<const Firmwares>();
  std::vector<Finding> refuted_;         ///< in the last two rounds
  std::vector<Finding> refuted_lately_;  ///< in the last one
  std::size_t cabled_ = 0;               ///< ports of survey_
  std::map<std::pair<Rule, PortRef>, Instant> since_;
  Instant judged_at_{};
  std::shared_ptr<const Report> report_;
};

}  // namespace heddle::health
