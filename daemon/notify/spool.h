/// The queue on disk: what has been decided to be told, until all who want it have it. SQLite in the state
/// directory, so that neither kill -9 nor a power cut loses a notice that append() came back for. At most
/// `most` notices are kept: then the oldest go, and each destination that had not got them yet counts them.
///
/// One thread at a time; calls block for as long as the disk takes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "notice/notice.h"

namespace heddle::notify {

/// What is there for one destination.
struct Standing {
  std::uint64_t queued = 0;
  std::uint64_t dropped = 0;  ///< that it never got, since it was configured first
  friend bool operator==(const Standing&, const Standing&) = default;
};

struct Reader {
  std::string name;
  unsigned wants = 0;  ///< bits of destination.h
};

/// All errors: Io, with the path.
class Spool {
 public:
  virtual ~Spool() = default;

  /// Who reads from here on. One that is not there yet gets what is appended after this; what waits for
  /// others than these goes.
  virtual Result<void> use(std::span<const Reader> readers) = 0;
  /// In the order of use().
  [[nodiscard]] virtual std::vector<Standing> standings() const = 0;

  /// Keeps it, with the problem that it begins or ends. Its id.
  virtual Result<std::uint64_t> append(const notice::Notice& notice) = 0;
  /// The oldest that this reader has not got.
  [[nodiscard]] virtual Result<std::vector<notice::Notice>> read(std::size_t reader,
                                                                 std::size_t most) const = 0;
  enum class End : std::uint8_t { Delivered, Dropped };
  /// What read() gave, up to this one, is done with.
  virtual Result<void> done(std::size_t reader, std::uint64_t up_to, End end) = 0;

  [[nodiscard]] virtual Result<std::vector<notice::OpenProblem>> open_problems() const = 0;
};

/// Opens the file, or makes it. Errors: Io; Invalid for a file that is not a spool of this version.
[[nodiscard]] Result<std::unique_ptr<Spool>> open_spool(const std::string& path, std::uint64_t most);

}  // namespace heddle::notify
