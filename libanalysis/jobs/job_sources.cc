#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <map>

#include "base/printable.h"
#include "jobs/job.h"

namespace heddle::jobs {
namespace {

namespace json = boost::json;

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// Up to `mark`, which is taken away with it.
std::string_view next_field(std::string_view& line, char mark) {
  const auto end = std::min(line.find(mark), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

/// Jobs as they are found, within the bounds.
class JobCollector {
 public:
  Result<void> add(Job job) {
    std::ranges::sort(job.hosts);
    job.hosts.erase(std::unique(job.hosts.begin(), job.hosts.end()), job.hosts.end());
    hosts_ += job.hosts.size();
    if (jobs_.size() >= most_jobs || hosts_ > most_hosts) {
      return fail(
          ErrorCode::Invalid,
          fmt::format("there are more than {} jobs, or they have more than {} hosts", most_jobs, most_hosts));
    }
    jobs_.push_back(std::move(job));
    return {};
  }
  [[nodiscard]] std::size_t room() const { return most_hosts - hosts_; }
  [[nodiscard]] std::vector<Job> take() { return std::move(jobs_); }

 private:
  std::vector<Job> jobs_;
  std::size_t hosts_ = 0;
};

/// Letters, digits, and what else stands in the ids of batch systems ("4711_[3]", "12.server") and in names
/// of hosts. What has other things in it, as JSON has, is no line of such a list.
bool is_word(std::string_view text, std::string_view others) {
  const auto fits = [others](char c) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return plain || others.find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

bool is_job_id(std::string_view text) { return is_word(text, "._-+:@/#%[]"); }
bool is_host(std::string_view text) { return is_word(text, "._-"); }

std::string string_in(const json::object& object, const char* key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string{found->get_string()} : std::string{};
}

/// A number, or {"set":true,"number":n} of later versions; 0 where it is none.
std::uint64_t number_in(const json::object& object, const char* key) {
  const json::value* found = object.if_contains(key);
  if (found != nullptr && found->is_object()) {
    const json::value* is_set = found->get_object().if_contains("set");
    if (is_set != nullptr && is_set->is_bool() && !is_set->get_bool()) return 0;
    found = found->get_object().if_contains("number");
  }
  if (found == nullptr || !found->is_number()) return 0;
  boost::system::error_code wrong;
  const auto number = found->to_number<std::uint64_t>(wrong);
  return wrong ? 0 : number;
}

/// "RUNNING", or ["RUNNING"] of later versions.
bool runs(const json::object& job) {
  const json::value* state = job.if_contains("job_state");
  if (state == nullptr) return false;
  if (state->is_string()) return state->get_string() == "RUNNING";
  const auto is_running = [](const json::value& each) {
    return each.is_string() && each.get_string() == "RUNNING";
  };
  return state->is_array() && std::ranges::any_of(state->get_array(), is_running);
}

/// The first of its errors: a squeue that reaches no slurmctld prints an empty list, and ends with 0.
std::string complaint_in(const json::object& top) {
  const json::value* errors = top.if_contains("errors");
  const json::array* all = errors == nullptr ? nullptr : errors->if_array();
  if (all == nullptr || all->empty()) return {};
  const json::object* first = all->front().if_object();
  const std::string words = first == nullptr ? std::string{} : string_in(*first, "description");
  return words.empty() ? "it says that there was an error" : printable(words);
}

std::string id_of(const json::object& job) {
  const std::uint64_t array = number_in(job, "array_job_id");
  if (array == 0) return std::to_string(number_in(job, "job_id"));
  return fmt::format("{}_{}", array, number_in(job, "array_task_id"));
}

}  // namespace

Result<std::vector<Job>> parse_job_file(std::string_view text, const std::string& name) {
  std::map<std::string, std::vector<std::string>> hosts;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = without_blanks(next_line(text));
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view whole = line;
    const std::string_view id = without_blanks(next_field(line, ','));
    const auto wrong = [&](std::string_view text) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{}:{}: expected job,host,..., not {}", name, number, in_quotes(text)));
    };
    if (!is_job_id(id) || without_blanks(line).empty()) return wrong(whole);
    auto& of_job = hosts[std::string{id}];
    while (!line.empty()) {
      const std::string_view host = without_blanks(next_field(line, ','));
      if (host.empty()) continue;
      if (!is_host(host)) return wrong(host);
      of_job.emplace_back(host);
    }
  }
  JobCollector jobs;
  for (auto& [id, of_job] : hosts) {
    if (auto added = jobs.add({id, {}, {}, std::move(of_job)}); !added) return fail(name, added.error());
  }
  return jobs.take();
}

Result<std::vector<Job>> parse_squeue_json(std::string_view text) {
  boost::system::error_code wrong;
  const json::value document = json::parse(text, wrong);
  const json::object* top = wrong ? nullptr : document.if_object();
  const json::value* list = top == nullptr ? nullptr : top->if_contains("jobs");
  if (list == nullptr || !list->is_array()) {
    return fail(ErrorCode::Invalid,
                fmt::format("squeue printed {}: no JSON with a list \"jobs\"", in_quotes(text)));
  }
  if (const std::string why = complaint_in(*top); !why.empty())
    return fail(ErrorCode::Unreachable, fmt::format("squeue: {}; see whether slurmctld answers", why));
  JobCollector jobs;
  for (const json::value& each : list->get_array()) {
    const json::object* job = each.if_object();
    if (job == nullptr || !job->contains("job_state"))
      return fail(ErrorCode::Invalid,
                  "squeue printed a list \"jobs\" in which something is no job with a job_state");
    if (!runs(*job)) continue;
    if (number_in(*job, "job_id") == 0)
      return fail(ErrorCode::Invalid, "squeue printed a job without a job_id");
    auto hosts = expand_hostlist(string_in(*job, "nodes"), jobs.room());
    if (!hosts) return fail("squeue", hosts.error());
    auto added =
        jobs.add({id_of(*job), string_in(*job, "user_name"), string_in(*job, "name"), *std::move(hosts)});
    if (!added) return fail("squeue", added.error());
  }
  return jobs.take();
}

Result<std::vector<Job>> parse_squeue_lines(std::string_view text) {
  JobCollector jobs;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (line.empty()) continue;
    const std::string_view whole = line;
    const bool has_fields = std::ranges::count(line, '|') >= 3;
    const std::string_view id = next_field(line, '|');
    const std::string_view user = next_field(line, '|');
    if (!has_fields || !is_job_id(id)) {
      return fail(ErrorCode::Invalid,
                  fmt::format("squeue printed {}: no line of id|user|hosts|name", in_quotes(whole)));
    }
    auto hosts = expand_hostlist(next_field(line, '|'), jobs.room());
    if (!hosts) return fail("squeue", hosts.error());
    // The rest is the name, whatever is in it.
    auto added = jobs.add({std::string{id}, std::string{user}, std::string{line}, *std::move(hosts)});
    if (!added) return fail("squeue", added.error());
  }
  return jobs.take();
}

}  // namespace heddle::jobs
