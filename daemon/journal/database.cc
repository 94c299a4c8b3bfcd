#include "journal/database.h"

#include <fmt/format.h>

namespace heddle::journal {

Result<Database> Database::open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(path, raw);
  if (status != SQLITE_OK) return fail(database.error("it cannot be opened"));
  return database;
}

Error Database::error(std::string_view doing) const {
  return {ErrorCode::Io, fmt::format("journal {}: {}: {}", path_, doing, sqlite3_errmsg(raw_.get()))};
}

Result<void> Database::run(const char* sql) const {
  if (sqlite3_exec(raw_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return fail(error("not done"));
  return {};
}

Result<Statement> Database::prepare(const char* sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(raw_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) {
    return fail(error("it has not the tables that it should have"));
  }
  return Statement(statement);
}

Result<std::int64_t> Database::number(const char* sql) const {
  auto statement = prepare(sql);
  if (!statement) return fail(statement.error());
  if (statement->step() != SQLITE_ROW) return fail(error("it cannot be read"));
  return statement->integer(0);
}

Result<std::string> Database::text(const char* sql) const {
  auto statement = prepare(sql);
  if (!statement) return fail(statement.error());
  if (statement->step() != SQLITE_ROW) return fail(error("it cannot be read"));
  return statement->text(0);
}

Result<void> Database::finish(Statement& statement) const {
  if (statement.step() != SQLITE_DONE) return fail(error("it cannot be written"));
  statement.reset();
  return {};
}

}  // namespace heddle::journal
