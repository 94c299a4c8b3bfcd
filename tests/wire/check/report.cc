#include "check/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace wire {
namespace {

constexpr std::size_t mads_before = 14;
constexpr std::size_t mads_after = 6;

double seconds(Time time, Time start) {
  return (static_cast<double>(time) - static_cast<double>(start)) * 1e-9;
}

}  // namespace

const char* name_of(Wrong wrong) {
  switch (wrong) {
    case Wrong::DeadEnd:
      return "dead-end";
    case Wrong::Off:
      return "off";
    case Wrong::NotActive:
      return "not-active";
    case Wrong::KnownCut:
      return "known-cut";
    case Wrong::Loop:
      return "loop";
    case Wrong::Misdelivery:
      return "misdelivery";
    case Wrong::Deadlock:
      return "deadlock";
    case Wrong::MulticastTwice:
      return "multicast-twice";
    case Wrong::MulticastOff:
      return "multicast-off";
    case Wrong::StaysBroken:
      return "stays-broken";
  }
  return "?";
}

void Report::found(Wrong kind, const std::string& text, const std::vector<int>& nodes) {
  Count& count = counts_[kind];
  ++count.all;
  if (count.last_index == index_) return;
  count.last_index = index_;
  ++count.times;
  if (count.first.size() < most_told) count.first.push_back({index_, now_, text, nodes});
}

void Report::ended(Wrong kind, Time since) {
  Count& count = counts_[kind];
  count.longest = std::max(count.longest, now_ - since);
}

bool Report::is_ignored(Wrong kind) const {
  return std::find(ignored_.begin(), ignored_.end(), kind) != ignored_.end();
}

bool Report::is_clean() const {
  return std::all_of(counts_.begin(), counts_.end(),
                     [&](const auto& each) { return each.second.times == 0 || is_ignored(each.first); });
}

void Report::print(std::ostream& out, Time start, const std::vector<Record>& records) const {
  out << fmt::format(
      "{} instants, {} SMPs ({} not understood), {} of {} pairs of switch and LID had a way; {} loops while "
      "a cut was repaired\n",
      instants_, world_.smps(), world_.not_understood(), established_, pairs_, excused_loops_);
  for (const auto& [kind, count] : counts_) {
    if (count.times == 0) continue;
    out << fmt::format("{}{}: {} times, {} pairs, for {:.3f} ms at the longest\n", name_of(kind),
                       is_ignored(kind) ? " (ignored)" : "", count.times, count.all,
                       static_cast<double>(count.longest) * 1e-6);
    for (const Occasion& each : count.first) {
      out << fmt::format("  {:.6f} s: {}\n", seconds(each.time, start), each.text);
      if (&each == &count.first.front()) print_mads(out, each, start, records);
    }
  }
}

void Report::print_mads(std::ostream& out, const Occasion& occasion, Time start,
                        const std::vector<Record>& records) const {
  const auto& remarks = world_.remarks();
  std::vector<const Remark*> of_path;
  std::size_t before = 0;
  for (const Remark& each : remarks) {
    if (std::find(occasion.nodes.begin(), occasion.nodes.end(), each.node) == occasion.nodes.end()) continue;
    of_path.push_back(&each);
    if (each.record <= occasion.index) before = of_path.size();
  }
  const std::size_t from = before > mads_before ? before - mads_before : 0;
  for (std::size_t i = from; i < std::min(before + mads_after, of_path.size()); ++i) {
    const Record& record = records[of_path[i]->record];
    out << fmt::format("    {} {:.6f} process {}: {}\n", of_path[i]->record == occasion.index ? "*" : " ",
                       seconds(record.time, start), record.process, of_path[i]->text);
  }
}

void Report::print_counts(std::ostream& out) const {
  out << fmt::format(
      R"({{"instants": {}, "smps": {}, "pairs": {}, "established": {}, "excused_loops": {}, "violations": {{)",
      instants_, world_.smps(), pairs_, established_, excused_loops_);
  const char* comma = "";
  for (const auto& [kind, count] : counts_) {
    if (count.times == 0) continue;
    out << fmt::format(R"({}"{}": {{"times": {}, "pairs": {}, "longest_us": {}}})", comma, name_of(kind),
                       count.times, count.all, count.longest / 1000);
    comma = ", ";
  }
  out << "}}\n";
}

}  // namespace wire
