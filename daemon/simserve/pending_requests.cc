#include "simserve/pending_requests.h"

#include "mad/header.h"

namespace heddle::simserve {
namespace {

/// The upper 16 bits of the TID are the fabric's.
std::uint64_t key_of(const PacketMessage& message) {
  std::uint64_t key = message.mad[1];  // an answer has its request's class
  for (std::size_t i = 10; i < 16; ++i) key = key << 8U | message.mad[i];
  return key;
}

/// Of all but the transaction: requests of one content ask the same of the same agent (FNV-1a).
std::uint64_t content_of(const PacketMessage& message) {
  constexpr std::size_t tid_begin = 8;
  constexpr std::size_t tid_end = 16;
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ message.dlid;
  for (std::size_t i = 0; i < message.mad.size(); ++i) {
    if (i < tid_begin || i >= tid_end) hash = (hash ^ message.mad[i]) * 0x100000001b3ULL;
  }
  return hash;
}

bool is_answer(mad::Method method) { return mad::is_response(method) || method == mad::Method::TrapRepress; }

/// A trap too: OpenSM has four requests under way, and one that is never given back is one less for good.
bool awaits_answer(mad::Method method) { return !is_answer(method) && method != mad::Method::Send; }

bool is_for_agents(const PacketMessage& message) {
  const auto mgmt_class = static_cast<mad::MgmtClass>(message.mad[1]);
  return mgmt_class == mad::MgmtClass::SubnLid || mgmt_class == mad::MgmtClass::SubnDirected ||
         mgmt_class == mad::MgmtClass::Perf;
}

}  // namespace

void PendingRequests::enqueue(std::uint64_t key, Request& request, TimePoint now) {
  request.serial = next_serial_++;
  if (is_for_agents(request.message)) {
    to_agents_.push_back({now + agent_timeout, key, request.serial});
  } else {
    to_programs_.push_back({now + program_timeout, key, request.serial});
  }
}

void PendingRequests::sent(const PacketMessage& request, TimePoint now) {
  if (!awaits_answer(static_cast<mad::Method>(request.mad[3]))) return;
  const std::uint64_t key = key_of(request);
  forget(key);
  if (requests_.size() >= capacity) return;
  Request& kept = requests_[key];
  kept.message = request;
  kept.content = content_of(request);
  kept.attempts_left = is_for_agents(request) ? agent_attempts - 1 : 0;
  note_repetition(key, kept);
  if (is_just_answered(kept.content, now)) kept.attempts_left = 0;
  enqueue(key, kept, now);
}

void PendingRequests::note_repetition(std::uint64_t key, Request& request) {
  const auto [latest, is_first] = by_content_.try_emplace(request.content, key);
  if (is_first) return;
  const auto before = requests_.find(latest->second);
  if (before != requests_.end()) {
    request.attempts_left = before->second.attempts_left = 0;
    const bool is_set = static_cast<mad::Method>(request.message.mad[3]) == mad::Method::Set;
    repeats_by_itself_ = repeats_by_itself_ || (is_set && key == before->first + 1);
  }
  latest->second = key;
}

bool PendingRequests::is_just_answered(std::uint64_t content, TimePoint now) {
  while (!answered_order_.empty() && answered_order_.front().first + answer_way < now) {
    const auto [at, old] = answered_order_.front();
    answered_order_.pop_front();
    if (const auto found = answered_sets_.find(old); found != answered_sets_.end() && found->second == at)
      answered_sets_.erase(found);
  }
  return answered_sets_.contains(content);
}

void PendingRequests::forget(std::uint64_t key) {
  const auto found = requests_.find(key);
  if (found == requests_.end()) return;
  const auto latest = by_content_.find(found->second.content);
  if (latest != by_content_.end() && latest->second == key) by_content_.erase(latest);
  requests_.erase(found);
}

void PendingRequests::answered(const PacketMessage& answer, TimePoint now) {
  if (!is_answer(static_cast<mad::Method>(answer.mad[3]))) return;
  const std::uint64_t key = key_of(answer);
  const auto found = requests_.find(key);
  if (found == requests_.end()) return;
  if (static_cast<mad::Method>(found->second.message.mad[3]) == mad::Method::Set) {
    answered_sets_[found->second.content] = now;
    answered_order_.emplace_back(now, found->second.content);
  }
  forget(key);
}

PendingRequests::Due PendingRequests::due(TimePoint now) {
  Due due;
  for (std::deque<Entry>* queue : {&to_agents_, &to_programs_}) {
    while (!queue->empty()) {
      const Entry entry = queue->front();
      const auto found = requests_.find(entry.key);
      const bool current = found != requests_.end() && found->second.serial == entry.serial;
      if (current && now < entry.at) break;
      queue->pop_front();
      if (!current) continue;
      if (found->second.attempts_left-- > 0 && !repeats_by_itself_) {
        due.again.push_back(found->second.message);
        enqueue(entry.key, found->second, now);
      } else {
        due.lost.push_back(unanswered(found->second.message));
        forget(entry.key);
      }
    }
  }
  return due;
}

}  // namespace heddle::simserve
