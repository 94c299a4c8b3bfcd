/// This daemon's part in what daemons of several hosts keep together (state.backend = "etcd"): a thread that
/// stands for owner of the fabric, keeps the lease, and follows what the owner stores. What it sees comes to
/// the thread of `io`; what it decides by is asked there without waiting.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/config.h"
#include "journal/journal.h"
#include "plan/plan.h"
#include "shared/candidate.h"
#include "shared/lease.h"
#include "shared/shared_journal.h"
#include "vlarb/targets.h"

namespace heddle::app {

class SharedState {
 public:
  /// What the one before has left.
  struct Taken {
    shared::StoredJournal journal;
    std::optional<plan::Plan> plan;
    std::optional<std::vector<vlarb::Assignment>> qos;  ///< what was pushed at a standalone owner
  };
  /// All on the thread of `io`.
  struct Callbacks {
    std::function<void(Taken)> taken;         ///< this daemon owns the fabric
    std::function<void(std::string)> lost;    ///< not any more, for good
    std::function<void(plan::Plan)> planned;  ///< the owner has another plan
  };
  struct Shown {
    std::string name;   ///< of this daemon
    std::string owner;  ///< empty: nobody, or not known
    bool owns = false;
    FabricClock::duration left{};  ///< of the lease, where this daemon owns
    std::string trouble;           ///< why etcd cannot be asked, or what it says cannot be read
  };

  /// Errors: of shared::etcd_store.
  static Result<std::unique_ptr<SharedState>> open(boost::asio::io_context& io, const Config& config,
                                                   const journal::Calendar& calendar, Callbacks callbacks);
  /// Waits for what is being asked, and lets the next owner in: nobody may write the fabric any more.
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  void begin();
  /// Any thread: asked before everything that changes the fabric.
  [[nodiscard]] bool may_write() const { return lease_.held(); }
  void set_fit(bool fit) { fit_.store(fit); }
  [[nodiscard]] Shown shown() const;
  /// One sentence for operators; none where all is well.
  [[nodiscard]] std::optional<std::string> problem() const;
  /// Why this daemon writes nothing.
  [[nodiscard]] std::string why_not() const;

  // Of an owner.
  [[nodiscard]] std::unique_ptr<journal::Journal> journal(std::unique_ptr<journal::Journal> file,
                                                          shared::StoredJournal stored);
  /// On the thread of the journal. Errors: Refused without the lease; those of the store.
  Result<void> put(const plan::Plan& plan);
  /// Likewise.
  Result<void> put(const std::vector<vlarb::Assignment>& qos);

 private:
  SharedState(boost::asio::io_context& io, const Config& config, const journal::Calendar& calendar,
              Callbacks callbacks, std::unique_ptr<shared::Store> ours, std::unique_ptr<shared::Store> disks);
  void run();
  /// False when there is nothing more to do.
  bool step();
  void saw(const shared::Beat& beat);
  void read_again();
  void post(std::function<void()> what);
  void read_qos();
  Result<void> put_text(const char* key, const std::string& text, const char* what);

  boost::asio::io_context& io_;
  shared::CandidateOptions options_;
  journal::Calendar calendar_;
  Callbacks callbacks_;
  std::unique_ptr<shared::Store> ours_;   ///< of the thread
  std::unique_ptr<shared::Store> disks_;  ///< of the journal's thread
  shared::Lease lease_;
  std::atomic<bool> fit_{false};

  // The thread's.
  shared::Candidate candidate_;
  shared::Texts texts_;
  Taken stored_;
  std::string unreadable_;

  mutable std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;
  bool asked_ = false;  ///< etcd has answered, or has not
  Shown shown_;
  std::optional<shared::Guard> guard_;  ///< of an owner
  std::unique_ptr<shared::Writer> writer_;
  std::thread thread_;
};

}  // namespace heddle::app
