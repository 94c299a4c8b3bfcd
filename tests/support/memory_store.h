/// A store as etcd is one, in memory, on a clock of the test. It may be cut off, with what was asked for done
/// or not, or forget its leases.
#pragma once

#include <chrono>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "shared/lease.h"
#include "shared/store.h"

namespace heddle::shared {

class MemoryStore final : public Store {
 public:
  /// How a call goes wrong.
  enum class Cut { None, Before, After };
  Cut cut = Cut::None;
  int cut_calls = std::numeric_limits<int>::max();  ///< of transactions; then none is

  static BootTime now() { return time; }
  inline static BootTime time{std::chrono::hours{1}};

  Result<Committed> commit(const Transaction& transaction) override {
    if (cut != Cut::None && cut_calls-- == 0) cut = Cut::None;
    if (cut == Cut::Before) return away();
    expire();
    Committed committed;
    committed.done = !transaction.guard || created(transaction.guard->key) == transaction.guard->created;
    if (committed.done) {
      const Revision next = revision_ + 1;
      for (const Operation& operation : transaction.operations) carry_out(operation, next, committed);
    }
    committed.revision = revision_;
    if (cut == Cut::After) return away();
    return committed;
  }
  Result<LeaseId> grant(std::chrono::seconds length) override {
    if (cut != Cut::None) return away();
    leases_[++last_lease_] = {length, time + length};
    return last_lease_;
  }
  Result<void> renew(LeaseId lease) override {
    if (cut != Cut::None) return away();
    expire();
    const auto found = leases_.find(lease);
    if (found == leases_.end()) return fail(ErrorCode::NotFound, "the lease has ended");
    found->second.second = time + found->second.first;
    return {};
  }
  Result<void> revoke(LeaseId lease) override {
    if (cut != Cut::None) return away();
    end(lease);
    return {};
  }

  [[nodiscard]] const std::map<std::string, KeyValue>& all() const { return keys_; }

 private:
  static tl::unexpected<Error> away() { return fail(ErrorCode::Unreachable, "no answer in time"); }

  [[nodiscard]] Revision created(const std::string& key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? 0 : found->second.created;
  }
  void carry_out(const Operation& operation, Revision next, Committed& committed) {
    const auto from = keys_.lower_bound(operation.key);
    const auto to =
        operation.end.empty() ? keys_.upper_bound(operation.key) : keys_.lower_bound(operation.end);
    if (operation.what == Operation::What::Put) {
      const Revision before = created(operation.key);
      keys_[operation.key] = {operation.key, operation.value, before == 0 ? next : before, next};
      leased_[operation.key] = operation.lease;
      revision_ = next;
    } else if (operation.what == Operation::What::Delete) {
      if (from != to) revision_ = next;
      keys_.erase(from, to);
    } else {
      auto& read = committed.read.emplace_back();
      for (auto at = from; at != to; ++at)
        if (at->second.modified >= operation.since) read.push_back(at->second);
    }
  }
  void end(LeaseId lease) {
    leases_.erase(lease);
    const auto erased = std::erase_if(keys_, [&](const auto& each) { return leased_[each.first] == lease; });
    if (erased > 0) ++revision_;
  }
  void expire() {
    const auto leases = leases_;
    for (const auto& [lease, length] : leases)
      if (length.second <= time) end(lease);
  }

  std::map<std::string, KeyValue> keys_;
  std::map<std::string, LeaseId> leased_;
  std::map<LeaseId, std::pair<std::chrono::seconds, BootTime>> leases_;
  LeaseId last_lease_ = 0;
  Revision revision_ = 1;
};

}  // namespace heddle::shared
