/// Which tables a plan gives to a port, cut into the blocks in which OpenSM sends them. Points into the plan
/// that it was made from. OpenSM's routing thread.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "plan/plan.h"
#include "qos/programming.h"

namespace heddle::plugin {

inline constexpr std::size_t block_entries = qos::entries_per_block;

/// OpenSM counts the four blocks of a port so.
enum class ArbBlock : unsigned { LowFirst = 0, LowSecond = 1, HighFirst = 2, HighSecond = 3 };

class QosBook {
 public:
  QosBook() = default;
  /// The plan's part on QoS must outlive the book.
  explicit QosBook(const plan::Qos& qos);

  /// Null where the plan leaves the port to OpenSM's options.
  [[nodiscard]] const plan::QosTables* tables(const PortRef& port) const;
  [[nodiscard]] bool has_sl2vl() const { return has_sl2vl_; }
  [[nodiscard]] bool empty() const { return everywhere_ == nullptr && by_port_.empty(); }

 private:
  const plan::QosTables* everywhere_ = nullptr;
  std::unordered_map<PortRef, const plan::QosTables*> by_port_;
  bool has_sl2vl_ = false;
};

/// All 32 entries, those beyond the table's end with weight 0: OpenSM sends what the callback leaves, and
/// leaves zeroes where it thinks that a block has no entries (facts/opensm.md).
[[nodiscard]] std::array<qos::ArbEntry, block_entries> block_of(const qos::VlArbitration& tables,
                                                                ArbBlock block);

}  // namespace heddle::plugin
