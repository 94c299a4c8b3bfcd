#include "transport/transactions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "transport/patience.h"
#include "transport/transaction_tid.h"
#include "transport/transactions_impl.h"

namespace heddle::transport {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::Answered:
      return "answered";
    case Outcome::Refused:
      return "refused";
    case Outcome::TimedOut:
      return "timed out";
    case Outcome::WrongAnswer:
      return "wrong answer";
    case Outcome::AgentSilent:
      return "agent silent";
    case Outcome::NotSent:
      return "not sent";
    case Outcome::Stopped:
      return "stopped";
  }
  return "unknown";
}

EngineOptions TransactionEngine::Impl::sane(EngineOptions options) {
  options.window = std::clamp<std::uint32_t>(options.window, 1, 65536);
  options.least_window = std::clamp<std::uint32_t>(options.least_window, 1, options.window);
  options.per_agent = std::max<std::uint32_t>(options.per_agent, 1);
  options.attempts = std::clamp<std::uint32_t>(options.attempts, 1, TransactionTid::most_attempts);
  options.silent_after = std::max<std::uint32_t>(options.silent_after, 1);
  options.timeout = std::max(options.timeout, Duration{std::chrono::microseconds{10}});
  options.least_timeout =
      std::clamp(options.least_timeout, Duration{std::chrono::microseconds{1}}, options.timeout);
  options.probation = std::max(options.probation, Duration::zero());
  return options;
}

Result<void> TransactionEngine::Impl::submit(const Request& request, TransactionClient& client,
                                             std::uint64_t context, Instant now) {
  if (stopped_) return fail(ErrorCode::Refused, "the transaction engine is stopped");
  const Slot slot = slab_.take(capacity);
  if (slot == no_slot) {
    return fail(ErrorCode::Refused, fmt::format("{} requests wait already", capacity));
  }
  Transaction& transaction = slab_[slot];
  generation_ = TransactionTid::next(generation_);
  transaction.generation = generation_;
  transaction.patience = request.patience;
  transaction.on_silence = request.on_silence;
  transaction.attempt = 0;
  transaction.attempts =
      request.patience == Patience::Once ? 1 : static_cast<std::uint8_t>(options_.attempts);
  transaction.times_busy = 0;
  transaction.ever_sent = false;
  transaction.answered_wrongly = false;
  transaction.client = &client;
  transaction.context = context;
  transaction.first_sent = transaction.last_sent = transaction.deadline = now;
  transaction.packet = request.packet;
  transaction.agent = agents_.find_or_add(request.agent);
  if (request.on_silence == OnSilence::FailFast && agents_[transaction.agent].silent(now)) {
    doom(slot, Outcome::AgentSilent);
  } else {
    enqueue(slot);
    pump(now);
  }
  announce();
  return {};
}

void TransactionEngine::Impl::enqueue(Slot slot) {
  Transaction& transaction = slab_[slot];
  transaction.stage = Stage::Queued;
  Agent& agent = agents_[transaction.agent];
  agent.queue.push_back(slab_, slot);
  ++agent.queued;
  ++queued_;
  make_ready(transaction.agent);
}

void TransactionEngine::Impl::make_ready(std::uint32_t index) {
  Agent& agent = agents_[index];
  if (agent.ready || agent.queued == 0 || agent.under_way >= cap(agent)) return;
  agent.ready = true;
  agent.next_ready = no_agent;
  (last_ready_ == no_agent ? first_ready_ : agents_[last_ready_].next_ready) = index;
  last_ready_ = index;
}

std::uint32_t TransactionEngine::Impl::cap(const Agent& agent) const {
  if (agent.probations > 0) return 1;
  // Two, so that one attribute that an agent ignores does not make it look dead.
  if (agent.unanswered > 0) return std::min<std::uint32_t>(options_.per_agent, 2);
  return options_.per_agent;
}

void TransactionEngine::Impl::pump(Instant now) {
  if (stopped_) return;
  if (paused_until_ && now < *paused_until_) return;
  paused_until_.reset();
  while (first_ready_ != no_agent && first_attempts_ < window_.size() &&
         under_way_ < most_windows_waiting * window_.size() && !paused_until_) {
    const std::uint32_t index = first_ready_;
    Agent& agent = agents_[index];
    first_ready_ = agent.next_ready;
    if (first_ready_ == no_agent) last_ready_ = no_agent;
    agent.ready = false;
    if (agent.queued == 0 || agent.under_way >= cap(agent)) continue;

    const Slot slot = agent.queue.head;
    agent.queue.remove(slab_, slot);
    --agent.queued;
    --queued_;
    ++agent.under_way;
    ++under_way_;
    ++first_attempts_;
    Transaction& transaction = slab_[slot];
    transaction.stage = Stage::Sent;
    // Whether it has come back is asked twice, not with all patience.
    if (agent.probations > 0) transaction.attempts = std::min<std::uint8_t>(transaction.attempts, 2);
    transaction.first_sent = now;
    make_ready(index);
    send(slot, now);
  }
}

