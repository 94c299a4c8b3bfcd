/// The queue pairs of this process: which of them can migrate, where they are, and what is done so that they
/// get where they are to be. Nothing of it is on the way of data.
///
/// A lock is held while one queue pair is looked at or changed, so that none goes away meanwhile; the
/// program's own calls wait for no more than that. Of a forked child it knows nothing: queue pairs are the
/// parent's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apm/local.h"
#include "core/paths.h"
#include "verbs.h"

namespace heddle::apm {

/// A port of this host.
struct PortName {
  std::string device;
  std::uint8_t port = 0;
  friend auto operator<=>(const PortName&, const PortName&) = default;
};

class Connections {
 public:
  using Clock = std::chrono::steady_clock;
  using Log = std::function<void(const std::string&)>;

  /// How long a connection is waited for whose other end has not answered yet.
  static constexpr std::chrono::milliseconds patience{2000};
  /// In which packets go both ways on a connection that is used. Ends learn of each other's state by packets
  /// alone (MigReq, IBA 17.2.8): one that were armed again at once would never have told the other end that
  /// it has migrated, and one that migrated the moment it was armed might leave the other end unarmed.
  static constexpr std::chrono::milliseconds moment{100};

  Connections(const Verbs& verbs, Log log) : verbs_{verbs}, log_{std::move(log)} {}
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // What the program did.
  /// True: there is work().
  bool on_modified(ibv_qp* qp, const ibv_qp_attr& attributes, int mask);
  /// Before it is done.
  void on_destroy(const ibv_qp* qp);
  void on_event(const ibv_async_event& event);

  // What the agent wants.
  void move(const PortName& port, unsigned plane, std::uint64_t order, Clock::time_point now);
  void arm(const PortName& port, Clock::time_point now);

  /// Does what can be done. True: some wait for their other end, so call it again soon.
  bool work(Clock::time_point now);
  /// Ports with queue pairs, or of which an order was about.
  [[nodiscard]] std::vector<PortName> ports() const;
  [[nodiscard]] local::Report report(const PortName& port) const;

  /// Around fork(): nobody is within meanwhile.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  /// In the child, between lock() and unlock().
  void forget();

 private:
  enum class Kind : std::uint8_t {
    Fresh,  ///< a connection that is not ready to send
    Movable,
    Unable,  ///< a connection that cannot move
    Other,   ///< no connection
  };
  struct Pair {
    PortName port;
    Kind kind = Kind::Fresh;
    Seen seen;
    bool known = false;  ///< `seen` is
    bool settled = false;
    bool failed = false;
    bool was_there = false;     ///< in the plane of the last order, since then
    bool has_migrated = false;  ///< by an event of which nothing has been made yet
    bool strays = false;        ///< it has left its plane by itself, and stays until it is told to move
    std::uint8_t timeout = 0;
    std::uint16_t pkey_index = 0;
    Clock::time_point wait_until{};
    Clock::time_point armed_since{};  ///< or before: first seen then
    Clock::time_point migrated_since{};
  };
  struct Wish {
    std::optional<unsigned> plane;
    std::uint64_t order = 0;
    std::string trouble;
    bool said_why_not = false;
  };

  [[nodiscard]] std::string why_not(ibv_qp* qp, const Pair& pair, int mask);
  void on_ready(ibv_qp* qp, Pair& pair, int mask);
  bool advance(ibv_qp* qp, Pair& pair, Clock::time_point now);
  [[nodiscard]] std::optional<unsigned> target_of(Pair& pair);
  [[nodiscard]] int look(ibv_qp* qp, Pair& pair, ibv_qp_attr& attributes, Clock::time_point now);
  [[nodiscard]] int load(ibv_qp* qp, const ibv_qp_attr& now, const Path& path);
  [[nodiscard]] int migrate(ibv_qp* qp);
  void fail(ibv_qp* qp, Pair& pair, const char* what, int error);
  void want_anew(const PortName& port, Clock::time_point now);

  const Verbs& verbs_;
  Log log_;
  mutable std::mutex mutex_;
  std::map<const ibv_qp*, Pair> pairs_;
  std::map<PortName, Wish> wishes_;
  std::map<ibv_context*, bool> migrates_;  ///< the adapter can
  std::set<std::string> unable_devices_;   ///< that were logged
  std::uint32_t migrated_ = 0;
  std::uint32_t failed_to_migrate_ = 0;
};

}  // namespace heddle::apm
