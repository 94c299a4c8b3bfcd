/// What the tables of the journal have in common: how links, GUIDs and times stand in columns, and statements
/// that run over many items. For the sources of this folder only.
#pragma once

#include <sqlite3.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "fabric/change.h"
#include "journal/database.h"
#include "journal/journal.h"

namespace heddle::journal {

inline std::int64_t raw(NodeGuid guid) { return std::bit_cast<std::int64_t>(guid.raw()); }
inline NodeGuid guid_from(std::int64_t raw) { return NodeGuid{std::bit_cast<std::uint64_t>(raw)}; }
inline std::int64_t raw(WallTime at) { return at.time_since_epoch().count(); }

/// Any value of its type; all else is damage.
template <class Number>
Number number_from(const Statement& row, int column) {
  return static_cast<Number>(row.within(column, 0, std::numeric_limits<Number>::max()));
}
template <class Enum>
Enum enum_from(const Statement& row, int column, Enum last) {
  return static_cast<Enum>(row.within(column, 0, static_cast<std::int64_t>(last)));
}
inline PortNum port_from(const Statement& row, int column) {
  return PortNum{number_from<std::uint8_t>(row, column)};
}
inline WallTime time_from(const Statement& row, int column) {
  // A century and more around 1970: a duration in nanoseconds bears the way from one end to the other.
  constexpr std::int64_t most = 4'000'000'000'000;
  return WallTime{std::chrono::milliseconds{row.within(column, -most, most)}};
}

inline void bind_link(Statement& statement, const LinkRef& link) {
  statement.bind(raw(link.a.node))
      .bind(std::int64_t{link.a.port.raw()})
      .bind(raw(link.b.node))
      .bind(std::int64_t{link.b.port.raw()});
}

inline LinkRef link_from(const Statement& row) {
  return {{guid_from(row.integer(0)), port_from(row, 1)}, {guid_from(row.integer(2)), port_from(row, 3)}};
}

/// Runs the statement once for each item.
template <class Items, class Bind>
Result<void> run_each(Database& database, const char* sql, const Items& items, Bind bind) {
  auto statement = database.prepare(sql);
  if (!statement) return fail(statement.error());
  for (const auto& item : items) {
    bind(*statement, item);
    if (auto done = database.finish(*statement); !done) return done;
  }
  return {};
}

/// Errors: Io; Invalid for values that cannot be.
template <class Item, class Read>
Result<std::vector<Item>> read_rows(const Database& database, const char* sql, Read read,
                                    std::vector<std::int64_t> values = {}) {
  auto statement = database.prepare(sql);
  if (!statement) return fail(statement.error());
  for (const std::int64_t value : values) statement->bind(value);
  std::vector<Item> items;
  int status = SQLITE_ROW;
  while ((status = statement->step()) == SQLITE_ROW) items.push_back(read(*statement));
  if (status != SQLITE_DONE) return fail(database.error("it cannot be read"));
  if (!statement->fits()) return fail(database.damaged("it has values that cannot be"));
  return items;
}

}  // namespace heddle::journal
