/// One daemon of several that may write a fabric: it follows whoever does, and takes the place when that is
/// free. Who owns the fabric is who made the key PREFIX/owner, under a lease that ends by itself; all that an
/// owner stores has that key's revision for a guard, so that whoever was owner before changes nothing.
///
/// The owner's deadline is counted from before each renewal was asked for, and ends a margin before the
/// length of the lease: the store lets nobody else in before it is over. beat() is one step, and blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "shared/lease.h"
#include "shared/store.h"

namespace heddle::shared {

struct CandidateOptions {
  std::string prefix = "/heddle";
  std::string name;  ///< of this daemon, unlike all others'
  std::chrono::seconds lease{5};
};

enum class Standing : std::uint8_t {
  Follows,
  Owns,
  Lost,  ///< owned, and does not any more: for good, as far as this candidate goes
};

/// Whether a daemon can do what an owner has to: a fabric in sight, the OpenSM beside it the master.
enum class Fit : std::uint8_t { No, Yes };

struct Beat {
  Standing standing = Standing::Follows;
  bool taken = false;               ///< by this beat; all that there is has been told
  std::string owner{};              ///< its name; empty: nobody, or not known
  bool contended = false;           ///< somebody else is fit, and waits for the place
  std::vector<KeyValue> changed{};  ///< below the prefix, since the last beat of a follower
  std::string trouble{};            ///< why the store could not be asked
};

class Candidate {
 public:
  Candidate(Store& store, Lease& lease, CandidateOptions options)
      : store_{store}, lease_{lease}, options_{std::move(options)} {}

  [[nodiscard]] Beat beat(Fit fit);
  /// Lets the next one in at once. For who writes nothing any more.
  void resign();

  /// Of an owner: what guards all that it stores.
  [[nodiscard]] Guard guard() const { return {owner_key(), created_}; }
  /// Until the next beat. An owner that the store did not answer asks again soon: a request that an etcd
  /// took while it had no leader is never answered, and the next one is, as soon as there is a leader.
  [[nodiscard]] std::chrono::milliseconds pause() const {
    return std::chrono::milliseconds{options_.lease} / (in_doubt_ ? doubts_per_lease : beats_per_lease);
  }

  static constexpr int beats_per_lease = 10;
  static constexpr int doubts_per_lease = 50;
  /// Of the lease that the owner does not count on: two clocks run apart by far less.
  static constexpr int margins_per_lease = 10;

 private:
  [[nodiscard]] std::string owner_key() const { return options_.prefix + "/owner"; }
  [[nodiscard]] std::string contender_key() const { return options_.prefix + "/contender"; }
  [[nodiscard]] BootTime deadline(BootTime asked) const {
    const BootTime length{options_.lease};
    return asked + length - length / margins_per_lease;
  }
  [[nodiscard]] Beat follow(Fit fit);
  [[nodiscard]] Beat own();
  [[nodiscard]] Beat lose(std::string why);
  void take(Beat& beat);
  void contend();
  Result<void> read(Beat& beat, const std::optional<Guard>& guard);

  Store& store_;
  Lease& lease_;
  CandidateOptions options_;
  Standing standing_ = Standing::Follows;
  LeaseId held_ = no_lease;
  Revision created_ = 0;
  Revision seen_ = 0;  ///< all up to this one has been told
  Revision contended_ = 0;
  int beats_ = 0;
  bool in_doubt_ = false;  ///< an owner's last renewal was not answered
};

}  // namespace heddle::shared
