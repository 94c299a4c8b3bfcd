#include <fmt/format.h>

#include <bit>

#include "journal/database.h"
#include "journal/journal.h"

namespace heddle::journal {
namespace {

/// In the file's header, so that file(1) and others know whose it is: "Hedl".
constexpr std::int64_t application_id = 0x4865646c;
constexpr std::int64_t schema_version = 1;

constexpr const char* schema = R"(
CREATE TABLE link(a_node INTEGER, a_port INTEGER, b_node INTEGER, b_port INTEGER, width INTEGER, speed INTEGER,
  target INTEGER, stage INTEGER, owner INTEGER, reason TEXT, since INTEGER, PRIMARY KEY(a_node, a_port));
CREATE TABLE override(a_node INTEGER, a_port INTEGER, b_node INTEGER, b_port INTEGER, wish INTEGER, reason TEXT,
  who TEXT, since INTEGER, until INTEGER, forced INTEGER, PRIMARY KEY(a_node, a_port));
CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE rank(node INTEGER PRIMARY KEY, rank INTEGER);
CREATE TABLE energy(of TEXT PRIMARY KEY, spent REAL, saved REAL);
CREATE TABLE event(id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER, kind TEXT, link TEXT, text TEXT);
PRAGMA application_id = 0x4865646c;
PRAGMA user_version = 1;
)";

std::int64_t raw(NodeGuid guid) { return std::bit_cast<std::int64_t>(guid.raw()); }
NodeGuid guid_from(std::int64_t raw) { return NodeGuid{std::bit_cast<std::uint64_t>(raw)}; }
std::int64_t raw(WallTime at) { return at.time_since_epoch().count(); }
WallTime time_from(std::int64_t raw) { return WallTime{std::chrono::milliseconds{raw}}; }

void bind_link(Statement& statement, const LinkRef& link) {
  statement.bind(raw(link.a.node))
      .bind(std::int64_t{link.a.port.raw()})
      .bind(raw(link.b.node))
      .bind(std::int64_t{link.b.port.raw()});
}

LinkRef link_from(const Statement& row) {
  const auto port = [&](int column) { return PortNum{static_cast<std::uint8_t>(row.integer(column))}; };
  return {{guid_from(row.integer(0)), port(1)}, {guid_from(row.integer(2)), port(3)}};
}

template <class Enum>
Enum enum_from(const Statement& row, int column) {
  return static_cast<Enum>(row.integer(column));
}

Result<void> check_and_make(const Database& database) {
  const std::string& path = database.path();
  const auto invalid = [&](std::string why) {
    return fail(ErrorCode::Invalid, fmt::format("journal {}: {}", path, why));
  };
  const char* const damaged =
      "the file is damaged ({}). Move it away and start again: links that are off will not be known as "
      "Heddle's doing then, so see which ports are disabled first (ibportstate, heddle links --power)";
  auto pages = database.number("PRAGMA page_count");
  if (!pages) return invalid(fmt::format(fmt::runtime(damaged), pages.error().message));
  const auto id = database.number("PRAGMA application_id");
  const auto version = database.number("PRAGMA user_version");
  if (!id || !version)
    return invalid(fmt::format(fmt::runtime(damaged), (id ? version : id).error().message));
  if (*pages == 0) {
    Transaction transaction(database);
    if (auto begun = transaction.begin(); !begun) return begun;
    if (auto made = database.run(schema); !made) return made;
    return transaction.commit();
  }
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
  const auto verdict = database.text("PRAGMA integrity_check(1)");
  const std::string found = verdict ? *verdict : verdict.error().message;
  if (found != "ok") return invalid(fmt::format(fmt::runtime(damaged), found));
  return {};
}

class SqliteJournal final : public Journal {
 public:
  explicit SqliteJournal(Database database) : database_{std::move(database)} {}

