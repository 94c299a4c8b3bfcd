/// What must survive a crash, and the records that change it. The governor hands each record out before the
/// action that it announces; the journal writes it to disk in that order, and whoever carries out the actions
/// waits for that where a crash in between would hurt. Memory is the fold of all records, and is what a
/// restart begins from. Times are the fabric's; whoever stores them over a restart of the host converts them
/// to calendar time and back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"
#include "fabric/change.h"
#include "power/power_model.h"
#include "regulation/link_policy.h"
#include "regulation/wake_times.h"

namespace heddle::regulation {

enum class Mode : std::uint8_t {
  Off,      ///< nothing is decided; what regulation turned off comes back
  Advise,   ///< decides and says so; what regulation turned off comes back
  Enforce,  ///< and does it
};
[[nodiscard]] std::string_view to_string(Mode mode);
[[nodiscard]] std::optional<Mode> mode_from(std::string_view text);

enum class Cause : std::uint8_t { Regulation, Operator };

/// A link that is off or reduced, or is about to be.
struct OffRecord {
  LinkRef link;
  PortRef port;          ///< the side that is commanded, to be commanded again for the way back
  power::LinkMode full;  ///< to come back to
  power::LinkMode mode;  ///< off_mode, or the reduced mode
  Cause cause = Cause::Regulation;
  Instant since;
  std::string reason;
  friend bool operator==(const OffRecord&, const OffRecord&) = default;
};

using ChangeId = Id<struct ChangeIdTag, std::uint64_t>;

/// About to happen. `off` are not commanded before every table avoids them.
struct Intent {
  ChangeId change;
  Instant at;
  std::vector<OffRecord> off;
  std::vector<LinkRef> on;
  friend bool operator==(const Intent&, const Intent&) = default;
};
/// How it came out. Links of the intent that are in neither list are as they were before.
struct Outcome {
  ChangeId change;
  Instant at;
  std::vector<OffRecord> off;  ///< confirmed off, or reduced
  std::vector<LinkRef> on;     ///< confirmed on in full
  std::string note;            ///< why not all, if not all
  friend bool operator==(const Outcome&, const Outcome&) = default;
};
/// A link's override; Wish::Auto takes it away.
struct OverrideRecord {
  LinkRef link;
  Override value;
  friend bool operator==(const OverrideRecord&, const OverrideRecord&) = default;
};
struct ModeRecord {
  Mode mode = Mode::Advise;
  std::string by;
  friend bool operator==(const ModeRecord&, const ModeRecord&) = default;
};
/// What an operator takes out of service as one: links that are off and stay off, and switches that nobody is
/// to miss until it ends, away or not.
struct Drain {
  std::string what;             ///< as operators call it
  std::vector<LinkRef> links;   ///< ascending
  std::vector<NodeGuid> nodes;  ///< ascending; all of their links to other switches are drained
  std::string reason;
  std::string by;
  Instant since;
  std::optional<Instant> until;  ///< then it ends by itself
  bool forced = false;           ///< whoever is cut off by it
  friend bool operator==(const Drain&, const Drain&) = default;
};
struct DrainRecord {
  std::string what;
  std::optional<Drain> drain;  ///< none: it has ended
  friend bool operator==(const DrainRecord&, const DrainRecord&) = default;
};
/// The LID plane that traffic is told to use.
struct PlaneRecord {
  unsigned plane = 0;
  friend bool operator==(const PlaneRecord&, const PlaneRecord&) = default;
};
/// All that is known of how long a link takes to come back; empty: nothing any more.
struct WakeHistory {
  LinkRef link;
  Wakes took;
  friend bool operator==(const WakeHistory&, const WakeHistory&) = default;
};
struct WakeRecord {
  std::vector<WakeHistory> links;
  friend bool operator==(const WakeRecord&, const WakeRecord&) = default;
};
/// How the fabric is to be cabled, as an operator said last: a list of cables, or a fabric that was right.
struct Baseline {
  std::shared_ptr<const std::string> plan;  ///< never null; as cabling::read_plan() reads it
  std::string name;                         ///< of what it came from: a file, or the fabric itself
  std::string by;
  Instant since;
  friend bool operator==(const Baseline& x, const Baseline& y) {
    return (x.plan == y.plan || *x.plan == *y.plan) && x.name == y.name && x.by == y.by && x.since == y.since;
  }
};
struct BaselineRecord {
  std::optional<Baseline> baseline;  ///< none: it is forgotten
  friend bool operator==(const BaselineRecord&, const BaselineRecord&) = default;
};
using Record = std::variant<Intent, Outcome, OverrideRecord, ModeRecord, PlaneRecord, DrainRecord, WakeRecord,
                            BaselineRecord>;

struct Memory {
  std::optional<Mode> mode;  ///< none: as configured
  unsigned plane = 0;
  std::map<LinkRef, OffRecord> off;
  std::map<LinkRef, Override> overrides;
  std::map<std::string, Drain> drains;  ///< by what is drained
  std::map<LinkRef, Wakes> wakes;       ///< none is empty
  std::optional<Baseline> baseline;
  std::map<ChangeId, Intent> open;  ///< begun, without an outcome
  ChangeId last;                    ///< of all changes so far
  friend bool operator==(const Memory&, const Memory&) = default;
};

void apply(Memory& memory, const Record& record);

/// Records that, applied in this order, make `before` what `after` is: of everything that differs. A mode is
/// never taken back to "as configured", and `last` never grows less. No record has more than `most_links`
/// links, but for an intent, which is one.
[[nodiscard]] std::vector<Record> records_between(const Memory& before, const Memory& after);
inline constexpr std::size_t most_links = 1000;

}  // namespace heddle::regulation
