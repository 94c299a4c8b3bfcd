/// Records of one rank, in the order in which things happened: the last ones in memory, the others in a file
/// that has no name, so that nothing is left behind however the program ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/record.h"

namespace heddle::vef {

/// A descriptor that is closed.
class File {
 public:
  File() = default;
  explicit File(int number) : number_{number} {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// Writes all of it there; a limit on the size of files is an error, and no signal. Says errno, or 0.
[[nodiscard]] int write_at(int file, const void* data, std::size_t size, std::uint64_t offset);

class Log {
 public:
  /// Records in memory: 1 MiB.
  static constexpr std::size_t most_in_memory = 32768;

  /// `file`: for what does not fit into memory.
  explicit Log(File file);

  /// The record's place. Throws std::system_error when it cannot be kept.
  std::uint64_t add(const Record& record);
  /// Says where a record that was added belongs. Throws as add().
  void set_where(std::uint64_t place, std::uint32_t where);
  [[nodiscard]] std::uint64_t size() const { return written_ + recent_.size(); }

  /// Calls `take` with each record, in order. Throws std::system_error when one cannot be read again.
  template <class Take>
  void each(Take take) {
    std::vector<Record> some;
    for (std::uint64_t place = 0; place < written_; place += some.size()) {
      read(place, some);
      for (const Record& record : some) take(record);
    }
    for (const Record& record : recent_) take(record);
  }
  /// At most `count` records from `place` on; none at the end.
  [[nodiscard]] std::vector<Record> some(std::uint64_t place, std::size_t count);

 private:
  void spill();
  void read(std::uint64_t place, std::vector<Record>& into);

  File file_;
  std::vector<Record> recent_;
  std::uint64_t written_ = 0;  ///< records in the file
};

}  // namespace heddle::vef
