#include "journal/schema.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace heddle::journal {
namespace {

/// In the file's header, so that file(1) and others know whose it is: "Hedl".
constexpr std::int64_t application_id = 0x4865646c;
constexpr std::int64_t schema_version = 7;

constexpr const char* schema = R"(
CREATE TABLE off(a_node INTEGER, a_port INTEGER, b_node INTEGER, b_port INTEGER,
  node INTEGER, port INTEGER, full_width INTEGER, full_speed INTEGER, width INTEGER, speed INTEGER,
  cause INTEGER, since INTEGER, reason TEXT, change INTEGER,
  PRIMARY KEY(a_node, a_port, b_node, b_port, change));
CREATE TABLE intent(change INTEGER PRIMARY KEY, at INTEGER);
CREATE TABLE intent_on(a_node INTEGER, a_port INTEGER, b_node INTEGER, b_port INTEGER, change INTEGER);
CREATE TABLE override(a_node INTEGER, a_port INTEGER, b_node INTEGER, b_port INTEGER, wish INTEGER, reason TEXT,
  by TEXT, until INTEGER, forced INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(a_node, a_port, b_node, b_port));
CREATE TABLE setting(name TEXT PRIMARY KEY, value INTEGER);
CREATE TABLE rank(node INTEGER PRIMARY KEY, rank INTEGER);
CREATE TABLE energy_link(a_node INTEGER, a_port INTEGER, b_node INTEGER, b_port INTEGER, spent REAL, saved REAL);
CREATE TABLE energy_switch(node INTEGER PRIMARY KEY, spent REAL, saved REAL);
CREATE TABLE energy_total(spent REAL, saved REAL);
CREATE TABLE event(id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER, kind TEXT, links TEXT, text TEXT);
PRAGMA application_id = 0x4865646c;
PRAGMA user_version = 2;
)";
constexpr std::int64_t version_made = 2;  ///< by that

/// From schema 1 to 2.
constexpr const char* add_forced = R"(
ALTER TABLE override ADD COLUMN forced INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 2;
)";

/// From schema 2 to 3.
constexpr const char* add_drains = R"(
CREATE TABLE drain(what TEXT PRIMARY KEY, reason TEXT, by TEXT, since INTEGER, until INTEGER, forced INTEGER);
CREATE TABLE drain_link(a_node INTEGER, a_port INTEGER, b_node INTEGER, b_port INTEGER, what TEXT);
CREATE TABLE drain_node(node INTEGER, what TEXT);
PRAGMA user_version = 3;
)";

/// From schema 3 to 4. Times as text: milliseconds, the oldest first, with spaces between.
constexpr const char* add_wakes = R"(
CREATE TABLE wake(a_node INTEGER, a_port INTEGER, b_node INTEGER, b_port INTEGER, took TEXT,
  PRIMARY KEY(a_node, a_port, b_node, b_port));
PRAGMA user_version = 4;
)";

/// From schema 4 to 5.
constexpr const char* add_lids = R"(
CREATE TABLE lid(node INTEGER, port INTEGER, lid INTEGER, PRIMARY KEY(node, port)) WITHOUT ROWID;
PRAGMA user_version = 5;
)";

/// From schema 5 to 6. One row, or none.
constexpr const char* add_baseline = R"(
CREATE TABLE baseline(plan TEXT, name TEXT, by TEXT, since INTEGER);
PRAGMA user_version = 6;
)";

/// From schema 6 to 7.
constexpr const char* add_cables = R"(
CREATE TABLE cable(a_node INTEGER, a_port INTEGER, b_node INTEGER, b_port INTEGER, a TEXT, b TEXT,
  PRIMARY KEY(a_node, a_port, b_node, b_port)) WITHOUT ROWID;
PRAGMA user_version = 7;
)";

/// What makes the next schema of each, from the first on.
constexpr std::array steps{add_forced, add_drains, add_wakes, add_lids, add_baseline, add_cables};
static_assert(steps.size() + 1 == schema_version);

Result<void> run_steps(const Database& database, std::int64_t version) {
  for (const char* step : std::span(steps).subspan(static_cast<std::size_t>(version - 1))) {
    if (auto done = database.run(step); !done) return done;
  }
  return {};
}

/// An empty file has version 0.
Result<void> bring_up_to_date(const Database& database, std::int64_t version) {
  Transaction transaction(database);
  if (auto begun = transaction.begin(); !begun) return begun;
  if (version == 0) {
    if (auto made = database.run(schema); !made) return made;
    version = version_made;
  }
  if (auto done = run_steps(database, version); !done) return done;
  return transaction.commit();
}

Result<void> held(const Database& database) {
  return fail(
      ErrorCode::Io,
      fmt::format("journal {}: another program holds it; is a daemon with the same state.directory running?",
                  database.path()));
}

/// A disk that fails for a moment is no reason to give up what it holds.
Result<void> unreadable(const Database& database, const std::string& why) {
  return fail(
      ErrorCode::Io,
      fmt::format("journal {}: it cannot be read ({}). Leave the file where it is, since it says which links "
                  "are off, and see what is wrong with its disk (dmesg)",
                  database.path(), why));
}

Result<void> cannot_read(const Database& database) {
  switch (database.trouble()) {
    case Database::Trouble::Damage:
      return fail(database.damaged(database.reason()));
    case Database::Trouble::Held:
      return held(database);
    case Database::Trouble::Disk:
      break;
  }
  return unreadable(database, database.reason());
}

/// Of the check of everything a disk that fails is a word in a text: "error code=266", or, of what does not
/// fit into one page, this one, which SQLite says of no other failure (checkList() of its btree.c).
bool disk_failed(const std::string& verdict) {
  if (verdict.find("failed to get page") != std::string::npos) return true;
  static constexpr std::string_view word = "error code=";
  const auto at = verdict.find(word);
  if (at == std::string::npos) return false;
  constexpr int primary = 0xff;
  return (std::atoi(verdict.c_str() + at + word.size()) & primary) == SQLITE_IOERR;
}

Result<void> check_everything(const Database& database) {
  const auto verdict = database.text("PRAGMA integrity_check(1)");
  if (!verdict) return cannot_read(database);
  if (*verdict == "ok") return {};
  return disk_failed(*verdict) ? unreadable(database, *verdict) : fail(database.damaged(*verdict));
}

}  // namespace

Result<void> check_or_make_schema(const Database& database) {
  const std::string& path = database.path();
  const auto invalid = [&](std::string why) {
    return fail(ErrorCode::Invalid, fmt::format("journal {}: {}", path, why));
  };
  auto pages = database.number("PRAGMA page_count");
  if (!pages) return cannot_read(database);
  const auto id = database.number("PRAGMA application_id");
  if (!id) return cannot_read(database);
  const auto version = database.number("PRAGMA user_version");
  if (!version) return cannot_read(database);
  if (*pages == 0) return bring_up_to_date(database, 0);
  if (*id != application_id) {
    return invalid(
        "this is a database of another program; set state.directory to a directory of Heddle's own");
  }
  if (*version > schema_version) {
    return invalid(
        fmt::format("written by a later version of Heddle (schema {}, this one knows {}); start "
                    "that version, or move the file away",
                    *version, schema_version));
  }
  if (auto whole = check_everything(database); !whole) return whole;
  if (*version < 1 || *version == schema_version) return {};
  return bring_up_to_date(database, *version);
}

}  // namespace heddle::journal
