/// A disk under SQLite that is in memory and has the manners of a bad one: it fails and is full now and then,
/// it forgets what was not synced when the power goes (any part of it, torn sectors included), and it may
/// lie: what it calls synced is not. While one exists, databases that are opened are on it.
///
/// The same seed and calls do the same. One thread.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace heddle::test {

class VolatileDisk {
 public:
  struct Manners {
    double fails = 0;   ///< chance that a read, write or sync does; half of the writes that fail find it full
    bool lies = false;  ///< what is synced is forgotten all the same when the power goes
  };

  explicit VolatileDisk(std::uint64_t seed);
  ~VolatileDisk();
  VolatileDisk(const VolatileDisk&) = delete;
  VolatileDisk& operator=(const VolatileDisk&) = delete;

  void set_manners(const Manners& manners) { manners_ = manners; }
  /// Who has files open is dead: what it does from here on does not reach the disk. What it wrote is there.
  void end_process() { ++boot_; }
  /// The same of a whole machine: of what was not synced, any part is there.
  void lose_power();
  /// As `rm` does.
  void remove(const std::string& path) { files_.erase(path); }
  /// 0: no such file.
  [[nodiscard]] std::size_t size(const std::string& path) const;

 private:
  /// Writes that the cache of a disk that lies holds.
  static constexpr std::size_t cache = 64;

  friend struct VolatileFile;
  friend struct VolatileVfs;
  struct Change {
    std::size_t at = 0;
    std::size_t size_before = 0;
    std::string before;  ///< from `at` on, of what is no longer there
    std::string after;   ///< what was written; of a truncation nothing
    bool cuts = false;
  };
  struct File {
    std::string bytes;
    std::vector<Change> unsynced;
  };

  [[nodiscard]] std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  [[nodiscard]] bool chance(double of_one) {
    return static_cast<double>(random_() >> 11U) * 0x1p-53 < of_one;
  }
  [[nodiscard]] bool fails() { return manners_.fails > 0 && chance(manners_.fails); }
  static void undo(File& file, const Change& change);
  static void apply(File& file, const Change& change);
  void tear(Change& change);

  std::mt19937_64 random_;
  Manners manners_;
  std::uint64_t boot_ = 0;
  std::map<std::string, std::shared_ptr<File>> files_;
  std::string name_;
  sqlite3_vfs vfs_{};
};

}  // namespace heddle::test
