#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "journal/cable_rows.h"
#include "journal/database.h"
#include "journal/drain_rows.h"
#include "journal/energy_rows.h"
#include "journal/journal.h"
#include "journal/lid_rows.h"
#include "journal/rows.h"
#include "journal/schema.h"
#include "journal/wake_rows.h"

namespace heddle::journal {
namespace {

using regulation::Baseline;
using regulation::BaselineRecord;
using regulation::ChangeId;
using regulation::DrainRecord;
using regulation::Intent;
using regulation::Memory;
using regulation::ModeRecord;
using regulation::OffRecord;
using regulation::Outcome;
using regulation::OverrideRecord;
using regulation::PlaneRecord;
using regulation::Record;

/// Of the log beside the file, as it stays when what is in it is in the file as well.
constexpr std::int64_t most_log_bytes = 256 * 1024;
/// After so many pages in the log they go into the file. Each is 4 kB, and 24 bytes in the log.
constexpr std::int64_t log_pages = 48;

/// In the column `change` of `off`: confirmed, of no change that is under way.
constexpr std::int64_t confirmed = 0;

void bind_mode(Statement& statement, power::LinkMode mode) {
  statement.bind(static_cast<std::int64_t>(mode.width)).bind(static_cast<std::int64_t>(mode.speed));
}

power::LinkMode mode_from(const Statement& row, int column) {
  return {enum_from(row, column, LinkWidth::X12), enum_from(row, column + 1, LinkSpeed::Xdr)};
}

class SqliteJournal final : public Journal {
 public:
  SqliteJournal(Database database, const Calendar& calendar)
      : database_{std::move(database)}, calendar_{calendar} {}

  Result<void> load() {
    for (const auto& step :
         {&SqliteJournal::load_off, &SqliteJournal::load_intents, &SqliteJournal::load_overrides,
          &SqliteJournal::load_drains, &SqliteJournal::load_wakes, &SqliteJournal::load_baseline,
          &SqliteJournal::load_settings}) {
      if (auto loaded = (this->*step)(); !loaded) return loaded;
    }
    // What is read later: damage is told of now, and not taken for nothing then.
    if (const auto read = ranks(); !read) return fail(read.error());
    if (const auto read = lids(); !read) return fail(read.error());
    if (const auto read = cables(); !read) return fail(read.error());
    if (const auto read = energy(); !read) return fail(read.error());
    return {};
  }

  [[nodiscard]] Result<void> check() const override { return database_.check(); }
  [[nodiscard]] Result<std::string> image() const override { return database_.image(); }

  Result<void> write(const Record& record) override {
    Memory after = memory_;
    regulation::apply(after, record);
    Transaction transaction(database_);
    if (auto begun = transaction.begin(); !begun) return begun;
    auto written = std::visit([&](const auto& one) { return store(one, after); }, record);
    if (!written) return written;
    if (auto done = transaction.commit(); !done) return done;
    memory_ = std::move(after);
    return {};
  }
  [[nodiscard]] const Memory& memory() const override { return memory_; }

  Result<void> put_ranks(std::span<const Rank> ranks) override {
    return in_transaction([&]() -> Result<void> {
      if (auto cleared = database_.run("DELETE FROM rank"); !cleared) return cleared;
      return each("INSERT INTO rank VALUES(?,?)", ranks, [](Statement& row, const Rank& rank) {
        row.bind(raw(rank.first)).bind(std::int64_t{rank.second});
      });
    });
  }

  [[nodiscard]] Result<std::vector<Rank>> ranks() const override {
    return rows<Rank>("SELECT node, rank FROM rank ORDER BY node", [](const Statement& row) {
      return Rank{guid_from(row.integer(0)), number_from<std::uint16_t>(row, 1)};
    });
  }

  Result<void> put_lids(std::span<const PortLid> lids) override {
    return in_transaction([&] { return store_lids(database_, lids); });
  }
  [[nodiscard]] Result<std::vector<PortLid>> lids() const override { return read_lids(database_); }

  Result<void> put_cables(std::span<const Cable> cables) override {
    return in_transaction([&] { return store_cables(database_, cables); });
  }
  [[nodiscard]] Result<std::vector<Cable>> cables() const override { return read_cables(database_); }

