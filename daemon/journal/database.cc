#include "journal/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace heddle::journal {

namespace {

/// In a sentence; empty for a file, and where nothing is.
std::string_view kind_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    const bool is_link = lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
    return is_link ? "a symbolic link that leads nowhere" : "";
  }
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
      return "";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a named pipe";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

/// Makes the file, or takes from others what it gives them; SQLite's own files beside it follow its mode. An
/// existing one is not opened here: closing it again would let go of locks that this process has on it.
Result<void> keep_to_ourselves(const std::string& path) {
  constexpr mode_t mine = S_IRUSR | S_IWUSR;
  const auto cannot = [&] {
    return fail(ErrorCode::Io, fmt::format("journal {}: {}", path, std::strerror(errno)));
  };
  if (const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mine); made >= 0) {
    close(made);
    return {};
  }
  const bool is_there = errno == EEXIST;
  if (const std::string_view kind = kind_of(path); is_there && !kind.empty()) {
    return fail(ErrorCode::Invalid,
                fmt::format("journal {}: this is {}, and no file: move it away, or set state.directory to a "
                            "directory of Heddle's own",
                            path, kind));
  }
  // What cannot be made here is SQLite's to complain of.
  struct stat status {};
  if (!is_there || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const mode_t mode = status.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  if ((mode & (S_IRWXG | S_IRWXO)) != 0 && chmod(path.c_str(), mode & S_IRWXU) != 0) return cannot();
  return {};
}

}  // namespace

Result<Database> Database::open(const std::string& path) {
  if (auto kept = keep_to_ourselves(path); !kept) return fail(kept.error());
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(path, raw);
  if (status != SQLITE_OK) return fail(database.error("it cannot be opened"));
  database.file_ = file_at(path);
  return database;
}

Result<std::string> Database::image() const {
  sqlite3_int64 size = 0;
  std::unique_ptr<unsigned char, void (*)(void*)> bytes{sqlite3_serialize(raw_.get(), "main", &size, 0),
                                                        sqlite3_free};
  if (!bytes) return fail(error("it cannot be read"));
  return std::string(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
}

Result<Database> Database::from_image(std::string image) {
  // What was written with a log beside it is opened without one (sqlite.org/fileformat2.html, 1.3.3).
  constexpr std::size_t write_version = 18;
  constexpr std::size_t read_version = 19;
  if (image.size() > read_version) image[write_version] = image[read_version] = 1;
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
  Database database("(a recording's)", raw);
  if (status != SQLITE_OK) return fail(database.error("it cannot be opened"));
  auto* bytes = static_cast<unsigned char*>(sqlite3_malloc64(std::max<std::size_t>(image.size(), 1)));
  if (bytes == nullptr) return fail(database.error("there is no memory for it"));
  std::copy(image.begin(), image.end(), bytes);
  const auto size = static_cast<sqlite3_int64>(image.size());
  if (sqlite3_deserialize(raw, "main", bytes, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) != SQLITE_OK) {
    return fail(database.error("it is no journal"));
  }
  return database;
}

std::optional<Database::FileId> Database::file_at(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

Result<void> Database::check() const {
  if (!file_) return {};
  const auto there = file_at(path_);
  if (there == file_) return {};
  return fail(ErrorCode::Io,
              fmt::format("journal {}: {} under this daemon, and nobody will find what it writes: bring "
                          "everything back on with `heddle restore`, then restart the daemon",
                          path_, there ? "another file was put in its place" : "the file was deleted"));
}

std::string Database::reason() const { return sqlite3_errmsg(raw_.get()); }

Error Database::error(std::string_view doing) const {
  return {ErrorCode::Io, fmt::format("journal {}: {}: {}", path_, doing, reason())};
}

Error Database::damaged(std::string_view why) const {
  return {
      ErrorCode::Invalid,
      fmt::format("journal {}: the file is damaged ({}). Move it away and start again: links that are off "
                  "will not be known as Heddle's doing then, so see which ports are disabled first "
                  "(ibportstate, heddle links --power)",
                  path_, why)};
}

Database::Trouble Database::trouble() const {
  constexpr int primary = 0xff;  // of an extended code
  switch (sqlite3_errcode(raw_.get()) & primary) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Trouble::Damage;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Trouble::Held;
    default:
      return Trouble::Disk;
  }
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
