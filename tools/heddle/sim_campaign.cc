#include "heddle/sim_campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "fabric/generators.h"
#include "fabric/source.h"
#include "sim/experiment/points.h"
#include "version/version.h"

namespace heddle::cli {
namespace {

constexpr const char* log_name = "points.txt";
constexpr const char* text_name = "experiment.toml";
constexpr const char* included_name = "included.toml";

/// Files that an experiment names are beside it.
void place_beside(packet::Experiment& experiment, const std::filesystem::path& beside) {
  for (packet::ExperimentTrace& trace : experiment.traces) {
    trace.file = (beside / trace.file).string();
    if (trace.mapping != "round-robin" && trace.mapping != "block")
      trace.mapping = (beside / trace.mapping).string();
  }
  if (!experiment.lfts.empty()) experiment.lfts = (beside / experiment.lfts).string();
  if (!is_generator_spec(experiment.source)) experiment.source = (beside / experiment.source).string();
}

std::vector<std::string> files_of(const packet::Experiment& experiment) {
  std::vector<std::string> files;
  for (const packet::ExperimentTrace& trace : experiment.traces) {
    files.push_back(trace.file);
    if (trace.mapping != "round-robin" && trace.mapping != "block") files.push_back(trace.mapping);
  }
  if (!experiment.lfts.empty()) files.push_back(experiment.lfts);
  if (!is_generator_spec(experiment.source)) files.push_back(experiment.source);
  return files;
}

void set_seeds(packet::Experiment& experiment, unsigned seeds) {
  if (seeds == 0) return;
  const std::uint64_t first = experiment.seeds.front();
  experiment.seeds.clear();
  for (unsigned i = 0; i < seeds; ++i) experiment.seeds.push_back(first + i);
}

std::string header(const std::string& identity, unsigned seeds) {
  return fmt::format("heddle-points 1 {} seeds {}\n", identity, seeds);
}

Result<void> write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << text << std::flush;
  if (!file) return fail(ErrorCode::Io, fmt::format("{}: cannot be written", path.string()));
  return {};
}

/// What a directory has of a campaign.
struct Log {
  std::string header;
  std::vector<packet::PointResult> points;
  std::size_t whole_bytes = 0;  ///< without a line that was cut off
};

/// A line that is cut off can only be the last one.
Result<Log> read_log(const std::filesystem::path& path) {
  const auto text = read_text_file(path.string());
  if (!text) return fail(text.error());
  Log log;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text->size(); ++number) {
    const std::size_t end = text->find('\n', at);
    if (end == std::string::npos) break;
    const std::string_view line{text->data() + at, end + 1 - at};
    at = end + 1;
    if (number == 0) {
      log.header = line;
    } else if (auto point = packet::read_point(line)) {
      log.points.push_back(std::move(*point));
    } else {
      return fail(ErrorCode::Invalid, fmt::format("{}:{}: is damaged: take this file away to begin anew",
                                                  path.string(), number + 1));
    }
    log.whole_bytes = at;
  }
  return log;
}

/// Points beyond the experiment would be somebody else's.
bool within(const packet::Experiment& experiment, const packet::Point& point) {
  return point.variant < experiment.variants.size() && point.load < experiment.loads.size() &&
         point.seed < experiment.seeds.size();
}

/// The experiment as a part's directory has it: no file that it names is opened for it.
Result<packet::Experiment> read_copy(const std::filesystem::path& directory, const std::string& header) {
  const std::string file = (directory / text_name).string();
  const auto text = read_text_file(file);
  if (!text) return fail(text.error());
  auto experiment = packet::read_experiment(*text, file, [&](const std::string& /*name*/) {
    return read_text_file((directory / included_name).string());
  });
  if (!experiment) return fail(experiment.error());
  unsigned seeds = 0;
  const std::size_t at = header.rfind(' ');
  if (at != std::string::npos) std::from_chars(header.data() + at + 1, header.data() + header.size(), seeds);
  set_seeds(*experiment, seeds);
  return experiment;
}

}  // namespace

Result<CampaignPlan> CampaignPlan::read(const std::string& file, unsigned seeds) {
  CampaignPlan plan;
  auto text = read_text_file(file);
  if (!text) return fail(text.error());
  plan.text = std::move(*text);
  plan.seeds = seeds;
  const auto beside = std::filesystem::path{file}.parent_path();
  auto experiment =
      packet::read_experiment(plan.text, file, [&](const std::string& name) -> Result<std::string> {
        auto included = read_text_file((beside / name).string());
        if (included) plan.included = *included;
        return included;
      });
  if (!experiment) return fail(experiment.error());
  plan.experiment = std::move(*experiment);
  set_seeds(plan.experiment, seeds);
  place_beside(plan.experiment, beside);
  std::uint64_t all = packet::fingerprint(version_and_commit());
  all = packet::fingerprint(plan.included, packet::fingerprint(plan.text, all));
  for (const std::string& named : files_of(plan.experiment)) {
    const auto content = read_text_file(named);
    if (!content) return fail(file, content.error());
    all = packet::fingerprint(*content, all);
  }
  plan.identity = fmt::format("{:016x}", all);
  return plan;
}

