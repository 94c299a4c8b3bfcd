#include "recorder.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace heddle::vef {
namespace {

constexpr std::uint64_t most_message_bytes = std::uint64_t{1} << 40U;  // trace/vef.h

}  // namespace

std::uint64_t bytes_of(std::int64_t count, MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  const auto most = static_cast<std::int64_t>(most_message_bytes);
  if (count < 0 || size < 0 || (size > 0 && count > most / size)) {
    throw std::length_error("a message is longer than a trace can say (1 TiB)");
  }
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

Recorder::Recorder(Output output) : output_{std::move(output)}, log_{output_.nameless()} {
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  PMPI_Comm_size(MPI_COMM_WORLD, &size_);
  keep(MPI_COMM_WORLD, 0);
  led_ = 1;
  keep(MPI_COMM_SELF, static_cast<std::uint64_t>(rank_) << 32U | led_++);
}

void Recorder::stop(const std::string& why) noexcept {
  if (stopped_) return;
  stopped_ = true;
  try {
    reason_ = why;
  } catch (...) {
    reason_.clear();  // told as a lack of memory
  }
}

void Recorder::stop_because_of_exception() noexcept {
  try {
    throw;
  } catch (const std::system_error& error) {
    stop("writing to " + output_.directory() + ": " + error.what());
  } catch (const std::exception& error) {
    stop(error.what());
  } catch (...) {
    stop("out of memory");
  }
}

Communicator& Recorder::of(MPI_Comm comm) {
  const auto found = by_handle_.find(comm);
  if (found == by_handle_.end()) {
    throw std::runtime_error(
        "the program uses a communicator between groups, or one whose making is not recorded");
  }
  return *found->second;
}

void Recorder::keep(MPI_Comm comm, std::uint64_t id) {
  auto made = std::make_unique<Communicator>();
  int size = 0;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_rank(comm, &made->rank);
  members_ += static_cast<std::size_t>(size);
  if (members_ > most_members)
    throw std::length_error("the communicators have more than 16,777,216 members in all");
  std::vector<int> ranks(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  made->members.resize(ranks.size());
  MPI_Group here{};
  MPI_Group world{};
  PMPI_Comm_group(comm, &here);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(here, size, ranks.data(), world, made->members.data());
  PMPI_Group_free(&here);
  PMPI_Group_free(&world);
  if (std::ranges::find(made->members, MPI_UNDEFINED) != made->members.end())
    return;  // not all of this world
  made->id = id;
  made->place = static_cast<std::uint32_t>(communicators_.size());
  made->leads = made->rank == 0;
  by_handle_[comm] = made.get();
  communicators_.push_back(std::move(made));
}

void Recorder::made(MPI_Comm comm) noexcept {
  if (comm == MPI_COMM_NULL) return;
  int between_groups = 0;
  PMPI_Comm_test_inter(comm, &between_groups);
  if (between_groups != 0) return;
  // The first member names it for all, also where nothing is recorded any more.
  std::uint64_t id = static_cast<std::uint64_t>(rank_) << 32U | led_++;
  PMPI_Bcast(&id, 1, MPI_UINT64_T, 0, comm);
  note([&] { keep(comm, id); });
}

void Recorder::forget(MPI_Comm comm) noexcept { by_handle_.erase(comm); }

void Recorder::sent(int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
  if (target != MPI_PROC_NULL) send_bytes(of(comm), target, tag, bytes_of(count, type));
}

void Recorder::send_bytes(const Communicator& communicator, int target, int tag, std::uint64_t bytes) {
  const auto peer = static_cast<std::uint32_t>(communicator.members.at(static_cast<std::size_t>(target)));
  const std::uint32_t channel = sending_.at({communicator.id, peer, tag});
  if (channel == sent_.size()) sent_.push_back(0);
  log_.add({.what = What::Send, .where = channel, .amount = bytes, .at = computed_});
  ++sent_[channel];
}

std::uint32_t Recorder::receiving_at(const Communicator& communicator, int source, int tag) {
  return receiving_.at({communicator.id,
                        static_cast<std::uint32_t>(communicator.members.at(static_cast<std::size_t>(source))),
                        tag});
}

/// The record's place.
std::uint64_t Recorder::post(std::uint32_t channel) {
  ++posts_;
  return log_.add({.what = What::Posted, .where = channel, .at = computed_});
}

void Recorder::received(int source, int tag, MPI_Comm comm, const MPI_Status& status) {
  if (source == MPI_PROC_NULL) return;
  received_from(of(comm), source == MPI_ANY_SOURCE ? status.MPI_SOURCE : source,
                tag == MPI_ANY_TAG ? status.MPI_TAG : tag, false);
}

void Recorder::received_from(const Communicator& communicator, int source, int tag, bool too) {
  post(receiving_at(communicator, source, tag));
  log_.add({.what = too ? What::ReceivedToo : What::Received, .amount = posts_ - 1, .at = computed_});
}

void Recorder::posted(MPI_Request request, int source, int tag, MPI_Comm comm) {
  if (source == MPI_PROC_NULL) return;
  prepared(request, {.communicator = &of(comm), .peer = source, .tag = tag});
  started(request);
}

void Recorder::prepared(MPI_Request request, Tracked what) {
  what.from_anywhere = what.peer == MPI_ANY_SOURCE || what.tag == MPI_ANY_TAG;
  requests_.insert_or_assign(request, what);
}

void Recorder::started(MPI_Request request) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return;
  Tracked& what = found->second;
  if (!what.receives) {
    send_bytes(*what.communicator, what.peer, what.tag, what.bytes);
    return;
  }
  what.post = posts_;
  what.place = post(what.from_anywhere ? nowhere : receiving_at(*what.communicator, what.peer, what.tag));
  what.active = true;
}

void Recorder::ended(MPI_Request request, const MPI_Status& status, bool& too) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return;
  if (found->second.active) end(found->second, status, too);
  if (!found->second.persistent) requests_.erase(found);
}

