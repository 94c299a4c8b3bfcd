/// Keeps multicast groups off links that are about to go: reads the multicast forwarding tables that
/// switches hold, reroutes what leads over other links than unicast may use, writes the blocks that differ
/// and has each confirmed.
///
/// Old and new trees together can have a circle, in which packets would multiply. So everything that the new
/// tree has not is taken away first, and what it has in addition is written when all switches have confirmed
/// that: whatever mixture stands in between is part of one of the two trees. Members may miss packets for as
/// long as that takes.
///
/// Groups of a block that some switch did not tell or confirm are left as they are. A switch whose forwarding
/// table has no top was just switched on and holds nothing.
///
/// A state machine over the transaction engine, on its thread. One run at a time. Without an order of the
/// switches it does nothing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "authority/own/batch.h"
#include "authority/own/multicast_groups.h"
#include "authority/own/table_writer.h"
#include "mad/survey.h"

namespace heddle::provision {

class MulticastWriter {
 public:
  using Done = std::function<void(const WriteReport&, Instant now)>;

  MulticastWriter(transport::TransactionEngine& engine, std::uint64_t m_key)
      : m_key_{m_key}, batch_{engine} {}

  /// Survey and routes are of the same fabric.
  void write(std::shared_ptr<const Survey> survey, std::shared_ptr<const Routes> routes, Instant now,
             Done done);
  /// The switch was restarted: what it held is gone.
  void forget(NodeGuid sw) {
    known_.erase(sw);
    groups_.unsettle();
  }
  /// Whether the switch sends, or may send, packets of some group out of this port.
  [[nodiscard]] bool may_use(const PortRef& port) const;
  [[nodiscard]] std::size_t groups() const { return groups_.size(); }
  /// From the next write on (MulticastGroups::set_joined).
  void set_joined(std::map<Lid, MulticastGroups::Joined> joined) { groups_.set_joined(std::move(joined)); }
  /// The last group that has an entry; no_lid if there is none.
  [[nodiscard]] Lid top() const { return groups_.top(); }

 private:
  struct Switch {
    MulticastTable table;
    std::set<MftBlockRef> unknown;  ///< blocks that were not read, or written and not confirmed
    std::set<MftBlockRef> unread;   ///< of them, those that were never read
  };
  struct BlockOf {
    std::uint32_t sw = 0;
    MftBlockRef at;
  };
  static Switch met(const SurveyNode& node);

  void forget_gone();
  void read(Instant now);
  void plan(Instant now);
  /// Everything from what stands to `target`.
  void write_to(std::vector<MulticastTable> target, Batch::Done next, Instant now);
  void confirm(std::uint64_t tag, const transport::Completion& completion);
  void finish(Instant now);
  [[nodiscard]] Step step(mad::Method method, BlockOf block) const;
  [[nodiscard]] routing::SwitchIndex index(std::uint32_t sw) const { return routing::SwitchIndex{sw}; }
  [[nodiscard]] static std::uint64_t tag_of(BlockOf block) {
    return std::uint64_t{block.sw} << 16U | std::uint64_t{block.at.position} << 9U | block.at.number;
  }
  [[nodiscard]] static BlockOf block_of_tag(std::uint64_t tag) {
    return {static_cast<std::uint32_t>(tag >> 16U),
            {static_cast<std::uint16_t>(tag & 0x1ffU), static_cast<std::uint8_t>(tag >> 9U & 0xfU)}};
  }

  std::uint64_t m_key_;
  Batch batch_;
  std::unordered_map<NodeGuid, Switch> known_;
  MulticastGroups groups_;
  std::shared_ptr<const Routes> settled_by_;  ///< routes that settled groups have their trees by

  // Of the run.
  std::shared_ptr<const Survey> survey_;
  std::shared_ptr<const Routes> routes_;
  Done done_;
  WriteReport report_;
  std::vector<NodeIndex> nodes_;   ///< by SwitchIndex; no_node where the survey has no such switch
  std::vector<Switch*> switches_;  ///< likewise, in known_
  std::set<std::uint16_t> left_;   ///< numbers of blocks whose groups stay as they are
  std::vector<MulticastTable> wanted_;
};

}  // namespace heddle::provision
