/// The journal for a caller who must not wait for the disk: it hands over what is to be kept and goes on.
/// What is handed over is written in that order, one after the other, where the caller says (a thread that
/// may wait, in the daemon). Who must not act before all of it is on disk asks for that with after().
///
/// memory(), ranks(), lids() and cables() are those of all that was handed over, but for records that the
/// disk has refused.
///
/// All calls, and all that it calls but for Desk::run's work, are on the caller's thread. Nothing is called
/// after its end. The journal must outlive the work that was handed over.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/desk.h"
#include "journal/journal.h"

namespace heddle::journal {

class Scribe {
 public:
  using Stored = std::function<void(const Result<void>&)>;
  using Then = std::function<void(Instant now)>;
  using Read = std::function<void(const Result<std::vector<Event>>&)>;

  /// Reads what the journal holds, and waits for that.
  Scribe(Journal& journal, Desk desk);

  void write(const regulation::Record& record, Stored stored);
  [[nodiscard]] regulation::Memory memory() const;

  void put_ranks(const std::vector<Rank>& ranks, Stored stored);
  /// Of the start, where that failed; see Journal.
  [[nodiscard]] const Result<std::vector<Rank>>& ranks() const { return ranks_; }

  void put_lids(std::vector<PortLid> lids, Stored stored);
  /// As ranks().
  [[nodiscard]] const Result<std::vector<PortLid>>& lids() const { return lids_; }

  void put_cables(std::vector<Cable> cables, Stored stored);
  /// As ranks().
  [[nodiscard]] const Result<std::vector<Cable>>& cables() const { return cables_; }

  /// Where one waits to be written already, this one is left out: the next is as good.
  void put_energy(const power::EnergyRecord& record, Stored stored);
  /// As it was at the start.
  [[nodiscard]] const Result<power::EnergyRecord>& energy() const { return energy_; }

  /// Refused when too much waits for the disk: decisions are in the system's log as well.
  void append(const Event& event, Stored stored);
  /// With all that was appended before. Refused as append() is, and when `most_reads` wait already: what is
  /// to be written would wait for them.
  void events(std::uint64_t after, std::size_t most, Read read);
  [[nodiscard]] std::size_t reads_waiting() const { return reads_waiting_; }

  /// Calls `then` when word has come back of all that was handed over until now, whatever it says; at once
  /// where that is so already.
  void after(Then then);

  /// Journal::check(), which asks for names and not for the disk's content: now.
  [[nodiscard]] Result<void> check() const { return journal_.check(); }

  /// How many things wait for the disk.
  [[nodiscard]] std::size_t waiting() const { return handed_over_.size(); }
  /// How long the first of them has waited.
  [[nodiscard]] FabricClock::duration wait() const {
    return handed_over_.empty() ? FabricClock::duration{} : desk_.now() - handed_over_.front();
  }

  static constexpr std::size_t most_waiting = 1000;
  static constexpr std::size_t most_reads = 16;

 private:
  template <class Value>
  void hand_over(std::function<Result<Value>()> work, std::function<void(const Result<Value>&)> then);
  void came_back();
  [[nodiscard]] Result<void> not_too_many() const;

  Journal& journal_;
  Desk desk_;
  regulation::Memory memory_;  ///< on disk, as far as word has come back
  std::deque<regulation::Record> unstored_;
  Result<std::vector<Rank>> ranks_;
  Result<std::vector<PortLid>> lids_;
  Result<std::vector<Cable>> cables_;
  Result<power::EnergyRecord> energy_;
  bool energy_waits_ = false;
  std::size_t reads_waiting_ = 0;
  std::uint64_t done_ = 0;           ///< of all that was ever handed over
  std::deque<Instant> handed_over_;  ///< when, what is not done
  std::deque<std::pair<std::uint64_t, Then>> fences_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heddle::journal
