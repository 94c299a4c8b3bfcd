/// A journal that is kept by way of a scribe on a slow disk, for the fuzz target of journals: what was handed
/// over is read as the same again.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "journal/scribe.h"
#include "shared/record_text.h"

namespace heddle::fuzz {

inline constexpr journal::Calendar here{journal::WallTime{std::chrono::hours{400'000}}, Instant{}};

inline power::EnergyRecord energy_of(const LinkRef& link) {
  return {
      {{link, {Joules{1}, Joules{2}}}}, {{link.a.node, {Joules{3}, Joules{0.1}}}}, {Joules{9}, Joules{8}}};
}

/// A disk that is slow.
class SlowDesk {
 public:
  [[nodiscard]] Desk desk() {
    return {[this](auto work, auto then) { waiting_.emplace_back(std::move(work), std::move(then)); },
            [] { return Instant{}; }};
  }
  void work() {
    while (!waiting_.empty()) {
      const auto [work, then] = std::move(waiting_.front());
      waiting_.pop_front();
      work();
      then();
    }
  }

 private:
  std::deque<std::pair<std::function<void()>, std::function<void()>>> waiting_;
};

template <class All>
bool ascend(const All& all) {
  return std::ranges::is_sorted(all);
}

template <class All, class Link>
bool differ(const All& all, Link link) {
  std::set<LinkRef> links;
  return std::ranges::all_of(all, [&](const auto& each) { return links.insert(link(each)).second; });
}

/// As the regulation makes them: changes are counted from 1, no list has a link twice, those of drains
/// ascend, and no link has more times than are looked at.
inline bool can_be(const regulation::Record& record) {
  if (const auto* intent = std::get_if<regulation::Intent>(&record))
    return intent->change.raw() != 0 && differ(intent->off, [](const auto& off) { return off.link; });
  if (const auto* drain = std::get_if<regulation::DrainRecord>(&record))
    return !drain->drain || (ascend(drain->drain->links) && ascend(drain->drain->nodes));
  if (const auto* wakes = std::get_if<regulation::WakeRecord>(&record))
    return differ(wakes->links, [](const auto& each) { return each.link; }) &&
           std::ranges::all_of(wakes->links,
                               [](const auto& each) { return each.took.size() <= regulation::most_wakes; });
  return true;
}

/// Keeps what lines say, and then compares the journal with one that begins as its image has it.
class Keeper {
 public:
  Keeper() : journal_{journal::open_image(empty(), here).value()}, scribe_{*journal_, desk_.desk()} {}

  void keep(std::string_view line) {
    if (line.empty()) return work();
    const auto stored = [this](const Result<void>& done) {
      ++answers_;
      require(done.has_value(), "a disk in memory takes all");
    };
    if (const auto records = shared::records_in(line, here)) {
      for (const auto& record : *records) {
        if (!can_be(record)) continue;
        if (scribe_.waiting() > journal::Scribe::most_waiting / 2) work();
        ++asked_;
        scribe_.write(record, stored);
      }
    }
    if (scribe_.waiting() > journal::Scribe::most_waiting / 2) work();
    auto ranks = shared::ranks_in(line);
    if (ranks && differ(*ranks, [](const auto& rank) { return LinkRef{{rank.first, {}}, {}}; })) {
      std::ranges::sort(*ranks);
      ++asked_;
      scribe_.put_ranks(*ranks, stored);
    }
    auto lids = shared::lids_in(line);
    if (lids && differ(*lids, [](const auto& lid) { return LinkRef{lid.first, {}}; })) {
      std::ranges::sort(*lids);
      ++asked_;
      scribe_.put_lids(*lids, stored);
    }
    const auto cables = shared::cables_in(line);
    if (cables && differ(*cables, [](const auto& cable) { return cable.link; })) {
      ++asked_;
      scribe_.put_cables(*cables, stored);
    }
    if (const auto total = shared::energy_in(line); total && !energy_) {
      energy_ = energy_of({{NodeGuid{~std::uint64_t{}}, PortNum{1}}, {NodeGuid{5}, PortNum{0}}});
      energy_->total = *total;
      ++asked_;
      scribe_.put_energy(*energy_, stored);
      scribe_.put_energy({}, stored);  // one waits
    }
    ++asked_;
    const journal::Event event{++events_, journal::WallTime{std::chrono::hours{1}}, "said", "",
                               std::string{line}};
    scribe_.append(event, stored);
    scribe_.events(events_ - 1, 10, [event](const Result<std::vector<journal::Event>>& found) {
      if (found) require(!found->empty() && found->front() == event, "an event is read as written");
    });
  }

  void end() {
    work();
    bool is_told = false;
    scribe_.after([&](Instant) { is_told = true; });
    require(is_told && scribe_.waiting() == 0 && scribe_.reads_waiting() == 0 && answers_ == asked_,
            "word comes back of all");
    require(scribe_.wait() == FabricClock::duration{}, "nobody waits for nothing");
    require(scribe_.check().has_value(), "a journal in memory is where it was");
    const auto again = journal::open_image(journal_->image().value(), here).value();
    require(again->memory() == scribe_.memory(), "the memory is read as written");
    require(sorted(again->ranks().value()) == scribe_.ranks().value(), "ranks are read as written");
    require(again->lids().value() == scribe_.lids().value(), "LIDs are read as written");
    require(again->cables().value() == scribe_.cables().value(), "cables are read as written");
    require(again->energy().value() == energy_.value_or(power::EnergyRecord{}), "energy is read as written");
  }

 private:
  static const std::string& empty() {
    static const std::string image = journal::open_image({}, here).value()->image().value();
    return image;
  }
  static std::vector<journal::Rank> sorted(std::vector<journal::Rank> ranks) {
    std::ranges::sort(ranks);
    return ranks;
  }
  void work() {
    const regulation::Memory before = scribe_.memory();
    bool is_told = false;
    scribe_.after([&](Instant) { is_told = true; });
    desk_.work();
    require(is_told, "who waits for the disk is told");
    require(journal_->memory() == before && scribe_.memory() == before,
            "what was handed over is what is on disk");
  }

  std::unique_ptr<journal::Journal> journal_;
  SlowDesk desk_;
  journal::Scribe scribe_;
  std::optional<power::EnergyRecord> energy_;
  std::uint64_t events_ = 0;
  std::size_t asked_ = 0;
  std::size_t answers_ = 0;
};

}  // namespace heddle::fuzz