  Result<void> put(std::span<const LinkEntry> entries) override {
    return in_transaction("INSERT OR REPLACE INTO link VALUES(?,?,?,?,?,?,?,?,?,?,?)", entries,
                          [](Statement& row, const LinkEntry& entry) {
                            bind_link(row, entry.link);
                            row.bind(static_cast<std::int64_t>(entry.width))
                                .bind(static_cast<std::int64_t>(entry.speed))
                                .bind(static_cast<std::int64_t>(entry.target))
                                .bind(static_cast<std::int64_t>(entry.stage))
                                .bind(static_cast<std::int64_t>(entry.owner))
                                .bind(entry.reason)
                                .bind(raw(entry.since));
                          });
  }

  Result<void> forget(std::span<const LinkRef> links) override {
    return in_transaction("DELETE FROM link WHERE a_node=? AND a_port=? AND b_node=? AND b_port=?", links,
                          bind_link);
  }

  [[nodiscard]] Result<std::vector<LinkEntry>> links() const override {
    return rows<LinkEntry>("SELECT * FROM link ORDER BY a_node, a_port", [](const Statement& row) {
      return LinkEntry{link_from(row),
                       enum_from<LinkWidth>(row, 4),
                       enum_from<LinkSpeed>(row, 5),
                       enum_from<Target>(row, 6),
                       enum_from<Stage>(row, 7),
                       enum_from<Owner>(row, 8),
                       row.text(9),
                       time_from(row.integer(10))};
    });
  }

  Result<void> put(const Override& wish) override {
    return in_transaction("INSERT OR REPLACE INTO override VALUES(?,?,?,?,?,?,?,?,?,?)", std::span(&wish, 1),
                          [](Statement& row, const Override& one) {
                            bind_link(row, one.link);
                            row.bind(static_cast<std::int64_t>(one.wish))
                                .bind(one.reason)
                                .bind(one.who)
                                .bind(raw(one.since))
                                .bind(one.until ? std::optional{raw(*one.until)} : std::nullopt)
                                .bind(std::int64_t{one.forced ? 1 : 0});
                          });
  }

  Result<void> forget_override(const LinkRef& link) override {
    return in_transaction("DELETE FROM override WHERE a_node=? AND a_port=? AND b_node=? AND b_port=?",
                          std::span(&link, 1), bind_link);
  }

  [[nodiscard]] Result<std::vector<Override>> overrides() const override {
    return rows<Override>("SELECT * FROM override ORDER BY a_node, a_port", [](const Statement& row) {
      Override wish{link_from(row),     enum_from<Wish>(row, 4),   row.text(5),
                    row.text(6),        time_from(row.integer(7)), std::nullopt,
                    row.integer(9) != 0};
      if (const auto until = row.maybe_integer(8)) wish.until = time_from(*until);
      return wish;
    });
  }

  Result<void> put_mode(const std::string& mode) override {
    return in_transaction("INSERT OR REPLACE INTO setting VALUES('mode', ?)", std::span(&mode, 1),
                          [](Statement& row, const std::string& value) { row.bind(value); });
  }

  [[nodiscard]] Result<std::string> mode() const override {
    auto found = rows<std::string>("SELECT value FROM setting WHERE name='mode'",
                                   [](const Statement& row) { return row.text(0); });
    if (!found) return fail(found.error());
    return found->empty() ? std::string{} : found->front();
  }

  Result<void> put_ranks(std::span<const Rank> ranks) override {
    return in_transaction(
        "INSERT INTO rank VALUES(?,?)", ranks,
        [](Statement& row, const Rank& rank) { row.bind(raw(rank.first)).bind(std::int64_t{rank.second}); },
        "DELETE FROM rank");
  }

  [[nodiscard]] Result<std::vector<Rank>> ranks() const override {
    return rows<Rank>("SELECT node, rank FROM rank ORDER BY node", [](const Statement& row) {
      return Rank{guid_from(row.integer(0)), static_cast<std::uint16_t>(row.integer(1))};
    });
  }

