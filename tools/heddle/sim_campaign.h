/// Where the runs of an experiment are kept while it goes on: a directory with a copy of the experiment and a
/// line for each run that has ended. A command that was stopped finds there what is done, and parts that were
/// carried out elsewhere come together.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/experiment/experiment.h"

namespace heddle::cli {

/// An experiment and what its results depend on.
struct CampaignPlan {
  packet::Experiment experiment;
  std::string text;
  std::string included;  ///< the text of the file that it includes
  unsigned seeds = 0;    ///< in place of the file's; 0: those
  std::string identity;  ///< of the texts, of all files that they name, and of this program

  /// Reads the file and all that it names. Errors: those of reading, with the file's name.
  static Result<CampaignPlan> read(const std::string& file, unsigned seeds);
};

/// Part `number` of `of`: every so-many-th run.
struct CampaignPart {
  std::size_t number = 1;
  std::size_t of = 1;
};
/// "2/5". Errors: Invalid.
[[nodiscard]] Result<CampaignPart> parse_part(const std::string& text);

class CampaignDirectory {
 public:
  /// Makes the directory if it is not there, and reads what is done. What was cut off at the end is run
  /// again. Errors: Io; Conflict where another experiment has begun there; Invalid for a damaged line.
  static Result<CampaignDirectory> open(const std::string& directory, const CampaignPlan& plan);

  [[nodiscard]] const std::vector<packet::PointResult>& done() const { return done_; }
  /// The runs of a part that are not done.
  [[nodiscard]] std::vector<packet::Point> left(const packet::Experiment& experiment,
                                                CampaignPart part) const;
  /// Keeps a run that has ended. Errors: Io.
  Result<void> keep(packet::PointResult result);
  /// Takes away what only a campaign that goes on needs.
  void forget();

 private:
  std::string directory_;
  std::ofstream log_;
  std::vector<packet::PointResult> done_;
};

/// The experiment and all runs of several directories. Errors: Io; Conflict where they are not of one
/// experiment; NotFound where runs are missing.
struct MergedCampaign {
  packet::Experiment experiment;
  std::vector<packet::PointResult> results;
};
[[nodiscard]] Result<MergedCampaign> merge_campaign(const std::vector<std::string>& directories);

}  // namespace heddle::cli
