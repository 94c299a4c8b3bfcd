#include "support/volatile_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace heddle::test {

namespace {
constexpr std::size_t sector = 512;
}  // namespace

/// What SQLite calls of a file. Its first member is what SQLite sees.
struct VolatileFile {
  sqlite3_file base;
  VolatileDisk* disk;
  std::shared_ptr<VolatileDisk::File> file;
  std::uint64_t boot;

  static VolatileFile& of(sqlite3_file* raw) { return *reinterpret_cast<VolatileFile*>(raw); }
  [[nodiscard]] bool is_dead() const { return boot != disk->boot_; }

  static int close(sqlite3_file* raw) {
    of(raw).file.~shared_ptr();
    return SQLITE_OK;
  }

  static int read(sqlite3_file* raw, void* to, int count, sqlite3_int64 offset) {
    VolatileFile& self = of(raw);
    if (self.is_dead() || self.disk->fails()) return SQLITE_IOERR_READ;
    const std::string& bytes = self.file->bytes;
    const std::size_t at = std::min(static_cast<std::size_t>(offset), bytes.size());
    const std::size_t there = std::min(static_cast<std::size_t>(count), bytes.size() - at);
    std::memset(to, 0, static_cast<std::size_t>(count));
    std::memcpy(to, bytes.data() + at, there);
    return there == static_cast<std::size_t>(count) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }

  void put(std::size_t at, std::string text) const {
    VolatileDisk::Change change{at, file->bytes.size(), {}, std::move(text), false};
    if (at < file->bytes.size()) change.before = file->bytes.substr(at, change.after.size());
    VolatileDisk::apply(*file, change);
    file->unsynced.push_back(std::move(change));
  }

  static int write(sqlite3_file* raw, const void* from, int count, sqlite3_int64 offset) {
    VolatileFile& self = of(raw);
    if (self.is_dead()) return SQLITE_IOERR_WRITE;
    std::string text(static_cast<const char*>(from), static_cast<std::size_t>(count));
    if (!self.disk->fails()) {
      self.put(static_cast<std::size_t>(offset), std::move(text));
      return SQLITE_OK;
    }
    if (self.disk->chance(0.5)) return SQLITE_FULL;
    text.resize(self.disk->below(text.size()));
    self.put(static_cast<std::size_t>(offset), std::move(text));
    return SQLITE_IOERR_WRITE;
  }

  static int truncate(sqlite3_file* raw, sqlite3_int64 size) {
    VolatileFile& self = of(raw);
    if (self.is_dead() || self.disk->fails()) return SQLITE_IOERR_TRUNCATE;
    const auto at = static_cast<std::size_t>(size);
    if (at >= self.file->bytes.size()) return SQLITE_OK;
    const VolatileDisk::Change change{at, self.file->bytes.size(), self.file->bytes.substr(at), {}, true};
    VolatileDisk::apply(*self.file, change);
    self.file->unsynced.push_back(change);
    return SQLITE_OK;
  }

  static int sync(sqlite3_file* raw, int /*flags*/) {
    VolatileFile& self = of(raw);
    if (self.is_dead() || self.disk->fails()) return SQLITE_IOERR_FSYNC;
    auto& unsynced = self.file->unsynced;
    const std::size_t forgettable = self.disk->manners_.lies ? VolatileDisk::cache : 0;
    if (unsynced.size() > forgettable)
      unsynced.erase(unsynced.begin(), unsynced.end() - static_cast<std::ptrdiff_t>(forgettable));
    return SQLITE_OK;
  }

  static int size(sqlite3_file* raw, sqlite3_int64* result) {
    *result = static_cast<sqlite3_int64>(of(raw).file->bytes.size());
    return SQLITE_OK;
  }
  static int lock(sqlite3_file* /*raw*/, int /*kind*/) { return SQLITE_OK; }
  static int is_reserved(sqlite3_file* /*raw*/, int* result) {
    *result = 0;
    return SQLITE_OK;
  }
  static int control(sqlite3_file* /*raw*/, int /*what*/, void* /*value*/) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file* /*raw*/) { return static_cast<int>(sector); }
  static int characteristics(sqlite3_file* /*raw*/) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }
};

