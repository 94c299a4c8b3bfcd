/// What must survive a crash of the daemon: which links it has taken out of service and why, what operators
/// asked for, the order of the switches, energy totals, and the log of decisions. Measurements are not here.
///
/// Intent before action, outcome after: an entry is on disk (SQLite, WAL, synchronous=FULL) when put() comes
/// back, so that whoever starts after a crash knows every link that may be off by this program's doing. A
/// link without an entry is nobody's business here: if its port is disabled, an operator did that.
///
/// Times are wall time. One thread; calls block for as long as the disk takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "fabric/change.h"

namespace heddle::journal {

using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

enum class Owner : std::uint8_t { Regulation = 1, Operator = 2 };
enum class Target : std::uint8_t { On = 1, Off = 2, Reduced = 3 };
enum class Stage : std::uint8_t {
  Intended = 1,  ///< the command may or may not have gone out
  Done = 2,      ///< both ends were seen there
};

/// A link that this program has taken out of full service, or is about to, or is bringing back.
struct LinkEntry {
  LinkRef link;
  LinkWidth width = LinkWidth::None;  ///< when it is on in full
  LinkSpeed speed = LinkSpeed::None;
  Target target = Target::Off;
  Stage stage = Stage::Intended;
  Owner owner = Owner::Regulation;
  std::string reason;
  WallTime since;
  friend bool operator==(const LinkEntry&, const LinkEntry&) = default;
};

enum class Wish : std::uint8_t { Off = 1, On = 2, Pin = 3 };

/// What an operator asked for a link, above every decision of the regulation.
struct Override {
  LinkRef link;
  Wish wish = Wish::Off;
  std::string reason;
  std::string who;
  WallTime since;
  std::optional<WallTime> until;  ///< none: until it is taken back
  bool forced = false;            ///< may cut hosts off
  friend bool operator==(const Override&, const Override&) = default;
};

struct Event {
  std::uint64_t id = 0;  ///< ascending; given by append()
  WallTime at;
  std::string kind;  ///< one word, for filters: "off", "on", "mode", "refused" ...
  std::string link;  ///< its name for people, or empty
  std::string text;  ///< the decision and its reason, one sentence
  friend bool operator==(const Event&, const Event&) = default;
};

/// Joules of one thing: "total", a switch, or a link.
struct EnergyTotal {
  std::string of;
  Joules spent;
  Joules saved;
  friend bool operator==(const EnergyTotal&, const EnergyTotal&) = default;
};

using Rank = std::pair<NodeGuid, std::uint16_t>;

/// Implemented on a file by open_journal(). Errors of all calls: Io, with the path.
class Journal {
 public:
  virtual ~Journal() = default;

  /// All or none of them; an entry takes the place of an older one of the same link.
  virtual Result<void> put(std::span<const LinkEntry> entries) = 0;
  /// The links are on in full again. All or none.
  virtual Result<void> forget(std::span<const LinkRef> links) = 0;
  [[nodiscard]] virtual Result<std::vector<LinkEntry>> links() const = 0;

  virtual Result<void> put(const Override& wish) = 0;
  virtual Result<void> forget_override(const LinkRef& link) = 0;
  [[nodiscard]] virtual Result<std::vector<Override>> overrides() const = 0;

  /// As `heddle regulate` set it; empty before that.
  virtual Result<void> put_mode(const std::string& mode) = 0;
  [[nodiscard]] virtual Result<std::string> mode() const = 0;

  /// Takes the place of all that were there.
  virtual Result<void> put_ranks(std::span<const Rank> ranks) = 0;
  [[nodiscard]] virtual Result<std::vector<Rank>> ranks() const = 0;

  virtual Result<void> put_energy(std::span<const EnergyTotal> totals) = 0;
  [[nodiscard]] virtual Result<std::vector<EnergyTotal>> energy() const = 0;

  /// The event's id. The oldest go when there are more than `most_events`.
  virtual Result<std::uint64_t> append(const Event& event) = 0;
  /// Those with a greater id than `after`, oldest first; where there are more than `most`, the newest of
  /// them.
  [[nodiscard]] virtual Result<std::vector<Event>> events(std::uint64_t after, std::size_t most) const = 0;

  static constexpr std::uint64_t most_events = 10'000;
};

/// Opens the file, or makes it. Errors, each with the path and what to do: Io when it cannot be opened or
/// written or another program holds it; Invalid when it is damaged, when it is not a journal of Heddle, or
/// when a later version has written it.
[[nodiscard]] Result<std::unique_ptr<Journal>> open_journal(const std::string& path);

}  // namespace heddle::journal