  Result<void> put_energy(const power::EnergyRecord& record) override {
    return in_transaction([&] { return store_energy(database_, record); });
  }
  [[nodiscard]] Result<power::EnergyRecord> energy() const override { return read_energy(database_); }

  Result<std::uint64_t> append(const Event& event) override {
    std::uint64_t id = 0;
    auto added = in_transaction([&]() -> Result<void> {
      auto inserted = each("INSERT INTO event(at, kind, links, text) VALUES(?,?,?,?)", std::span(&event, 1),
                           [](Statement& row, const Event& one) {
                             row.bind(raw(one.at)).bind(one.kind).bind(one.links).bind(one.text);
                           });
      if (!inserted) return inserted;
      id = static_cast<std::uint64_t>(database_.last_id());
      if (id % prune_every != 0 || id <= most_events) return {};
      const std::uint64_t last = id - most_events;
      return each("DELETE FROM event WHERE id <= ?", std::span(&last, 1),
                  [](Statement& row, std::uint64_t old) { row.bind(static_cast<std::int64_t>(old)); });
    });
    if (!added) return fail(added.error());
    return id;
  }

  [[nodiscard]] Result<std::vector<Event>> events(std::uint64_t after, std::size_t most) const override {
    return rows<Event>(
        "SELECT id, at, kind, links, text FROM (SELECT * FROM event WHERE id > ? ORDER BY id DESC LIMIT ?) "
        "ORDER BY id",
        [](const Statement& row) {
          return Event{static_cast<std::uint64_t>(row.integer(0)), time_from(row, 1), row.text(2),
                       row.text(3), row.text(4)};
        },
        {static_cast<std::int64_t>(after), static_cast<std::int64_t>(most)});
  }

 private:
  static constexpr std::uint64_t prune_every = 100;

  static std::int64_t raw_change(ChangeId change) { return std::bit_cast<std::int64_t>(change.raw()); }
  [[nodiscard]] std::int64_t raw_at(Instant at) const { return raw(calendar_.to_wall(at)); }
  [[nodiscard]] Instant instant(const Statement& row, int column) const {
    return calendar_.to_fabric(time_from(row, column));
  }

  // A record into its tables, within a transaction.
  Result<void> store(const Intent& intent, const Memory& after) {
    if (auto old = clear_change(intent.change); !old) return old;
    auto head = each(
        "INSERT INTO intent VALUES(?,?)", std::span(&intent, 1),
        [this](Statement& row, const Intent& one) { row.bind(raw_change(one.change)).bind(raw_at(one.at)); });
    if (!head) return head;
    if (auto off = store_off(intent.off, raw_change(intent.change)); !off) return off;
    auto on =
        each("INSERT INTO intent_on VALUES(?,?,?,?,?)", intent.on, [&](Statement& row, const LinkRef& link) {
          bind_link(row, link);
          row.bind(raw_change(intent.change));
        });
    if (!on) return on;
    return set("last", raw_change(after.last));
  }
  Result<void> store(const Outcome& outcome, const Memory& /*after*/) {
    if (auto gone = clear_change(outcome.change); !gone) return gone;
    auto on = each("DELETE FROM off WHERE a_node=? AND a_port=? AND b_node=? AND b_port=? AND change=0",
                   outcome.on, bind_link);
    if (!on) return on;
    return store_off(outcome.off, confirmed);
  }
  Result<void> store(const OverrideRecord& record, const Memory& /*after*/) {
    if (record.value.wish == regulation::Wish::Auto) {
      return each("DELETE FROM override WHERE a_node=? AND a_port=? AND b_node=? AND b_port=?",
                  std::span(&record.link, 1), bind_link);
    }
    return each(
        "INSERT OR REPLACE INTO override VALUES(?,?,?,?,?,?,?,?,?)", std::span(&record, 1),
        [this](Statement& row, const OverrideRecord& one) {
          bind_link(row, one.link);
          row.bind(static_cast<std::int64_t>(one.value.wish)).bind(one.value.reason).bind(one.value.by);
          row.bind(one.value.until ? std::optional{raw_at(*one.value.until)} : std::nullopt);
          row.bind(std::int64_t{one.value.forced ? 1 : 0});
        });
  }
  Result<void> store(const BaselineRecord& record, const Memory& /*after*/) {
    if (auto cleared = database_.run("DELETE FROM baseline"); !cleared || !record.baseline) return cleared;
    return each("INSERT INTO baseline VALUES(?,?,?,?)", std::span(&*record.baseline, 1),
                [this](Statement& row, const Baseline& one) {
                  row.bind(std::string_view{*one.plan}).bind(one.name).bind(one.by).bind(raw_at(one.since));
                });
  }
  Result<void> store(const DrainRecord& record, const Memory& /*after*/) {
    return store_drain(database_, calendar_, record);
  }
  Result<void> store(const regulation::WakeRecord& record, const Memory& /*after*/) {
    return store_wakes(database_, record);
  }
  Result<void> store(const ModeRecord& record, const Memory& /*after*/) {
    return set("mode", static_cast<std::int64_t>(record.mode));
  }
  Result<void> store(const PlaneRecord& record, const Memory& /*after*/) {
    return set("plane", static_cast<std::int64_t>(record.plane));
  }

