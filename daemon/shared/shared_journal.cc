#include "shared/shared_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "shared/record_text.h"

namespace heddle::shared {
namespace {

using journal::PortLid;
using journal::Rank;
using regulation::Memory;
using regulation::Record;

constexpr std::string_view records_key = "journal/record/";
constexpr std::string_view snapshots_key = "journal/snapshot/";
constexpr const char* ranks_key = "journal/ranks";
constexpr const char* lids_key = "journal/lids";
constexpr const char* cables_key = "journal/cables";
constexpr const char* energy_key = "journal/energy";

std::string numbered(std::string_view key, std::uint64_t number) {
  return fmt::format("{}{:016x}", key, number);
}

/// None: no journal has written it.
std::optional<std::uint64_t> number_of(std::string_view key, std::string_view before) {
  std::uint64_t number = 0;
  std::from_chars(key.data() + before.size(), key.data() + key.size(), number, 16);
  return key == numbered(before, number) ? std::optional{number} : std::nullopt;
}

std::uint64_t newest_snapshot(const Texts& texts) {
  std::uint64_t newest = 0;
  for (auto at = texts.lower_bound(snapshots_key);
       at != texts.end() && std::string_view{at->first}.starts_with(snapshots_key); ++at) {
    newest = number_of(at->first, snapshots_key).value_or(newest);
  }
  return newest;
}

Result<void> apply_text(const Texts& texts, const std::string& key, const journal::Calendar& calendar,
                        Memory& memory) {
  const auto text = whole_text(texts, key);
  if (!text) return fail(ErrorCode::Invalid, key + " is not whole");
  const auto records = records_in(*text, calendar);
  if (!records) return fail(key, records.error());
  for (const Record& record : *records) regulation::apply(memory, record);
  return {};
}

class SharedJournal final : public journal::Journal {
 public:
  SharedJournal(std::unique_ptr<journal::Journal> file, StoredJournal stored, const Shelf& shelf,
                const journal::Calendar& calendar)
      : file_{std::move(file)},
        stored_{std::move(stored)},
        lease_{shelf.lease},
        writer_{shelf.store, shelf.prefix, shelf.guard},
        pause_{shelf.pause},
        calendar_{calendar},
        memory_{stored_.memory ? *stored_.memory : file_->memory()} {}

  [[nodiscard]] Result<void> check() const override { return file_->check(); }

  Result<void> write(const Record& record) override {
    if (auto begun = begin(); !begun) return begun;
    // One that may have been stored, or not, when no answer came, is written again under its number.
    const std::string key = numbered(records_key, stored_.last + 1);
    if (auto put = put_text(key, to_text(std::span(&record, 1), calendar_)); !put) return put;
    ++stored_.last;
    regulation::apply(memory_, record);
    if (auto written = file_->write(record); !written) {
      begun_ = false;  // it catches up with the next one
      return written;
    }
    if (stored_.last - stored_.snapshot >= records_per_snapshot) return store_all();
    return {};
  }
  [[nodiscard]] const Memory& memory() const override { return memory_; }

  Result<void> put_ranks(std::span<const Rank> ranks) override {
    if (auto begun = begin(); !begun) return begun;
    if (auto put = put_text(ranks_key, to_text(ranks)); !put) return put;
    return file_->put_ranks(ranks);
  }
  [[nodiscard]] Result<std::vector<Rank>> ranks() const override {
    if (!stored_.memory) return file_->ranks();
    return stored_.ranks;
  }

  Result<void> put_lids(std::span<const PortLid> lids) override {
    if (auto begun = begin(); !begun) return begun;
    if (auto put = put_text(lids_key, to_text(lids)); !put) return put;
    return file_->put_lids(lids);
  }
  [[nodiscard]] Result<std::vector<PortLid>> lids() const override {
    if (!stored_.lids) return file_->lids();
    return *stored_.lids;
  }

  Result<void> put_cables(std::span<const journal::Cable> cables) override {
    if (auto begun = begin(); !begun) return begun;
    if (auto put = put_text(cables_key, to_text(cables)); !put) return put;
    return file_->put_cables(cables);
  }
  [[nodiscard]] Result<std::vector<journal::Cable>> cables() const override {
    if (!stored_.cables) return file_->cables();
    return *stored_.cables;
  }

  Result<void> put_energy(const power::EnergyRecord& record) override {
    auto put = begin();
    if (put) put = put_text(energy_key, to_text(record.total));
    auto written = file_->put_energy(record);
    return put ? written : put;
  }
  /// What each link and switch drew while another host was owner is in the fabric's sum only.
  [[nodiscard]] Result<power::EnergyRecord> energy() const override {
    auto record = file_->energy();
    if (record && stored_.energy) record->total = *stored_.energy;
    return record;
  }
  Result<std::uint64_t> append(const journal::Event& event) override { return file_->append(event); }
  [[nodiscard]] Result<std::vector<journal::Event>> events(std::uint64_t after,
                                                           std::size_t most) const override {
    return file_->events(after, most);
  }

