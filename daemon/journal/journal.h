/// What must survive a crash of the daemon: the regulation's memory (which links are off and why, changes
/// under way, overrides, mode), the order of the switches, LIDs, cables, energy totals, and the log of
/// decisions. Measurements are not here.
///
/// Intent before action, outcome after: a record is on disk (SQLite, WAL, synchronous=FULL) when write()
/// comes back, so that whoever starts after a crash knows every link that may be off by this program's doing.
/// A link that is not in memory() is nobody's business here: if its port is disabled, an operator did that.
///
/// Times are the fabric's on this side, and calendar time on disk. One thread at a time; calls block for as
/// long as the disk takes (scribe.h is for those who cannot wait).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "power/energy_account.h"
#include "regulation/memory.h"

namespace heddle::journal {

using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// Where the fabric's clock stands in calendar time, while this program runs.
struct Calendar {
  WallTime wall;
  Instant fabric;

  [[nodiscard]] WallTime to_wall(Instant at) const {
    return wall + std::chrono::duration_cast<std::chrono::milliseconds>(at - fabric);
  }
  [[nodiscard]] Instant to_fabric(WallTime at) const { return fabric + (at - wall); }
};

struct Event {
  std::uint64_t id = 0;  ///< ascending; given by append()
  WallTime at;
  std::string kind;   ///< one word, for filters
  std::string links;  ///< their names for people, or empty
  std::string text;   ///< the decision and its reason, one sentence
  friend bool operator==(const Event&, const Event&) = default;
};

using Rank = std::pair<NodeGuid, std::uint16_t>;
using PortLid = std::pair<PortRef, Lid>;  ///< its base LID

/// Between two switches, as it was found.
struct Cable {
  LinkRef link;
  std::string a;  ///< what the node of link.a is called
  std::string b;
  friend bool operator==(const Cable&, const Cable&) = default;
};

/// Implemented on a file by open_journal(). Errors of all calls: Io, with the path.
class Journal {
 public:
  virtual ~Journal() = default;

  /// Whether the file is still where it was opened: otherwise all that is written is gone with this program.
  /// On any thread.
  [[nodiscard]] virtual Result<void> check() const { return {}; }

  /// All of the record, or nothing of it.
  virtual Result<void> write(const regulation::Record& record) = 0;
  /// The fold of all records.
  [[nodiscard]] virtual const regulation::Memory& memory() const = 0;

  /// Takes the place of all that were there.
  virtual Result<void> put_ranks(std::span<const Rank> ranks) = 0;
  [[nodiscard]] virtual Result<std::vector<Rank>> ranks() const = 0;

  /// Likewise: of a fabric whose subnet manager this program is, ports that are away included.
  virtual Result<void> put_lids(std::span<const PortLid> lids) = 0;
  /// By port.
  [[nodiscard]] virtual Result<std::vector<PortLid>> lids() const = 0;

  /// Likewise: of the fabric as it is known, those included that are gone and have not been forgotten.
  virtual Result<void> put_cables(std::span<const Cable> cables) = 0;
  /// By link.
  [[nodiscard]] virtual Result<std::vector<Cable>> cables() const = 0;

  virtual Result<void> put_energy(const power::EnergyRecord& record) = 0;
  [[nodiscard]] virtual Result<power::EnergyRecord> energy() const = 0;

  /// The event's id. The oldest go when there are more than `most_events`.
  virtual Result<std::uint64_t> append(const Event& event) = 0;
  /// Those with a greater id than `after`, oldest first; where there are more than `most`, the newest of
  /// them.
  [[nodiscard]] virtual Result<std::vector<Event>> events(std::uint64_t after, std::size_t most) const = 0;

  /// All of it, for open_image().
  [[nodiscard]] virtual Result<std::string> image() const {
    return fail(ErrorCode::Unsupported, "this journal has no image");
  }

  static constexpr std::uint64_t most_events = 10'000;
};

/// Opens the file, or makes it. Errors, each with the path and what to do: Io when it cannot be opened or
/// written or another program holds it; Invalid when it is damaged, when it is not a journal of Heddle, or
/// when a later version has written it.
[[nodiscard]] Result<std::unique_ptr<Journal>> open_journal(const std::string& path,
                                                            const Calendar& calendar);

/// One in memory, that begins as the image has it. Errors: Io; Invalid, as open_journal's.
[[nodiscard]] Result<std::unique_ptr<Journal>> open_image(const std::string& image, const Calendar& calendar);

}  // namespace heddle::journal