  Result<void> store_off(const std::vector<OffRecord>& records, std::int64_t change) {
    return each("INSERT OR REPLACE INTO off VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", records,
                [&](Statement& row, const OffRecord& off) {
                  bind_link(row, off.link);
                  row.bind(raw(off.port.node)).bind(std::int64_t{off.port.port.raw()});
                  bind_mode(row, off.full);
                  bind_mode(row, off.mode);
                  row.bind(static_cast<std::int64_t>(off.cause)).bind(raw_at(off.since)).bind(off.reason);
                  row.bind(change);
                });
  }
  Result<void> clear_change(ChangeId change) {
    for (const char* sql : {"DELETE FROM intent WHERE change=?", "DELETE FROM intent_on WHERE change=?",
                            "DELETE FROM off WHERE change=? AND change<>0"}) {
      auto cleared =
          each(sql, std::span(&change, 1), [](Statement& row, ChangeId one) { row.bind(raw_change(one)); });
      if (!cleared) return cleared;
    }
    return {};
  }
  Result<void> set(std::string_view name, std::int64_t value) {
    return each("INSERT OR REPLACE INTO setting VALUES(?,?)", std::span(&value, 1),
                [&](Statement& row, std::int64_t one) { row.bind(name).bind(one); });
  }

  Result<void> load_off() {
    using Row = std::pair<std::int64_t, OffRecord>;
    auto found = rows<Row>("SELECT * FROM off", [this](const Statement& row) {
      OffRecord off;
      off.link = link_from(row);
      off.port = {guid_from(row.integer(4)), port_from(row, 5)};
      off.full = mode_from(row, 6);
      off.mode = mode_from(row, 8);
      off.cause = enum_from(row, 10, regulation::Cause::Operator);
      off.since = instant(row, 11);
      off.reason = row.text(12);
      return Row{row.integer(13), off};
    });
    if (!found) return fail(found.error());
    for (const auto& [change, off] : *found) {
      if (change == confirmed) {
        memory_.off[off.link] = off;
      } else {
        intent(change).off.push_back(off);
      }
    }
    return {};
  }
  Result<void> load_intents() {
    using Head = std::pair<std::int64_t, Instant>;
    auto heads = rows<Head>("SELECT change, at FROM intent", [this](const Statement& row) {
      return Head{row.integer(0), instant(row, 1)};
    });
    if (!heads) return fail(heads.error());
    for (const auto& [change, at] : *heads) intent(change).at = at;
    using On = std::pair<std::int64_t, LinkRef>;
    auto on = rows<On>("SELECT * FROM intent_on", [](const Statement& row) {
      return On{row.integer(4), link_from(row)};
    });
    if (!on) return fail(on.error());
    for (const auto& [change, link] : *on) intent(change).on.push_back(link);
    return {};
  }
  Result<void> load_overrides() {
    auto found = rows<OverrideRecord>("SELECT * FROM override", [this](const Statement& row) {
      OverrideRecord record{
          link_from(row), {enum_from(row, 4, regulation::Wish::Pin), row.text(5), row.text(6), std::nullopt}};
      if (!row.is_null(7)) record.value.until = instant(row, 7);
      record.value.forced = row.integer(8) != 0;
      return record;
    });
    if (!found) return fail(found.error());
    for (const OverrideRecord& record : *found) memory_.overrides[record.link] = record.value;
    return {};
  }
  Result<void> load_drains() {
    auto drains = read_drains(database_, calendar_);
    if (!drains) return fail(drains.error());
    memory_.drains = *std::move(drains);
    return {};
  }
  Result<void> load_wakes() {
    auto wakes = read_wakes(database_);
    if (!wakes) return fail(wakes.error());
    memory_.wakes = *std::move(wakes);
    return {};
  }
  Result<void> load_baseline() {
    auto found = rows<Baseline>("SELECT * FROM baseline", [this](const Statement& row) {
      return Baseline{std::make_shared<const std::string>(row.text(0)), row.text(1), row.text(2),
                      instant(row, 3)};
    });
    if (!found) return fail(found.error());
    if (!found->empty()) memory_.baseline = std::move(found->front());
    return {};
  }
  Result<void> load_settings() {
    auto found = rows<std::string>("SELECT name, value FROM setting", [this](const Statement& row) {
      std::string name = row.text(0);
      if (name == "mode") memory_.mode = enum_from(row, 1, regulation::Mode::Enforce);
      if (name == "plane") memory_.plane = number_from<unsigned>(row, 1);
      if (name == "last") memory_.last = ChangeId{std::bit_cast<std::uint64_t>(row.integer(1))};
      return name;
    });
    if (!found) return fail(found.error());
    return {};
  }
  Intent& intent(std::int64_t change) {
    const ChangeId id{std::bit_cast<std::uint64_t>(change)};
    Intent& intent = memory_.open[id];
    intent.change = id;
    return intent;
  }