/// What SQLite calls of the disk.
struct VolatileVfs {
  static VolatileDisk& of(sqlite3_vfs* vfs) { return *static_cast<VolatileDisk*>(vfs->pAppData); }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* raw, int flags, int* flags_out) {
    static const sqlite3_io_methods methods = io_methods();
    VolatileDisk& disk = of(vfs);
    raw->pMethods = nullptr;
    std::shared_ptr<VolatileDisk::File> file;
    if (name == nullptr) {
      file = std::make_shared<VolatileDisk::File>();
    } else {
      auto& there = disk.files_[name];
      if (!there) there = std::make_shared<VolatileDisk::File>();
      file = there;
    }
    auto& self = *reinterpret_cast<VolatileFile*>(raw);
    self.disk = &disk;
    self.boot = disk.boot_;
    new (&self.file) std::shared_ptr<VolatileDisk::File>(std::move(file));
    raw->pMethods = &methods;
    if (flags_out != nullptr) *flags_out = flags;
    return SQLITE_OK;
  }

  static sqlite3_io_methods io_methods() {
    sqlite3_io_methods methods{};
    methods.iVersion = 1;  // no memory is shared: the journal is one program's
    methods.xClose = VolatileFile::close;
    methods.xRead = VolatileFile::read;
    methods.xWrite = VolatileFile::write;
    methods.xTruncate = VolatileFile::truncate;
    methods.xSync = VolatileFile::sync;
    methods.xFileSize = VolatileFile::size;
    methods.xLock = methods.xUnlock = VolatileFile::lock;
    methods.xCheckReservedLock = VolatileFile::is_reserved;
    methods.xFileControl = VolatileFile::control;
    methods.xSectorSize = VolatileFile::sector_size;
    methods.xDeviceCharacteristics = VolatileFile::characteristics;
    return methods;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int /*sync*/) {
    return of(vfs).files_.erase(name) > 0 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
  }
  static int access(sqlite3_vfs* vfs, const char* name, int /*flags*/, int* result) {
    *result = of(vfs).files_.contains(name) ? 1 : 0;
    return SQLITE_OK;
  }
  static int full_path(sqlite3_vfs* /*vfs*/, const char* name, int size, char* to) {
    sqlite3_snprintf(size, to, "%s", name);
    return SQLITE_OK;
  }
  static int randomness(sqlite3_vfs* vfs, int count, char* to) {
    for (int i = 0; i < count; ++i) to[i] = static_cast<char>(of(vfs).below(256));
    return count;
  }
  static int sleep(sqlite3_vfs* /*vfs*/, int microseconds) { return microseconds; }
  static int time(sqlite3_vfs* /*vfs*/, double* julian_day) {
    *julian_day = 2460000;
    return SQLITE_OK;
  }
  static int last_error(sqlite3_vfs* /*vfs*/, int /*size*/, char* /*to*/) { return 0; }
};

VolatileDisk::VolatileDisk(std::uint64_t seed)
    : random_{seed}, name_{fmt::format("volatile {}", static_cast<const void*>(this))} {
  vfs_.iVersion = 1;
  vfs_.szOsFile = sizeof(VolatileFile);
  vfs_.mxPathname = 1000;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = VolatileVfs::open;
  vfs_.xDelete = VolatileVfs::remove;
  vfs_.xAccess = VolatileVfs::access;
  vfs_.xFullPathname = VolatileVfs::full_path;
  vfs_.xRandomness = VolatileVfs::randomness;
  vfs_.xSleep = VolatileVfs::sleep;
  vfs_.xCurrentTime = VolatileVfs::time;
  vfs_.xGetLastError = VolatileVfs::last_error;
  if (sqlite3_vfs_register(&vfs_, 1) != SQLITE_OK) throw std::bad_alloc{};
}

VolatileDisk::~VolatileDisk() { sqlite3_vfs_unregister(&vfs_); }

std::size_t VolatileDisk::size(const std::string& path) const {
  const auto file = files_.find(path);
  return file == files_.end() ? 0 : file->second->bytes.size();
}

void VolatileDisk::undo(File& file, const Change& change) {
  file.bytes.resize(change.size_before);
  file.bytes.replace(change.at, change.before.size(), change.before);
}

void VolatileDisk::apply(File& file, const Change& change) {
  if (change.cuts) return file.bytes.resize(std::min(change.at, file.bytes.size()));
  if (file.bytes.size() < change.at + change.after.size()) file.bytes.resize(change.at + change.after.size());
  file.bytes.replace(change.at, change.after.size(), change.after);
}

/// Some of its sectors have reached the disk, from the first one on.
void VolatileDisk::tear(Change& change) {
  const std::size_t sectors = change.after.size() / sector + 1;
  change.after.resize(std::min(change.after.size(), below(sectors + 1) * sector));
}

void VolatileDisk::lose_power() {
  end_process();
  for (auto& [path, file] : files_) {
    std::vector<Change> changes = std::exchange(file->unsynced, {});
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) undo(*file, *change);
    for (Change& change : changes) {
      if (chance(0.5)) continue;
      if (chance(0.3)) tear(change);
      apply(*file, change);
    }
  }
}

}  // namespace heddle::test
