/// SQLite with values for errors: a connection, and statements that bind and read what the journal holds.
/// One thread.
#pragma once

#include <sqlite3.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::journal {

/// A prepared statement, bound from left to right and read row by row.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* raw) : raw_{raw} {}

  Statement& bind(std::int64_t value) {
    sqlite3_bind_int64(raw_.get(), ++bound_, value);
    return *this;
  }
  Statement& bind(double value) {
    sqlite3_bind_double(raw_.get(), ++bound_, value);
    return *this;
  }
  Statement& bind(std::string_view text) {
    sqlite3_bind_text(raw_.get(), ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(std::optional<std::int64_t> value) {
    if (value) return bind(*value);
    sqlite3_bind_null(raw_.get(), ++bound_);
    return *this;
  }

  [[nodiscard]] int step() { return sqlite3_step(raw_.get()); }
  /// For the next row of values.
  void reset() {
    sqlite3_reset(raw_.get());
    bound_ = 0;
  }

  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(raw_.get(), column); }
  /// An integer; what is not from `least` to `most` is damage, see fits().
  [[nodiscard]] std::int64_t within(int column, std::int64_t least, std::int64_t most) const {
    const std::int64_t value = integer(column);
    if (value >= least && value <= most) return value;
    fits_ = false;
    return least;
  }
  /// All that was read is what it can be: SQLite knows nothing of damage within a row.
  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(raw_.get(), column); }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(raw_.get(), column);
    const auto length = static_cast<std::size_t>(sqlite3_column_bytes(raw_.get(), column));
    return bytes == nullptr ? std::string{} : std::string(reinterpret_cast<const char*>(bytes), length);
  }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(raw_.get(), column) == SQLITE_NULL;
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> raw_;
  int bound_ = 0;
  mutable bool fits_ = true;
};

class Database {
 public:
  /// Errors: Io with the path.
  static Result<Database> open(const std::string& path);
  /// In memory, of an image(); changes are in memory, too. Errors: Io.
  static Result<Database> from_image(std::string image);

  /// All that is in it, as bytes. Errors: Io.
  [[nodiscard]] Result<std::string> image() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Error error(std::string_view doing) const;
  /// Invalid, and what to do.
  [[nodiscard]] Error damaged(std::string_view why) const;
  /// Why the last call failed, in SQLite's words.
  [[nodiscard]] std::string reason() const;
  /// Why the last call failed.
  enum class Trouble : std::uint8_t {
    Damage,  ///< what is there is none of SQLite's, or not whole
    Held,    ///< by another program
    Disk,    ///< all else
  };
  [[nodiscard]] Trouble trouble() const;
  /// Errors (Io): at the path there is no file any more, or another one.
  [[nodiscard]] Result<void> check() const;
  /// One or more statements without values.
  Result<void> run(const char* sql) const;
  Result<Statement> prepare(const char* sql) const;
  /// The first column of the first row, as a number.
  Result<std::int64_t> number(const char* sql) const;
  Result<std::string> text(const char* sql) const;
  /// Runs a statement that gives no rows.
  Result<void> finish(Statement& statement) const;
  [[nodiscard]] std::int64_t last_id() const { return sqlite3_last_insert_rowid(raw_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* raw) const { sqlite3_close_v2(raw); }
  };
  /// What tells a file from another one at its path.
  struct FileId {
    dev_t device = 0;
    ino_t inode = 0;
    friend bool operator==(const FileId&, const FileId&) = default;
  };

  Database(std::string path, sqlite3* raw) : path_{std::move(path)}, raw_{raw} {}
  [[nodiscard]] static std::optional<FileId> file_at(const std::string& path);

  std::string path_;
  std::optional<FileId> file_;  ///< that was opened; none for what is no file
  std::unique_ptr<sqlite3, Close> raw_;
};

/// Commits, or takes everything back when it goes out of scope without commit().
class Transaction {
 public:
  explicit Transaction(const Database& database) : database_{database} {}
  ~Transaction() {
    if (open_) (void)database_.run("ROLLBACK");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Result<void> begin() {
    auto begun = database_.run("BEGIN IMMEDIATE");
    open_ = begun.has_value();
    return begun;
  }
  Result<void> commit() {
    auto done = database_.run("COMMIT");
    if (done) open_ = false;
    return done;
  }

 private:
  const Database& database_;
  bool open_ = false;
};

}  // namespace heddle::journal
