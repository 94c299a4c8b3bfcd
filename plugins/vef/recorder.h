/// What this rank has recorded, and what it must remember of MPI to do so: communicators, receptions under
/// way.
///
/// Exists from MPI_Init to MPI_Finalize. One thread at a time, which MPI sees to below MPI_THREAD_MULTIPLE.
/// Nothing here ends the program: what fails stops the recording, and the reason is told at MPI_Finalize.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "entries.h"
#include "ledger/channels.h"
#include "ledger/log.h"
#include "output.h"

namespace heddle::vef {

struct Communicator {
  std::uint64_t id = 0;      ///< rank of the world that leads it, and its number there
  std::uint32_t place = 0;   ///< among those of this rank
  bool leads = false;        ///< this rank is its first
  std::vector<int> members;  ///< ranks of the world
  int rank = 0;              ///< of this one
  std::uint64_t entered = 0;
};

/// A request that receives, or a persistent one.
struct Tracked {
  std::uint64_t post = 0;   ///< which reception
  std::uint64_t place = 0;  ///< of its record in the log
  Communicator* communicator = nullptr;
  bool receives = true;
  bool persistent = false;
  bool active = false;
  bool from_anywhere = false;  ///< source or tag is known when it ends
  int peer = MPI_PROC_NULL;
  int tag = 0;
  std::uint64_t bytes = 0;  ///< of a persistent send
};

class Recorder {
 public:
  /// Throws std::system_error when the log cannot be opened.
  explicit Recorder(Output output);

  /// Carries out what writes something down; whatever it throws stops the recording.
  template <class Write>
  void note(Write write) noexcept {
    if (stopped()) return;
    try {
      write();
    } catch (...) {
      stop_because_of_exception();
    }
  }
  void stop(const std::string& why) noexcept;
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// The clock of what the program computes.
  void pause() { computed_ += static_cast<std::uint64_t>((Clock::now() - resumed_).count()); }
  void resume() { resumed_ = Clock::now(); }

  // Each throws what stops the recording.
  void sent(int count, MPI_Datatype type, int target, int tag, MPI_Comm comm);
  void send_bytes(const Communicator& communicator, int target, int tag, std::uint64_t bytes);
  void received(int source, int tag, MPI_Comm comm, const MPI_Status& status);
  /// `too`: by the same call as the record before.
  void received_from(const Communicator& communicator, int source, int tag, bool too);
  void posted(MPI_Request request, int source, int tag, MPI_Comm comm);
  void prepared(MPI_Request request, Tracked what);
  void started(MPI_Request request);
  void ended(MPI_Request request, const MPI_Status& status, bool& too);
  void cancelled(MPI_Request request);
  void freed(MPI_Request request);
  void probed(MPI_Message message, MPI_Comm comm, const MPI_Status& status);
  void received_probed(MPI_Message message);
  void posted_probed(MPI_Message message, MPI_Request request);
  void entered(Communicator& communicator, Collective kind, int root, std::uint64_t bytes);

  /// Called by every member, recording or not.
  void made(MPI_Comm comm) noexcept;
  void forget(MPI_Comm comm) noexcept;
  [[nodiscard]] Communicator& of(MPI_Comm comm);

  // For merging.
  [[nodiscard]] Log& log() { return log_; }
  [[nodiscard]] Output& output() { return output_; }
  [[nodiscard]] const Channels& sending() const { return sending_; }
  [[nodiscard]] const Channels& receiving() const { return receiving_; }
  [[nodiscard]] const std::vector<std::uint64_t>& sent_by_channel() const { return sent_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Communicator>>& communicators() const {
    return communicators_;
  }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t most_members = std::size_t{1} << 24U;

  void keep(MPI_Comm comm, std::uint64_t id);
  std::uint64_t post(std::uint32_t channel);
  void end(Tracked& tracked, const MPI_Status& status, bool& too);
  [[nodiscard]] std::uint32_t receiving_at(const Communicator& communicator, int source, int tag);
  void stop_because_of_exception() noexcept;

  Output output_;
  Log log_;
  int rank_ = 0;
  int size_ = 0;
  bool stopped_ = false;
  std::string reason_;
  std::uint64_t computed_ = 0;
  Clock::time_point resumed_ = Clock::now();
  Channels sending_;
  Channels receiving_;
  std::vector<std::uint64_t> sent_;  ///< by channel of sending
  std::uint64_t posts_ = 0;
  std::uint64_t led_ = 0;
  std::size_t members_ = 0;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::unordered_map<MPI_Comm, Communicator*> by_handle_;
  std::unordered_map<MPI_Request, Tracked> requests_;
  std::unordered_map<MPI_Message, std::uint64_t> probed_;
};

/// None before MPI_Init, after MPI_Finalize, and where nothing is recorded.
[[nodiscard]] Recorder* recorder();

[[nodiscard]] std::uint64_t bytes_of(std::int64_t count, MPI_Datatype type);

/// A call of MPI by the program: it is no time of computing, and what it calls in turn is not recorded.
class Call {
 public:
  Call() {
    set_inside(true);
    recorder()->pause();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    recorder()->resume();
    set_inside(false);
  }
};

/// Carries out a call, and writes down what it did if it did it.
template <Function F, class Write, class... Arguments>
int recorded(Write write, Arguments... arguments) {
  const Call call;
  const int result = next<F>(arguments...);
  if (result == MPI_SUCCESS) {
    recorder()->note(write);
  } else {
    recorder()->stop("a call of the program failed");
  }
  return result;
}

template <class Wrapper>
void enter(Function function, Wrapper* wrapper) {
  enter(function, reinterpret_cast<void*>(wrapper));
}

void enter_messages();
void enter_completions();
void enter_collectives();
void enter_communicators();

}  // namespace heddle::vef