Result<CampaignPart> parse_part(const std::string& text) {
  CampaignPart part;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, part.number);
  if (number.ec == std::errc{} && number.ptr != end && *number.ptr == '/') {
    const auto of = std::from_chars(number.ptr + 1, end, part.of);
    if (of.ec == std::errc{} && of.ptr == end && part.number >= 1 && part.number <= part.of) return part;
  }
  return fail(ErrorCode::Invalid, fmt::format("--part {}: must be I/N, I from 1 to N", text));
}

Result<CampaignDirectory> CampaignDirectory::open(const std::string& directory, const CampaignPlan& plan) {
  CampaignDirectory made;
  made.directory_ = directory;
  const std::filesystem::path at{directory};
  std::error_code error;
  std::filesystem::create_directories(at, error);
  if (error) return fail(ErrorCode::Io, fmt::format("{}: {}", directory, error.message()));
  const auto path = at / log_name;
  const std::string first = header(plan.identity, plan.seeds);
  if (std::filesystem::exists(path)) {
    auto log = read_log(path);
    if (!log) return fail(log.error());
    if (!log->header.empty() && log->header != first) {
      return fail(
          ErrorCode::Conflict,
          fmt::format("{}: {} runs of another experiment, or of another version, are kept there: take "
                      "another directory, or take this file away",
                      path.string(), log->points.size()));
    }
    std::filesystem::resize_file(path, log->whole_bytes, error);
    if (error) return fail(ErrorCode::Io, fmt::format("{}: {}", path.string(), error.message()));
    made.done_ = std::move(log->points);
  }
  if (auto ok = write_text(at / text_name, plan.text); !ok) return fail(ok.error());
  if (!plan.included.empty()) {
    if (auto ok = write_text(at / included_name, plan.included); !ok) return fail(ok.error());
  }
  made.log_.open(path, std::ios::binary | std::ios::app);
  if (std::filesystem::file_size(path, error) == 0) made.log_ << first << std::flush;
  if (!made.log_) return fail(ErrorCode::Io, fmt::format("{}: cannot be written", path.string()));
  return made;
}

std::vector<packet::Point> CampaignDirectory::left(const packet::Experiment& experiment,
                                                   CampaignPart part) const {
  std::set<packet::Point> done;
  for (const packet::PointResult& result : done_) done.insert(result.point);
  std::vector<packet::Point> left;
  const std::vector<packet::Point> all = packet::all_points(experiment);
  for (std::size_t i = part.number - 1; i < all.size(); i += part.of) {
    if (!done.contains(all[i])) left.push_back(all[i]);
  }
  return left;
}

Result<void> CampaignDirectory::keep(packet::PointResult result) {
  log_ << packet::write_point(result) << std::flush;
  if (!log_) return fail(ErrorCode::Io, fmt::format("{}/{}: cannot be written", directory_, log_name));
  done_.push_back(std::move(result));
  return {};
}

void CampaignDirectory::forget() {
  log_.close();
  for (const char* name : {log_name, text_name, included_name}) {
    std::error_code error;  // what stays is read, and found done, the next time
    std::filesystem::remove(std::filesystem::path{directory_} / name, error);
  }
}

Result<MergedCampaign> merge_campaign(const std::vector<std::string>& directories) {
  MergedCampaign merged;
  std::string first;
  std::set<packet::Point> seen;
  for (const std::string& directory : directories) {
    auto log = read_log(std::filesystem::path{directory} / log_name);
    if (!log) return fail(log.error());
    if (&directory == &directories.front()) {
      first = log->header;
      auto experiment = read_copy(directory, first);
      if (!experiment) return fail(experiment.error());
      merged.experiment = std::move(*experiment);
    }
    if (log->header != first) {
      return fail(ErrorCode::Conflict,
                  fmt::format("{} and {} are not parts of one experiment, carried out by one version",
                              directories.front(), directory));
    }
    for (packet::PointResult& result : log->points) {
      if (within(merged.experiment, result.point) && seen.insert(result.point).second)
        merged.results.push_back(std::move(result));
    }
  }
  const std::size_t missing = merged.experiment.points() - merged.results.size();
  if (missing > 0) {
    return fail(ErrorCode::NotFound,
                fmt::format("{} of {} runs are missing: some part is not here, or not done", missing,
                            merged.experiment.points()));
  }
  std::ranges::sort(merged.results, {}, &packet::PointResult::point);
  return merged;
}

}  // namespace heddle::cli
