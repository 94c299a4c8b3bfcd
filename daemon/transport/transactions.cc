#include "transport/transactions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "transport/agent_table.h"
#include "transport/send_window.h"
#include "transport/transaction_slab.h"

namespace heddle::transport {
namespace {

using Stage = Transaction::Stage;
using Duration = FabricClock::duration;

// The low half of a TID: generation (never 0), slot, attempt. The generation tells a late answer from one to
// the next transaction in the same slot; the attempt tells which MAD was answered.
constexpr unsigned attempt_bits = 3;
constexpr unsigned slot_bits = 18;
constexpr unsigned generation_bits = 32 - slot_bits - attempt_bits;
static_assert(TransactionEngine::capacity < (1U << slot_bits));
constexpr std::uint32_t most_attempts = 1U << attempt_bits;
constexpr std::size_t tid_offset = 8;

std::uint32_t make_tid(const Transaction& transaction, Slot slot) {
  return (std::uint32_t{transaction.generation} << (slot_bits + attempt_bits)) | (slot << attempt_bits) |
         transaction.attempt;
}

void store_tid(std::uint32_t tid, mad::Bytes& mad) {
  std::fill_n(mad.begin() + tid_offset, 4, std::uint8_t{0});
  for (unsigned i = 0; i < 4; ++i) {
    mad[tid_offset + 4 + i] = static_cast<std::uint8_t>(tid >> (24 - 8 * i));
  }
}

// Requests that wait after their first attempt do not count against the window; they are at most this many
// windows.
constexpr std::size_t most_windows_waiting = 16;
constexpr std::uint8_t most_probation_doublings = 4;

// Waits are rounded up to one of these many lengths, a list each: so each list is in the order of its
// deadlines.
constexpr std::size_t most_waits = 32;

/// Doubling from the least to the longest attempt, with the two lengths that the configuration names exact.
std::vector<Duration> lengths_of_waits(const EngineOptions& options) {
  std::vector<Duration> lengths;
  for (Duration length = options.least_timeout; length < 4 * options.timeout; length *= 2) {
    if (lengths.size() == most_waits - 2) break;
    lengths.push_back(length);
  }
  lengths.push_back(options.timeout);
  lengths.push_back(4 * options.timeout);
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

EngineOptions sane(EngineOptions options) {
  options.window = std::clamp<std::uint32_t>(options.window, 1, 65536);
  options.least_window = std::clamp<std::uint32_t>(options.least_window, 1, options.window);
  options.per_agent = std::max<std::uint32_t>(options.per_agent, 1);
  options.attempts = std::clamp<std::uint32_t>(options.attempts, 1, most_attempts);
  options.silent_after = std::max<std::uint32_t>(options.silent_after, 1);
  options.timeout = std::max(options.timeout, Duration{std::chrono::microseconds{10}});
  options.least_timeout =
      std::clamp(options.least_timeout, Duration{std::chrono::microseconds{1}}, options.timeout);
  options.probation = std::max(options.probation, Duration::zero());
  return options;
}

}  // namespace

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

class TransactionEngine::Impl {
 public:
  Impl(Transport& transport, const EngineOptions& options)
      : transport_{transport},
        options_{sane(options)},
        window_{options_.least_window, options_.window},
        lengths_{lengths_of_waits(options_)} {}

  Result<void> submit(const Request& request, TransactionClient& client, std::uint64_t context, Instant now);
  void on_packet(const mad::Packet& packet, Instant at, Instant now);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  void stop(Instant now);
  void forgive(AgentKey key);

  Transport& transport_;
  EngineOptions options_;
  SendWindow window_;
  TransactionSlab slab_;
  AgentTable agents_;
  TransactionStatistics statistics_;
  Unsolicited unsolicited_;
  WakeUp wake_up_;
  std::size_t queued_ = 0;

 private:
  void enqueue(Slot slot);
  void doom(Slot slot, Outcome outcome);
  void make_ready(std::uint32_t agent);
  [[nodiscard]] std::uint32_t cap(const Agent& agent) const;
  void pump(Instant now);
  void send(Slot slot, Instant now);
  void wait(Slot slot, Duration time, Instant now);
  void leave_list(Slot slot);
  [[nodiscard]] Duration patience_of(const Transaction& transaction);

  void expire(Slot slot, Instant now);
  void give_up(Slot slot, Instant now);
  void put_on_probation(std::uint32_t index, Instant now);
  void answered(Slot slot, const mad::Packet& packet, const mad::Header& header, unsigned attempt, Instant at,
                Instant now);
  void heard_from(Agent& agent, Instant at);
  void complete(Slot slot, Outcome outcome, std::uint16_t status, const mad::Packet* answer, Instant at,
                Instant now);
  void flush_doomed(Instant now);
  void announce();