  template <class Run>
  Result<void> in_transaction(Run run) {
    Transaction transaction(database_);
    if (auto begun = transaction.begin(); !begun) return begun;
    if (auto done = run(); !done) return done;
    return transaction.commit();
  }

  template <class Items, class Bind>
  Result<void> each(const char* sql, const Items& items, Bind bind) {
    return run_each(database_, sql, items, std::move(bind));
  }
  template <class Item, class Read>
  Result<std::vector<Item>> rows(const char* sql, Read read, std::vector<std::int64_t> values = {}) const {
    return read_rows<Item>(database_, sql, std::move(read), std::move(values));
  }

  Database database_;
  Calendar calendar_;
  Memory memory_;
};

}  // namespace

namespace {

Result<std::unique_ptr<Journal>> loaded(Database database, const Calendar& calendar) {
  auto journal = std::make_unique<SqliteJournal>(std::move(database), calendar);
  if (auto read = journal->load(); !read) return fail(read.error());
  return std::unique_ptr<Journal>(std::move(journal));
}

}  // namespace

Result<std::unique_ptr<Journal>> open_journal(const std::string& path, const Calendar& calendar) {
  auto database = Database::open(path);
  if (!database) return fail(database.error());
  // A second daemon on the same state is refused at once, not at its first write.
  if (auto alone = database->run("PRAGMA locking_mode=EXCLUSIVE"); !alone) return fail(alone.error());
  if (auto good = check_or_make_schema(*database); !good) return fail(good.error());
  // A small state directory must do: SQLite's own bound is 4 MB.
  const std::string bound =
      fmt::format("PRAGMA wal_autocheckpoint={}; PRAGMA journal_size_limit={}", log_pages, most_log_bytes);
  for (const char* setting : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", bound.c_str()}) {
    if (auto set = database->run(setting); !set) return fail(set.error());
  }
  return loaded(*std::move(database), calendar);
}

Result<std::unique_ptr<Journal>> open_image(const std::string& image, const Calendar& calendar) {
  auto database = Database::from_image(image);
  if (!database) return fail(database.error());
  if (auto good = check_or_make_schema(*database); !good) return fail(good.error());
  return loaded(*std::move(database), calendar);
}

}  // namespace heddle::journal
