#include <algorithm>
#include <bit>

#include "transport/transaction_tid.h"
#include "transport/transactions_impl.h"

namespace heddle::transport {

namespace {

/// IBA 13.4.5.
mad::Method answer_to(mad::Method asked) {
  return asked == mad::Method::Report ? mad::Method::ReportResp : mad::Method::GetResp;
}

}  // namespace

void TransactionEngine::Impl::on_packet(const mad::Packet& packet, Instant at, Instant now) {
  ++statistics_.received;
  const mad::Header header = mad::read_header(packet.mad);
  if (!mad::is_response(header.method)) {
    ++statistics_.unsolicited;
    if (unsolicited_ && !stopped_) unsolicited_(packet, at);
    announce();
    return;
  }
  const TransactionTid tid = TransactionTid::read(header.tid);
  Transaction* transaction = tid.slot < slab_.size() ? &slab_[tid.slot] : nullptr;
  if (transaction == nullptr || transaction->stage != Stage::Sent ||
      transaction->generation != tid.generation || tid.attempt > transaction->attempt) {
    ++statistics_.unmatched;
    if (unmatched_ && !stopped_) unmatched_(packet, at);
    announce();
    return;
  }
  const mad::Header asked = mad::read_header(transaction->packet.mad);
  if (header.method != answer_to(asked.method) || header.mgmt_class != asked.mgmt_class ||
      header.attribute != asked.attribute || header.modifier != asked.modifier) {
    ++statistics_.wrong;
    transaction->answered_wrongly = true;
    heard_from(agents_[transaction->agent], at);
    make_ready(transaction->agent);
  } else {
    answered(tid.slot, packet, header, tid.attempt, at, now);
  }
  pump(now);
  flush_doomed(now);
  announce();
}

void TransactionEngine::Impl::on_timer(Instant now) {
  announced_.reset();
  for (Slot due = waiting_.due(slab_, now); due != no_slot; due = waiting_.due(slab_, now)) {
    expire(due, now);
  }
  pump(now);
  flush_doomed(now);
  announce();
}

void TransactionEngine::Impl::answered(Slot slot, const mad::Packet& packet, const mad::Header& header,
                                       unsigned attempt, Instant at, Instant now) {
  Transaction& transaction = slab_[slot];
  Agent& agent = agents_[transaction.agent];
  heard_from(agent, at);
  window_.answered(attempt);
  waiting_.leave(slab_, slot);
  if (transaction.attempt == 0) --first_attempts_;

  const bool last = attempt == transaction.attempt;
  const Duration trip = at - (last ? transaction.last_sent : transaction.first_sent);
  // What was answered before its sender looked at the clock again took nobody knows how long.
  if ((last || attempt == 0) && trip >= Duration::zero()) {
    agent.round_trip.sample(trip);
    all_.sample_of_many(trip);
    const auto micros =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(trip).count());
    ++statistics_.latency[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(micros)),
                                                TransactionStatistics::latency_buckets - 1)];
    statistics_.latency_sum += trip;
  }
  if ((header.status & mad::status::busy) != 0 &&
      transaction.times_busy + 1U < TransactionTid::most_attempts) {
    ++statistics_.busy;
    const unsigned times = transaction.times_busy++;
    transaction.stage = Stage::Busy;
    // Past its first attempt, so that the window goes to others.
    transaction.attempt = std::max<std::uint8_t>(transaction.attempt, 1);
    waiting_.enter(slab_, slot, std::min(options_.least_timeout * (1 << times), options_.timeout), now);
    make_ready(transaction.agent);
    return;
  }
  ++statistics_.answered;
  complete(slot, header.status == mad::status::ok ? Outcome::Answered : Outcome::Refused, header.status,
           &packet, at, now);
}

void TransactionEngine::Impl::heard_from(Agent& agent, Instant at) {
  agent.unanswered = 0;
  agent.failed_attempts = 0;
  agent.probations = 0;
  agent.last_answer = at;
}

void TransactionEngine::Impl::expire(Slot slot, Instant now) {
  waiting_.leave(slab_, slot);
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

void TransactionEngine::Impl::forgive(AgentKey key) {
  const std::uint32_t index = agents_.find(key);
  if (index == no_agent) return;
  Agent& agent = agents_[index];
  agent.probations = 0;
  agent.unanswered = 0;
  agent.failed_attempts = 0;
  make_ready(index);
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

void TransactionEngine::Impl::doom(Slot slot, Outcome outcome) {
  Transaction& transaction = slab_[slot];
  transaction.stage = Stage::Doomed;
  transaction.doom = outcome;
  doomed_.push_back(slab_, slot);
  ++doomed_count_;
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
        waiting_.leave(slab_, slot);
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

}  // namespace heddle::transport
