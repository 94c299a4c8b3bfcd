/// A journal that other hosts can go on with: all that changes what is off, and why, is in the store that
/// they share before it is in the file of this host, and before anybody acts on it. The file has all of it
/// as well, for a daemon that goes back to being alone, besides what is this host's own: the energy of each
/// link and switch, and the log of decisions.
///
/// In the store records have ascending numbers (journal/record/N). Now and then one text takes the place of
/// all before it (journal/snapshot/N).
///
/// Calls block, for the store too: one thread that may wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/journal.h"
#include "shared/lease.h"
#include "shared/store.h"
#include "shared/texts.h"

namespace heddle::shared {

/// What the store says of the regulation; nothing where nobody has stored any.
struct StoredJournal {
  std::optional<regulation::Memory> memory{};
  std::vector<journal::Rank> ranks{};
  std::optional<power::EnergyTotals> energy{};          ///< of the fabric; none: likewise
  std::optional<std::vector<journal::PortLid>> lids{};  ///< none: stored by a version that stored none
  std::optional<std::vector<journal::Cable>> cables{};  ///< likewise
  std::uint64_t last = 0;                               ///< record
  std::uint64_t snapshot = 0;                           ///< all records up to this one are in it
};

/// Errors (Invalid): what is stored cannot be read, and says more than is known without it.
[[nodiscard]] Result<StoredJournal> journal_in(const Texts& texts, const journal::Calendar& calendar);

/// Leaves out of `texts` what the newest snapshot has.
void drop_old_records(Texts& texts);

/// What an owner stores in. All must outlive the journal.
struct Shelf {
  Store& store;
  Lease& lease;
  std::string prefix;
  Guard guard;
  /// Between attempts, where no answer comes: a store that chooses its leader anew is away for a second or
  /// two.
  std::chrono::milliseconds pause{200};
};
/// While the lease lasts.
inline constexpr int most_attempts = 15;

/// `stored`: as it was when the lease was taken. Where there is nothing, what the file knows is stored.
[[nodiscard]] std::unique_ptr<journal::Journal> shared_journal(std::unique_ptr<journal::Journal> file,
                                                               StoredJournal stored, const Shelf& shelf,
                                                               const journal::Calendar& calendar);

/// Of records, after which a snapshot takes their place.
inline constexpr std::uint64_t records_per_snapshot = 500;

}  // namespace heddle::shared