 private:
  /// Before the first change: the file and the store know the same.
  Result<void> begin() {
    if (begun_) return {};
    for (const Record& record : regulation::records_between(file_->memory(), memory_)) {
      if (auto written = file_->write(record); !written) return written;
    }
    if (!stored_.memory) {
      const auto ranks = file_->ranks();
      if (!ranks) return fail(ranks.error());
      if (auto put = put_text(ranks_key, to_text(*ranks)); !put) return put;
    }
    if (!stored_.lids) {
      const auto lids = file_->lids();
      if (!lids) return fail(lids.error());
      if (auto put = put_text(lids_key, to_text(*lids)); !put) return put;
    }
    if (!stored_.cables) {
      const auto cables = file_->cables();
      if (!cables) return fail(cables.error());
      if (auto put = put_text(cables_key, to_text(*cables)); !put) return put;
    }
    if (auto stored = store_all(); !stored) return stored;
    begun_ = true;
    return {};
  }

  Result<void> store_all() {
    const auto records = regulation::records_between({}, memory_);
    const std::uint64_t number = std::max<std::uint64_t>(stored_.last, 1);
    if (auto put = put_text(numbered(snapshots_key, number), to_text(records, calendar_)); !put) return put;
    stored_.last = stored_.snapshot = number;
    for (const std::string_view old : {records_key, snapshots_key}) {
      const std::uint64_t end = old == records_key ? number + 1 : number;
      if (auto erased = writer_.erase(numbered(old, 0), numbered(old, end)); !erased) return erased;
    }
    return {};
  }

  /// The same again is the same: what was stored without an answer is stored once.
  Result<void> put_text(const std::string& key, const std::string& text) {
    Result<void> put = fail(ErrorCode::Refused, "this daemon's lease has ended");
    for (int attempt = 0; attempt < most_attempts && lease_.held(); ++attempt) {
      if (attempt > 0) std::this_thread::sleep_for(pause_);
      put = writer_.put(key, text);
      if (put) return {};
      if (put.error().code != ErrorCode::Unreachable) break;
    }
    // Somebody else is the owner: nothing goes out any more, whatever the clock says.
    if (put.error().code == ErrorCode::Refused) lease_.end();
    return fail("the journal in etcd", put.error());
  }

  std::unique_ptr<journal::Journal> file_;
  StoredJournal stored_;
  Lease& lease_;
  Writer writer_;
  std::chrono::milliseconds pause_;
  journal::Calendar calendar_;
  Memory memory_;
  bool begun_ = false;
};

}  // namespace

void drop_old_records(Texts& texts) {
  const std::uint64_t newest = newest_snapshot(texts);
  for (const std::string_view old : {records_key, snapshots_key}) {
    const std::uint64_t end = old == records_key ? newest + 1 : newest;
    for (const std::string& place : {std::string{old}, fmt::format("part/{}", old)}) {
      texts.erase(texts.lower_bound(numbered(place, 0)), texts.lower_bound(numbered(place, end)));
    }
  }
}

Result<StoredJournal> journal_in(const Texts& texts, const journal::Calendar& calendar) {
  StoredJournal stored;
  stored.last = stored.snapshot = newest_snapshot(texts);
  if (stored.snapshot == 0) return stored;
  Memory memory;
  const auto snapshot = numbered(snapshots_key, stored.snapshot);
  if (auto read = apply_text(texts, snapshot, calendar, memory); !read) return fail(read.error());
  for (auto at = texts.lower_bound(numbered(records_key, stored.snapshot + 1));
       at != texts.end() && std::string_view{at->first}.starts_with(records_key); ++at) {
    const auto number = number_of(at->first, records_key);
    if (!number) continue;
    if (auto read = apply_text(texts, at->first, calendar, memory); !read) return fail(read.error());
    stored.last = *number;
  }
  stored.memory = std::move(memory);
  if (const auto text = whole_text(texts, ranks_key)) {
    auto ranks = ranks_in(*text);
    if (!ranks) return fail(ranks_key, ranks.error());
    stored.ranks = *std::move(ranks);
  }
  if (const auto text = whole_text(texts, lids_key)) {
    auto lids = lids_in(*text);
    if (!lids) return fail(lids_key, lids.error());
    stored.lids = *std::move(lids);
  }
  if (const auto text = whole_text(texts, cables_key)) {
    auto cables = cables_in(*text);
    if (!cables) return fail(cables_key, cables.error());
    stored.cables = *std::move(cables);
  }
  // A sum that cannot be read is no reason to leave a fabric without an owner.
  if (const auto text = whole_text(texts, energy_key)) {
    if (const auto energy = energy_in(*text)) stored.energy = *energy;
  }
  return stored;
}

std::unique_ptr<journal::Journal> shared_journal(std::unique_ptr<journal::Journal> file, StoredJournal stored,
                                                 const Shelf& shelf, const journal::Calendar& calendar) {
  return std::make_unique<SharedJournal>(std::move(file), std::move(stored), shelf, calendar);
}

}  // namespace heddle::shared
