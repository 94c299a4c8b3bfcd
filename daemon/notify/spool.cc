#include "notify/spool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "journal/database.h"
#include "notify/destination.h"

namespace heddle::notify {
namespace {

using journal::Database;
using journal::Statement;
using journal::Transaction;
using notice::Notice;
using notice::What;

/// In the file's header: "Hnot".
constexpr std::int64_t spool_application = 0x486e6f74;
constexpr std::int64_t spool_version = 1;

constexpr const char* spool_schema = R"(
CREATE TABLE notice(id INTEGER PRIMARY KEY AUTOINCREMENT, class INTEGER, at INTEGER, what INTEGER, kind TEXT,
  links TEXT, text TEXT, since INTEGER);
CREATE TABLE reader(name TEXT PRIMARY KEY, cursor INTEGER, dropped INTEGER);
CREATE TABLE problem(kind TEXT PRIMARY KEY, text TEXT, since INTEGER);
PRAGMA application_id = 0x486e6f74;
PRAGMA user_version = 1;
)";

std::int64_t milliseconds_of(notice::WallTime at) { return at.time_since_epoch().count(); }
notice::WallTime wall_from(std::int64_t raw) { return notice::WallTime{std::chrono::milliseconds{raw}}; }

unsigned class_of(const Notice& notice) {
  if (notice::is_problem(notice.what)) return wants_problems;
  const bool of_a_switch = notice.kind == "unused" || notice.kind == "needed";
  return of_a_switch ? wants_events | wants_switches : wants_events;
}

class SqliteSpool final : public Spool {
 public:
  SqliteSpool(Database database, std::uint64_t most) : database_{std::move(database)}, most_{most} {}

  Result<void> prepare() {
    const auto id = database_.number("PRAGMA application_id");
    const auto version = database_.number("PRAGMA user_version");
    const auto tables = database_.number("SELECT count(*) FROM sqlite_master");
    if (!id || !version || !tables) return unfit((!id ? id : !version ? version : tables).error().message);
    if (*tables != 0 && (*id != spool_application || *version != spool_version)) {
      return unfit("it is no queue of notices, or one of another version");
    }
    if (auto set = database_.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                                 "PRAGMA journal_size_limit = 262144; PRAGMA wal_autocheckpoint = 48");
        !set) {
      return set;
    }
    if (*tables != 0) return {};
    return in_transaction([&] { return database_.run(spool_schema); });
  }

  Result<void> use(std::span<const Reader> readers) override {
    readers_.assign(readers.begin(), readers.end());
    auto used = in_transaction([&]() -> Result<void> {
      for (const Reader& reader : readers_) {
        auto add = database_.prepare(
            "INSERT OR IGNORE INTO reader VALUES(?, (SELECT coalesce(max(seq), 0) FROM sqlite_sequence), 0)");
        if (!add) return fail(add.error());
        add->bind(reader.name);
        if (auto done = database_.finish(*add); !done) return done;
      }
      return forget_others();
    });
    if (!used) return used;
    return count();
  }

  [[nodiscard]] std::vector<Standing> standings() const override { return standings_; }

