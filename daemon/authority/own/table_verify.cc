// Whether switches still hold what they confirmed: a write that was thought lost may come late, and undo what
// was written after it.

#include <algorithm>
#include <utility>

#include "authority/own/table_writer.h"

namespace heddle::provision {

using transport::Completion;
using transport::Outcome;

std::size_t TableWriter::known_blocks() const {
  std::size_t count = 0;
  for (const auto& [guid, table] : known_) {
    count += static_cast<std::size_t>(std::count(table.known.begin(), table.known.end(), true));
  }
  return count;
}

void TableWriter::verify(std::shared_ptr<const Survey> survey, std::size_t count, Instant now,
                         Verified done) {
  survey_ = std::move(survey);
  switches_.clear();  // tags are positions in verified_ meanwhile
  verified_.clear();
  wrong_ = 0;
  auto it = known_.lower_bound(next_to_verify_.first);
  std::size_t block = it != known_.end() && it->first == next_to_verify_.first ? next_to_verify_.second : 0;
  for (std::size_t seen = 0; seen <= known_.size() && verified_.size() < count && !known_.empty();) {
    if (it == known_.end()) {
      it = known_.begin();
      block = 0;
    }
    if (block >= it->second.known.size()) {
      ++it;
      ++seen;
      block = 0;
      continue;
    }
    const bool there = survey_->fabric->find_node(it->first) != no_node;
    if (there && it->second.known[block]) verified_.emplace_back(it->first, block);
    ++block;
  }
  next_to_verify_ = it == known_.end() ? std::pair{NodeGuid{}, std::size_t{0}} : std::pair{it->first, block};
  batch_.start(
      [this, next = std::size_t{0}]() mutable -> std::optional<Step> {
        if (next == verified_.size()) return std::nullopt;
        const auto& [guid, at] = verified_[next];
        return block_step(mad::Method::Get, survey_->node(survey_->fabric->find_node(guid)), at, next++);
      },
      [this](std::uint64_t tag, const Completion& completion) {
        if (completion.outcome != Outcome::Answered) return;
        const auto& [guid, at] = verified_[tag];
        const auto table = known_.find(guid);
        if (table == known_.end()) return;
        const auto got = mad::smp_data(completion.answer->mad);
        const auto held =
            table->second.bytes.begin() + static_cast<std::ptrdiff_t>(at * routing::lids_per_block);
        if (std::equal(got.begin(), got.end(), held)) return;
        std::copy(got.begin(), got.end(), held);
        ++wrong_;
      },
      [this, done = std::move(done)](Instant at) { done(wrong_, at); }, now);
}

}  // namespace heddle::provision