void Recorder::end(Tracked& tracked, const MPI_Status& status, bool& too) {
  tracked.active = false;
  int was_cancelled = 0;
  PMPI_Test_cancelled(&status, &was_cancelled);
  if (was_cancelled != 0) {
    log_.set_where(tracked.place, nowhere);
    return;
  }
  if (tracked.from_anywhere) {
    log_.set_where(tracked.place, receiving_at(*tracked.communicator, status.MPI_SOURCE, status.MPI_TAG));
  }
  log_.add({.what = too ? What::ReceivedToo : What::Received, .amount = tracked.post, .at = computed_});
  too = true;
}

void Recorder::cancelled(MPI_Request request) {
  const auto found = requests_.find(request);
  if (found == requests_.end() || !found->second.receives) {
    throw std::runtime_error("the program cancels a send");
  }
}

void Recorder::freed(MPI_Request request) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return;
  if (found->second.active && found->second.from_anywhere) {
    throw std::runtime_error("the program frees a reception from anywhere before it has ended");
  }
  requests_.erase(found);
}

void Recorder::probed(MPI_Message message, MPI_Comm comm, const MPI_Status& status) {
  if (message == MPI_MESSAGE_NO_PROC || message == MPI_MESSAGE_NULL) return;
  post(receiving_at(of(comm), status.MPI_SOURCE, status.MPI_TAG));
  probed_[message] = posts_ - 1;
}

void Recorder::received_probed(MPI_Message message) {
  const auto found = probed_.find(message);
  if (found == probed_.end()) return;
  log_.add({.what = What::Received, .amount = found->second, .at = computed_});
  probed_.erase(found);
}

void Recorder::posted_probed(MPI_Message message, MPI_Request request) {
  const auto found = probed_.find(message);
  if (found == probed_.end()) return;
  requests_.insert_or_assign(request, Tracked{.post = found->second, .active = true});
  probed_.erase(found);
}

void Recorder::entered(Communicator& communicator, Collective kind, int root, std::uint64_t bytes) {
  const int task = communicator.members.at(static_cast<std::size_t>(root));
  log_.add({.what = What::Enter,
            .kind = static_cast<std::uint8_t>(kind),
            .where = communicator.place,
            .root = static_cast<std::uint32_t>(task),
            .amount = bytes,
            .at = computed_});
  ++communicator.entered;
}

}  // namespace heddle::vef