  Result<std::uint64_t> append(const Notice& notice) override {
    std::uint64_t id = 0;
    const std::uint64_t full = most_;
    auto written = in_transaction([&]() -> Result<void> {
      auto add = database_.prepare(
          "INSERT INTO notice(class, at, what, kind, links, text, since) VALUES(?, ?, ?, ?, ?, ?, ?)");
      if (!add) return fail(add.error());
      add->bind(std::int64_t{class_of(notice)})
          .bind(milliseconds_of(notice.at))
          .bind(static_cast<std::int64_t>(notice.what))
          .bind(notice.kind)
          .bind(notice.links)
          .bind(notice.text)
          .bind(milliseconds_of(notice.since));
      if (auto done = database_.finish(*add); !done) return done;
      id = static_cast<std::uint64_t>(database_.last_id());
      if (auto noted = note_problem(notice); !noted) return noted;
      return id > full ? drop_up_to(id - full) : Result<void>{};
    });
    if (!written) return fail(written.error());
    // Most of the time nobody is behind, and counting is not worth a query.
    bool anybody_dropped = false;
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      if ((readers_[i].wants & class_of(notice)) != 0) ++standings_[i].queued;
      anybody_dropped |= standings_[i].queued > full || id > full;
    }
    if (anybody_dropped) {
      if (auto counted = count(); !counted) return fail(counted.error());
    }
    return id;
  }

  [[nodiscard]] Result<std::vector<Notice>> read(std::size_t reader, std::size_t most) const override {
    auto rows = database_.prepare(
        "SELECT id, at, what, kind, links, text, since FROM notice WHERE id > (SELECT cursor FROM reader "
        "WHERE name = ?) AND (class & ?) != 0 ORDER BY id LIMIT ?");
    if (!rows) return fail(rows.error());
    rows->bind(readers_[reader].name)
        .bind(std::int64_t{readers_[reader].wants})
        .bind(static_cast<std::int64_t>(most));
    std::vector<Notice> notices;
    while (rows->step() == journal_row) {
      notices.push_back({static_cast<std::uint64_t>(rows->integer(0)), wall_from(rows->integer(1)),
                         static_cast<What>(rows->integer(2)), rows->text(3), rows->text(4), rows->text(5),
                         wall_from(rows->integer(6))});
    }
    return notices;
  }

  Result<void> done(std::size_t reader, std::uint64_t up_to, End end) override {
    auto written = in_transaction([&]() -> Result<void> {
      auto move = database_.prepare(
          "UPDATE reader SET cursor = max(cursor, ?), dropped = dropped + ? WHERE name = ?");
      if (!move) return fail(move.error());
      move->bind(static_cast<std::int64_t>(up_to))
          .bind(std::int64_t{end == End::Dropped ? 1 : 0})
          .bind(readers_[reader].name);
      if (auto moved = database_.finish(*move); !moved) return moved;
      return forget_others();
    });
    if (!written) return written;
    return count();
  }

  [[nodiscard]] Result<std::vector<notice::OpenProblem>> open_problems() const override {
    auto rows = database_.prepare("SELECT kind, text, since FROM problem ORDER BY kind");
    if (!rows) return fail(rows.error());
    std::vector<notice::OpenProblem> all;
    while (rows->step() == journal_row)
      all.push_back({rows->text(0), rows->text(1), wall_from(rows->integer(2))});
    return all;
  }

 private:
  static constexpr int journal_row = SQLITE_ROW;

  [[nodiscard]] Result<void> unfit(const std::string& why) const {
    return fail(ErrorCode::Invalid,
                fmt::format("{}: {}; move it away and restart the daemon", database_.path(), why));
  }

  template <class Do>
  Result<void> in_transaction(Do&& what) {
    Transaction transaction(database_);
    if (auto begun = transaction.begin(); !begun) return begun;
    if (Result<void> done = what(); !done) return done;
    return transaction.commit();
  }

  Result<void> note_problem(const Notice& notice) {
    if (!notice::is_problem(notice.what)) return {};
    if (notice.what == What::ProblemEnded) {
      auto take = database_.prepare("DELETE FROM problem WHERE kind = ?");
      if (!take) return fail(take.error());
      take->bind(notice.kind);
      return database_.finish(*take);
    }
    auto put = database_.prepare("INSERT OR REPLACE INTO problem VALUES(?, ?, ?)");
    if (!put) return fail(put.error());
    put->bind(notice.kind).bind(notice.text).bind(milliseconds_of(notice.since));
    return database_.finish(*put);
  }

  /// Those with this id or a lower one go, and whoever had not got them counts what it wanted of them.
  Result<void> drop_up_to(std::uint64_t id) {
    const auto last = static_cast<std::int64_t>(id);
    for (const Reader& reader : readers_) {
      auto count = database_.prepare(
          "UPDATE reader SET dropped = dropped + (SELECT count(*) FROM notice WHERE id <= ? AND id > cursor "
          "AND "
          "(class & ?) != 0), cursor = max(cursor, ?) WHERE name = ?");
      if (!count) return fail(count.error());
      count->bind(last).bind(std::int64_t{reader.wants}).bind(last).bind(reader.name);
      if (auto counted = database_.finish(*count); !counted) return counted;
    }
    auto drop = database_.prepare("DELETE FROM notice WHERE id <= ?");
    if (!drop) return fail(drop.error());
    drop->bind(last);
    return database_.finish(*drop);
  }

  /// Readers that are not configured any more, and what everybody has.
  Result<void> forget_others() {
    auto names = database_.prepare("SELECT name FROM reader");
    if (!names) return fail(names.error());
    std::vector<std::string> gone;
    while (names->step() == journal_row) {
      std::string name = names->text(0);
      const bool known = std::ranges::any_of(readers_, [&](const Reader& each) { return each.name == name; });
      if (!known) gone.push_back(std::move(name));
    }
    names->reset();
    for (const std::string& name : gone) {
      auto forget = database_.prepare("DELETE FROM reader WHERE name = ?");
      if (!forget) return fail(forget.error());
      forget->bind(name);
      if (auto forgotten = database_.finish(*forget); !forgotten) return forgotten;
    }
    return database_.run("DELETE FROM notice WHERE id <= (SELECT min(cursor) FROM reader)");
  }

  Result<void> count() {
    standings_.assign(readers_.size(), {});
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      auto row = database_.prepare(
          "SELECT (SELECT count(*) FROM notice WHERE id > cursor AND (class & ?) != 0), dropped FROM reader "
          "WHERE name = ?");
      if (!row) return fail(row.error());
      row->bind(std::int64_t{readers_[i].wants}).bind(readers_[i].name);
      if (row->step() != journal_row) return fail(database_.error("it cannot be read"));
      standings_[i] = {static_cast<std::uint64_t>(row->integer(0)),
                       static_cast<std::uint64_t>(row->integer(1))};
    }
    return {};
  }

  Database database_;
  std::uint64_t most_;
  std::vector<Reader> readers_;
  std::vector<Standing> standings_;
};

}  // namespace

Result<std::unique_ptr<Spool>> open_spool(const std::string& path, std::uint64_t most) {
  auto database = Database::open(path);
  if (!database) return fail(database.error());
  auto spool = std::make_unique<SqliteSpool>(*std::move(database), most);
  if (auto ready = spool->prepare(); !ready) return fail(ready.error());
  return spool;
}

}  // namespace heddle::notify