void TransactionEngine::Impl::send(Slot slot, Instant now) {
  Transaction& transaction = slab_[slot];
  transaction.stage = Stage::Sent;
  transaction.last_sent = now;
  TransactionTid{.generation = transaction.generation, .slot = slot, .attempt = transaction.attempt}.write(
      transaction.packet.mad);
  const bool is_wanted = transaction.ever_sent || transaction.client->still_wants(transaction.context);
  const Result<void> sent = is_wanted ? transport_.send(transaction.packet)
                                      : Result<void>{fail(ErrorCode::Refused, "it is not wanted any more")};
  if (sent) {
    transaction.ever_sent = true;
    ++statistics_.sent;
  } else {
    if (is_wanted) ++statistics_.send_errors;
    if (sent.error().code == ErrorCode::Io) {
      window_.refused();
      paused_until_ = now + options_.least_timeout;
    } else {
      if (transaction.attempt == 0) --first_attempts_;
      --agents_[transaction.agent].under_way;
      --under_way_;
      make_ready(transaction.agent);
      doom(slot, Outcome::NotSent);
      return;
    }
  }
  waiting_.enter(slab_, slot, patience_of(transaction), now);
}

void TransactionEngine::Impl::sent_by(Instant began, Instant now) {
  if (now > began) waiting_.postpone(slab_, began, now - began);
}

FabricClock::duration TransactionEngine::Impl::patience_of(const Transaction& transaction) {
  const bool brisk = transaction.patience == Patience::Brisk;
  const int stretch = transaction.patience == Patience::Slow ? slow_stretch : 1;
  const bool last = transaction.attempt + 1U >= transaction.attempts;
  const RoundTrip& own = agents_[transaction.agent].round_trip;
  const RoundTrip& guess = own.known() ? own : all_;
  if ((last && !brisk) || !guess.known()) return options_.timeout * stretch;
  const Duration likely = std::clamp(guess.limit(), options_.least_timeout, options_.timeout);
  const unsigned doublings =
      std::min<unsigned>(transaction.attempt, TransactionTid::most_attempts) * (brisk ? 1U : 2U);
  return std::min(likely * (1 << doublings), options_.timeout) * stretch;
}

std::optional<Instant> TransactionEngine::Impl::next_deadline() const {
  auto& slab = const_cast<TransactionSlab&>(slab_);
  std::optional<Instant> earliest = waiting_.earliest(slab);
  const auto consider = [&](Instant deadline) {
    if (!earliest || deadline < *earliest) earliest = deadline;
  };
  if (paused_until_) consider(*paused_until_);
  if (!doomed_.empty()) consider(slab[doomed_.head].deadline);
  return earliest;
}

void TransactionEngine::Impl::announce() {
  if (!wake_up_) return;
  const auto deadline = next_deadline();
  if (!deadline || (announced_ && *announced_ <= *deadline)) return;
  announced_ = deadline;
  wake_up_(*deadline);
}

TransactionEngine::TransactionEngine(Transport& transport, const EngineOptions& options)
    : impl_{std::make_unique<Impl>(transport, options)} {}
TransactionEngine::~TransactionEngine() = default;

void TransactionEngine::unsolicited_to(Unsolicited handler) { impl_->unsolicited_ = std::move(handler); }
void TransactionEngine::unmatched_to(Unsolicited handler) { impl_->unmatched_ = std::move(handler); }
void TransactionEngine::wake_with(WakeUp wake_up) { impl_->wake_up_ = std::move(wake_up); }
Result<void> TransactionEngine::submit(const Request& request, TransactionClient& client,
                                       std::uint64_t context, Instant now) {
  return impl_->submit(request, client, context, now);
}
Result<void> TransactionEngine::send_only(const mad::Packet& packet) {
  return impl_->transport_.send(packet);
}
void TransactionEngine::on_packet(const mad::Packet& packet, Instant at, Instant now) {
  impl_->on_packet(packet, at, now);
}
void TransactionEngine::on_timer(Instant now) { impl_->on_timer(now); }
void TransactionEngine::sent_by(Instant began, Instant now) { impl_->sent_by(began, now); }
std::optional<Instant> TransactionEngine::next_deadline() const { return impl_->next_deadline(); }
void TransactionEngine::stop(Instant now) { impl_->stop(now); }
std::size_t TransactionEngine::pending() const { return impl_->slab_.used(); }
std::size_t TransactionEngine::queued() const { return impl_->queued_; }
std::uint32_t TransactionEngine::window() const { return impl_->window_.size(); }
bool TransactionEngine::is_silent(AgentKey agent, Instant now) const {
  const std::uint32_t index = impl_->agents_.find(agent);
  return index != no_agent && impl_->agents_[index].silent(now);
}
void TransactionEngine::forgive(AgentKey agent) { impl_->forgive(agent); }
const TransactionStatistics& TransactionEngine::statistics() const { return impl_->statistics_; }

}  // namespace heddle::transport
