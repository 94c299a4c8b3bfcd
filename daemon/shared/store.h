/// What daemons of several hosts keep together: keys with texts, changed in transactions, and leases that end
/// by themselves. etcd's own model and words (etcd.io/docs/v3.4/learning/api), of which etcd_store.h is the
/// implementation; tests have one in memory.
///
/// Every call blocks until there is an answer or none comes in time: never on the io_context thread. One
/// thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::shared {

/// A point in the store's history; 0 is before all.
using Revision = std::int64_t;

struct KeyValue {
  std::string key;
  std::string value;
  Revision created = 0;
  Revision modified = 0;
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

using LeaseId = std::int64_t;
inline constexpr LeaseId no_lease = 0;

/// Nothing of a transaction is done unless this key was created by that revision; 0: unless there is none.
struct Guard {
  std::string key;
  Revision created = 0;
};

struct Operation {
  enum class What : std::uint8_t { Put, Delete, Read };
  What what = What::Read;
  std::string key;
  std::string end{};         ///< of a Delete or Read of all keys from `key` to below this one; or empty
  std::string value{};       ///< of a Put
  LeaseId lease = no_lease;  ///< of a Put: the key goes when the lease ends
  Revision since = 0;        ///< of a Read: only what was modified by this revision or later
};

struct Transaction {
  std::optional<Guard> guard{};
  std::vector<Operation> operations{};
};

struct Committed {
  bool done = false;  ///< the guard held
  Revision revision = 0;
  std::vector<std::vector<KeyValue>> read{};  ///< one for each Read, by key
};

class Store {
 public:
  virtual ~Store() = default;

  /// All of it or nothing. Errors: Unreachable when no answer came: it may have been done all the same, so
  /// that only what may be done twice is asked for; Refused with the store's own word.
  [[nodiscard]] virtual Result<Committed> commit(const Transaction& transaction) = 0;
  [[nodiscard]] virtual Result<LeaseId> grant(std::chrono::seconds length) = 0;
  /// It lasts its whole length from some moment on that lies within this call. Errors: NotFound when it has
  /// ended; Unreachable.
  [[nodiscard]] virtual Result<void> renew(LeaseId lease) = 0;
  /// Its keys go at once.
  virtual Result<void> revoke(LeaseId lease) = 0;
};

/// The end of all keys that begin with `prefix`.
[[nodiscard]] std::string end_of(std::string prefix);

}  // namespace heddle::shared