  Result<void> put_energy(std::span<const EnergyTotal> totals) override {
    return in_transaction("INSERT OR REPLACE INTO energy VALUES(?,?,?)", totals,
                          [](Statement& row, const EnergyTotal& total) {
                            row.bind(total.of).bind(total.spent.value()).bind(total.saved.value());
                          });
  }

  [[nodiscard]] Result<std::vector<EnergyTotal>> energy() const override {
    return rows<EnergyTotal>("SELECT of, spent, saved FROM energy ORDER BY of", [](const Statement& row) {
      return EnergyTotal{row.text(0), Joules{row.real(1)}, Joules{row.real(2)}};
    });
  }

  Result<std::uint64_t> append(const Event& event) override {
    auto added = in_transaction("INSERT INTO event(at, kind, link, text) VALUES(?,?,?,?)",
                                std::span(&event, 1), [](Statement& row, const Event& one) {
                                  row.bind(raw(one.at)).bind(one.kind).bind(one.link).bind(one.text);
                                });
    if (!added) return fail(added.error());
    const auto id = static_cast<std::uint64_t>(database_.last_id());
    if (id % prune_every == 0) {
      auto old = database_.prepare("DELETE FROM event WHERE id <= ?");
      if (!old) return fail(old.error());
      old->bind(static_cast<std::int64_t>(id) - static_cast<std::int64_t>(most_events));
      if (auto done = database_.finish(*old); !done) return fail(done.error());
    }
    return id;
  }

  [[nodiscard]] Result<std::vector<Event>> events(std::uint64_t after, std::size_t most) const override {
    auto found = rows<Event>(
        "SELECT id, at, kind, link, text FROM (SELECT * FROM event WHERE id > ? ORDER BY id DESC LIMIT ?) "
        "ORDER BY id",
        [](const Statement& row) {
          return Event{static_cast<std::uint64_t>(row.integer(0)), time_from(row.integer(1)), row.text(2),
                       row.text(3), row.text(4)};
        },
        {static_cast<std::int64_t>(after), static_cast<std::int64_t>(most)});
    return found;
  }

 private:
  static constexpr std::uint64_t prune_every = 100;

  /// Runs the statement once for each item, after `first`, as one change.
  template <class Items, class Bind>
  Result<void> in_transaction(const char* sql, const Items& items, Bind bind, const char* first = nullptr) {
    Transaction transaction(database_);
    if (auto begun = transaction.begin(); !begun) return begun;
    if (first != nullptr) {
      if (auto done = database_.run(first); !done) return done;
    }
    auto statement = database_.prepare(sql);
    if (!statement) return fail(statement.error());
    for (const auto& item : items) {
      bind(*statement, item);
      if (auto done = database_.finish(*statement); !done) return done;
    }
    return transaction.commit();
  }

  template <class Item, class Read>
  Result<std::vector<Item>> rows(const char* sql, Read read, std::vector<std::int64_t> values = {}) const {
    auto statement = database_.prepare(sql);
    if (!statement) return fail(statement.error());
    for (const std::int64_t value : values) statement->bind(value);
    std::vector<Item> items;
    int status = SQLITE_ROW;
    while ((status = statement->step()) == SQLITE_ROW) items.push_back(read(*statement));
    if (status != SQLITE_DONE) return fail(database_.error("it cannot be read"));
    return items;
  }

  Database database_;
};

}  // namespace

Result<std::unique_ptr<Journal>> open_journal(const std::string& path) {
  auto database = Database::open(path);
  if (!database) return fail(database.error());
  // A second daemon on the same state is refused at once, not at its first write.
  if (auto alone = database->run("PRAGMA locking_mode=EXCLUSIVE"); !alone) return fail(alone.error());
  if (auto good = check_and_make(*database); !good) return fail(good.error());
  for (const char* setting : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"}) {
    if (auto set = database->run(setting); !set) return fail(set.error());
  }
  return std::unique_ptr<Journal>(std::make_unique<SqliteJournal>(*std::move(database)));
}

}  // namespace heddle::journal