  const std::vector<Duration> lengths_;
  std::array<TransactionList, most_waits> waiting_;
  std::uint32_t waiting_mask_ = 0;
  TransactionList doomed_;
  std::size_t doomed_count_ = 0;
  std::uint32_t first_ready_ = no_agent;
  std::uint32_t last_ready_ = no_agent;
  std::uint32_t first_attempts_ = 0;  ///< in the fabric, counted against the window
  std::size_t under_way_ = 0;
  std::optional<Instant> paused_until_;  ///< the device took no more
  std::optional<Instant> announced_;
  std::uint16_t generation_ = 0;
  RoundTrip all_;
  bool stopped_ = false;
};

Result<void> TransactionEngine::Impl::submit(const Request& request, TransactionClient& client,
                                             std::uint64_t context, Instant now) {
  if (stopped_) return fail(ErrorCode::Refused, "the transaction engine is stopped");
  const Slot slot = slab_.take(capacity);
  if (slot == no_slot) {
    return fail(ErrorCode::Refused, fmt::format("{} requests wait already", capacity));
  }
  Transaction& transaction = slab_[slot];
  generation_ = static_cast<std::uint16_t>((generation_ + 1U) & ((1U << generation_bits) - 1));
  if (generation_ == 0) generation_ = 1;
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

void TransactionEngine::Impl::doom(Slot slot, Outcome outcome) {
  Transaction& transaction = slab_[slot];
  transaction.stage = Stage::Doomed;
  transaction.doom = outcome;
  doomed_.push_back(slab_, slot);
  ++doomed_count_;
}

std::uint32_t TransactionEngine::Impl::cap(const Agent& agent) const {
  if (agent.probations > 0) return 1;
  // Two, so that one attribute that an agent ignores does not make it look dead.
  if (agent.unanswered > 0) return std::min<std::uint32_t>(options_.per_agent, 2);
  return options_.per_agent;
}

void TransactionEngine::Impl::make_ready(std::uint32_t index) {
  Agent& agent = agents_[index];
  if (agent.ready || agent.queued == 0 || agent.under_way >= cap(agent)) return;
  agent.ready = true;
  agent.next_ready = no_agent;
  (last_ready_ == no_agent ? first_ready_ : agents_[last_ready_].next_ready) = index;
  last_ready_ = index;
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
  store_tid(make_tid(transaction, slot), transaction.packet.mad);
  if (const auto sent = transport_.send(transaction.packet)) {
    transaction.ever_sent = true;
    ++statistics_.sent;
  } else {
    ++statistics_.send_errors;
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
  wait(slot, patience_of(transaction), now);
}

Duration TransactionEngine::Impl::patience_of(const Transaction& transaction) {
  const bool brisk = transaction.patience == Patience::Brisk;
  const int stretch = transaction.patience == Patience::Slow ? 4 : 1;
  const bool last = transaction.attempt + 1U >= transaction.attempts;
  const RoundTrip& own = agents_[transaction.agent].round_trip;
  const RoundTrip& guess = own.known() ? own : all_;
  if ((last && !brisk) || !guess.known()) return options_.timeout * stretch;
  const Duration likely = std::clamp(guess.limit(), options_.least_timeout, options_.timeout);
  const unsigned doublings = std::min<unsigned>(transaction.attempt, most_attempts) * (brisk ? 1U : 2U);
  return std::min(likely * (1 << doublings), options_.timeout) * stretch;
}

void TransactionEngine::Impl::wait(Slot slot, Duration time, Instant now) {
  const auto length = std::lower_bound(lengths_.begin(), lengths_.end() - 1, time);
  const auto list = static_cast<std::size_t>(length - lengths_.begin());
  Transaction& transaction = slab_[slot];
  TransactionList& others = waiting_[list];
  transaction.deadline = now + *length;
  if (!others.empty()) transaction.deadline = std::max(transaction.deadline, slab_[others.tail].deadline);
  transaction.list = static_cast<std::uint8_t>(list);
  others.push_back(slab_, slot);
  waiting_mask_ |= 1U << list;
}

void TransactionEngine::Impl::leave_list(Slot slot) {
  const std::size_t list = slab_[slot].list;
  waiting_[list].remove(slab_, slot);
  if (waiting_[list].empty()) waiting_mask_ &= ~(1U << list);
}

void TransactionEngine::Impl::on_packet(const mad::Packet& packet, Instant at, Instant now) {
  ++statistics_.received;
  const mad::Header header = mad::read_header(packet.mad);
  if (!mad::is_response(header.method)) {
    ++statistics_.unsolicited;
    if (unsolicited_ && !stopped_) unsolicited_(packet, at);
    announce();
    return;
  }
  const auto tid = static_cast<std::uint32_t>(header.tid);
  const Slot slot = (tid >> attempt_bits) & ((1U << slot_bits) - 1);
  const unsigned attempt = tid & (most_attempts - 1);
  Transaction* transaction = slot < slab_.size() ? &slab_[slot] : nullptr;
  if (transaction == nullptr || transaction->stage != Stage::Sent ||
      transaction->generation != tid >> (slot_bits + attempt_bits) || attempt > transaction->attempt) {
    ++statistics_.unmatched;
    return;
  }
  const mad::Header asked = mad::read_header(transaction->packet.mad);
  if (header.method != mad::Method::GetResp || header.mgmt_class != asked.mgmt_class ||
      header.attribute != asked.attribute || header.modifier != asked.modifier) {
    ++statistics_.wrong;
    transaction->answered_wrongly = true;
    heard_from(agents_[transaction->agent], at);
    make_ready(transaction->agent);
  } else {
    answered(slot, packet, header, attempt, at, now);
  }
  pump(now);
  flush_doomed(now);
  announce();
}

void TransactionEngine::Impl::heard_from(Agent& agent, Instant at) {
  agent.unanswered = 0;
  agent.failed_attempts = 0;
  agent.probations = 0;
  agent.last_answer = at;
}

void TransactionEngine::Impl::answered(Slot slot, const mad::Packet& packet, const mad::Header& header,
                                       unsigned attempt, Instant at, Instant now) {
  Transaction& transaction = slab_[slot];
  Agent& agent = agents_[transaction.agent];
  heard_from(agent, at);
  window_.answered(attempt);
  leave_list(slot);
  if (transaction.attempt == 0) --first_attempts_;

  const bool last = attempt == transaction.attempt;
  if (last || attempt == 0) {
    const Duration trip = at - (last ? transaction.last_sent : transaction.first_sent);
    agent.round_trip.sample(trip);
    all_.sample_of_many(trip);
    const auto micros =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(trip).count());
    ++statistics_.latency[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(micros)),
                                                TransactionStatistics::latency_buckets - 1)];
    statistics_.latency_sum += trip;
  }
  if ((header.status & mad::status::busy) != 0 && transaction.times_busy + 1U < most_attempts) {
    ++statistics_.busy;
    const unsigned times = transaction.times_busy++;
    transaction.stage = Stage::Busy;
    // Past its first attempt, so that the window goes to others.
    transaction.attempt = std::max<std::uint8_t>(transaction.attempt, 1);
    wait(slot, std::min(options_.least_timeout * (1 << times), options_.timeout), now);
    make_ready(transaction.agent);
    return;
  }
  ++statistics_.answered;
  complete(slot, header.status == mad::status::ok ? Outcome::Answered : Outcome::Refused, header.status,
           &packet, at, now);
}

void TransactionEngine::Impl::complete(Slot slot, Outcome outcome, std::uint16_t status,
                                       const mad::Packet* answer, Instant at, Instant now) {
  Transaction& transaction = slab_[slot];
  const bool was_under_way = transaction.stage == Stage::Sent || transaction.stage == Stage::Busy;
  transaction.stage = Stage::Completing;
  if (was_under_way) {
    --agents_[transaction.agent].under_way;
    --under_way_;
    make_ready(transaction.agent);
  }
  const Completion completion{.outcome = outcome,
                              .status = status,
                              .context = transaction.context,
                              .answer = answer,
                              .request = &transaction.packet,
                              .sent = transaction.last_sent,
                              .at = at,
                              .now = now};
  transaction.client->on_completion(completion);
  slab_.give_back(slot);
}

void TransactionEngine::Impl::on_timer(Instant now) {
  announced_.reset();
  for (std::size_t list = 0; list < most_waits; ++list) {
    while (!waiting_[list].empty() && slab_[waiting_[list].head].deadline <= now) {
      expire(waiting_[list].head, now);
    }
  }
  pump(now);
  flush_doomed(now);
  announce();
}

void TransactionEngine::Impl::expire(Slot slot, Instant now) {
  leave_list(slot);
  Transaction& transaction = slab_[slot];
  if (transaction.stage == Stage::Busy) {
    send(slot, now);
    return;
  }
  ++statistics_.timeouts;
  if (transaction.attempt == 0) --first_attempts_;
  Agent& agent = agents_[transaction.agent];
  if (transaction.ever_sent) ++agent.unanswered;
  const bool hopeless = agent.silent(now) && transaction.on_silence == OnSilence::FailFast;
  if (hopeless || transaction.attempt + 1U >= transaction.attempts) {
    give_up(slot, now);
    return;
  }
  ++transaction.attempt;
  ++statistics_.retries;
  send(slot, now);
}

void TransactionEngine::Impl::give_up(Slot slot, Instant now) {
  Transaction& transaction = slab_[slot];
  Agent& agent = agents_[transaction.agent];
  if (transaction.ever_sent && agent.last_answer < transaction.first_sent && !agent.silent(now)) {
    agent.failed_attempts += transaction.attempt + 1U;
    const bool still = agent.probations > 0;
    if (still || agent.failed_attempts >= options_.silent_after * options_.attempts) {
      put_on_probation(transaction.agent, now);
    }
  }
  ++statistics_.failed;
  Outcome outcome = Outcome::TimedOut;
  if (!transaction.ever_sent) outcome = Outcome::NotSent;
  if (transaction.answered_wrongly) outcome = Outcome::WrongAnswer;
  complete(slot, outcome, 0, nullptr, now, now);
}

void TransactionEngine::Impl::put_on_probation(std::uint32_t index, Instant now) {
  Agent& agent = agents_[index];
  agent.probation_until =
      now + options_.probation * (1 << std::min(agent.probations, most_probation_doublings));
  agent.probations = std::min<std::uint8_t>(agent.probations + 1U, most_probation_doublings + 1U);
  for (Slot slot = agent.queue.head; slot != no_slot;) {
    const Slot next = slab_[slot].next;
    if (slab_[slot].on_silence == OnSilence::FailFast) {
      agent.queue.remove(slab_, slot);
      --agent.queued;
      --queued_;
      doom(slot, Outcome::AgentSilent);
    }
    slot = next;
  }
}

void TransactionEngine::Impl::flush_doomed(Instant now) {
  // Only those that are doomed at the start: a client that asks again at once must not keep us here.
  for (std::size_t left = doomed_count_; left > 0 && !doomed_.empty(); --left) {
    const Slot slot = doomed_.head;
    doomed_.remove(slab_, slot);
    --doomed_count_;
    const Outcome outcome = slab_[slot].doom;
    if (outcome == Outcome::AgentSilent) ++statistics_.failed_fast;
    complete(slot, outcome, 0, nullptr, now, now);
  }
}

std::optional<Instant> TransactionEngine::Impl::next_deadline() const {
  std::optional<Instant> earliest = paused_until_;
  const auto consider = [&](Instant deadline) {
    if (!earliest || deadline < *earliest) earliest = deadline;
  };
  auto& slab = const_cast<TransactionSlab&>(slab_);
  if (!doomed_.empty()) consider(slab[doomed_.head].deadline);
  for (std::uint32_t mask = waiting_mask_; mask != 0; mask &= mask - 1) {
    consider(slab[waiting_[static_cast<std::size_t>(std::countr_zero(mask))].head].deadline);
  }
  return earliest;
}

void TransactionEngine::Impl::announce() {
  if (!wake_up_) return;
  const auto deadline = next_deadline();
  if (!deadline || (announced_ && *announced_ <= *deadline)) return;
  announced_ = deadline;
  wake_up_(*deadline);
}

void TransactionEngine::Impl::stop(Instant now) {
  if (stopped_) return;
  stopped_ = true;
  for (Slot slot = 0; slot < slab_.size(); ++slot) {
    Transaction& transaction = slab_[slot];
    switch (transaction.stage) {
      case Stage::Free:
      case Stage::Completing:
        continue;
      case Stage::Queued: {
        Agent& agent = agents_[transaction.agent];
        agent.queue.remove(slab_, slot);
        --agent.queued;
        --queued_;
        break;
      }
      case Stage::Sent:
      case Stage::Busy:
        leave_list(slot);
        if (transaction.attempt == 0) --first_attempts_;
        break;
      case Stage::Doomed:
        doomed_.remove(slab_, slot);
        --doomed_count_;
        break;
    }
    complete(slot, Outcome::Stopped, 0, nullptr, now, now);
  }
}

void TransactionEngine::Impl::forgive(AgentKey key) {
  const std::uint32_t index = agents_.find(key);
  if (index == no_agent) return;
  Agent& agent = agents_[index];
  agent.probations = 0;
  agent.unanswered = 0;
  agent.failed_attempts = 0;
  make_ready(index);
}

TransactionEngine::TransactionEngine(Transport& transport, const EngineOptions& options)
    : impl_{std::make_unique<Impl>(transport, options)} {}
TransactionEngine::~TransactionEngine() = default;

void TransactionEngine::unsolicited_to(Unsolicited handler) { impl_->unsolicited_ = std::move(handler); }
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
