/// Brings the forwarding tables of switches from what they hold to what they are to hold, in stages where the
/// order matters: no mixture of old and new entries that ever stands in the fabric sends a packet in circles
/// (routing/update_plan.h). Writes the blocks that differ, has each confirmed by its answer, and begins a
/// stage when all switches have confirmed the one before.
///
/// An entry that takes a way from a switch waits until no packet can be on its way there any more
/// (routing/packet_life.h), where the LID carries anything; all others go on meanwhile. While it only waits,
/// a run may be overtaken: the tables are safe to leave as they stand.
///
/// A switch that does not confirm holds up only the LIDs of the blocks that it did not confirm: their later
/// stages are left out. What is not known of a switch's table is read first, and a block that cannot be read
/// is not written. A switch that the survey has not, and that links lead to all the same (mute_nodes.h),
/// holds what it confirmed last.
///
/// A Set that was given up, or repeated before its answer came, may arrive late: the block is not changed
/// again before that is as old as a packet can be. Nor are blocks that were found: whoever wrote them before
/// may have been killed with such Sets under way. And until the switch has said which entries it holds, LIDs
/// for which that makes a difference change nowhere: there is no order that suits both. What a second answer
/// says has come late all the same, as where the fabric delivers a Set twice, is read before the next plan.
///
/// A state machine over the transaction engine, on its thread. One run at a time. Unicast only:
/// multicast tables are MulticastWriter's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "authority/own/batch.h"
#include "authority/own/routes.h"
#include "mad/survey.h"
#include "routing/kept_ways.h"
#include "routing/lid_rounds.h"
#include "routing/packet_life.h"
#include "routing/recent_entries.h"
#include "routing/safe_update.h"
#include "routing/update_plan.h"

namespace heddle::provision {

enum class WriteOrder : std::uint8_t {
  Staged,  ///< one stage after the other; also where one stage is enough
  Any,     ///< nothing was forwarded before, or the tables follow no order in which it would be safe
};

/// What becomes of stages that packets under way are in the way of.
enum class Waits : std::uint8_t {
  Out,    ///< the run goes on when they are gone
  Leave,  ///< it ends without them
};

struct WriteReport {
  struct Failure {
    NodeIndex node;
    const char* what = "";
    transport::Outcome outcome = transport::Outcome::Answered;
    std::uint16_t status = 0;
  };
  std::vector<Failure> failures;
  WriteOrder order = WriteOrder::Staged;
  std::size_t stages = 0;
  std::size_t blocks_read = 0;
  std::size_t blocks_written = 0;
  bool stopped = false;    ///< the engine was stopped
  bool postponed = false;  ///< what must wait for packets under way is left to another run
  bool left_out = false;   ///< LIDs that lead over a switch that is mute or unsettled, or out of a dead port

  [[nodiscard]] bool confirmed() const { return failures.empty() && !stopped && !postponed && !left_out; }
};

class TableWriter {
 public:
  using Done = std::function<void(const WriteReport&, Instant now)>;

  TableWriter(transport::TransactionEngine& engine, std::uint64_t m_key)
      : m_key_{m_key},
        batch_{engine, [this](std::uint64_t tag) { return way_of(tag); },
               [this](std::uint64_t tag) { return !is_writing_ || !leads_astray(block_of(tag)); }} {}

  /// How long packets live; from the next write on.
  void set_packet_life(FabricClock::duration life) { under_way_.set_life(life); }

  /// From here on, LIDs of which a write would lead out of this port, which is not Active, or to it are left
  /// as they are. Sets that still wait for their turn are not sent; nor, in this run, are others of either
  /// switch of its cable that lead there by entries that stand: it may have been restarted, and hold none.
  void keep_off(const PortRef& port) {
    inactive_.insert(port);
    fallen_.insert(port);
  }
  void use_again(const PortRef& port) {
    inactive_.erase(port);
    fallen_.erase(port);
  }
  /// Before a run that is planned by a new survey.
  void keep_off_only(const std::unordered_set<PortRef>& ports) {
    inactive_ = ports;
    fallen_.clear();
  }
  /// Before the next write plans anything, it gives the turns that packets make by what the switches hold,
  /// and takes the routes that it is answered: of the same switches.
  using Ask = std::function<std::shared_ptr<const Routes>(const std::vector<routing::KeptTurn>&)>;
  void ask(Ask ask) { ask_ = std::move(ask); }
  /// Survey and routes are of the same fabric. Switches that the survey has not are left out.
  void write(std::shared_ptr<const Survey> survey, std::shared_ptr<const Routes> routes, Waits waits,
             Instant now, Done done);
  /// The run waits for no packets any more: it ends, as postponed, when nothing of it is on its way.
  void overtake(Instant now);
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const { return resume_at_; }

  /// Until then a packet may be where an entry led that is gone.
  [[nodiscard]] Instant packets_gone() const { return under_way_.gone(); }

  /// Reads blocks that switches have confirmed, `count` of them, those after the last ones read; what differs
  /// counts as what the switch holds, until the next write. Not during a run. `done` is given how many did.
  using Verified = std::function<void(std::size_t differing, Instant now)>;
  void verify(std::shared_ptr<const Survey> survey, std::size_t count, Instant now, Verified done);
  /// Blocks that verify() may read.
  [[nodiscard]] std::size_t known_blocks() const;
  [[nodiscard]] std::size_t known_switches() const { return known_.size(); }
  /// Switches that are in no tables any more and that something is kept of: one that calls itself another one
  /// each time would have the daemon keep a table for each. Who comes back beyond that is read anew.
  static constexpr std::size_t most_gone = 256;
  /// What whoever managed the fabric before may have done since a switch was restarted.
  enum class Others : std::uint8_t { WroteNothing, MayHaveWritten };
  /// The switch was restarted: what it held is gone. It is read where blocks may have been written to it:
  /// that may have been after the restart. Sets of before that nobody confirmed may arrive all the same.
  void forget(NodeGuid sw, Others others);
  /// The switch said once more that its block holds this, since a copy of a Set came late: what it holds is
  /// read by the next write. False where that is what it is known to hold.
  bool doubt(NodeGuid sw, std::size_t block, std::span<const std::uint8_t> said);
  /// That the last run left as they are (routing/safe_update.h).
  [[nodiscard]] const std::vector<Lid>& staying() const { return staying_; }
  /// Whether some switch holds, or may hold, an entry that leaves by one of these ports. Port numbers of
  /// switches that were never written count as not in use.
  [[nodiscard]] bool may_use(const PortRef& port) const;
  /// What these switches have confirmed; no path where nobody knows.
  [[nodiscard]] routing::ForwardingTables held(const routing::SwitchGraph& graph, Lid top) const;
  /// LIDs that the switch has confirmed to forward through this port, in order; none for a switch that was
  /// never written.
  [[nodiscard]] std::optional<std::vector<Lid>> lids_through(const PortRef& port) const;

 private:
  /// Sets that may arrive, by block.
  struct Late {
    std::vector<Instant> settled_at;  ///< no earlier one can arrive after this
    /// Of blocks that are not known: what those that nobody confirmed would have it hold, besides `bytes`.
    std::map<std::size_t, std::vector<std::vector<std::uint8_t>>> unconfirmed;
  };
  struct Table : Late {
    std::vector<std::uint8_t> bytes;
    std::vector<bool> known;       ///< by block
    std::vector<bool> silent;      ///< likewise: could not be read in this run
    std::vector<bool> read_early;  ///< likewise: before it was settled, so that it may be another one by now
  };
  struct BlockOf {
    std::uint32_t sw = 0;
    std::uint16_t block = 0;
  };

  void forget_gone();
  void read(Instant now);
  [[nodiscard]] bool is_to_be_read_again(const Table& table, std::size_t block, Instant now) const;
  void find_differing();
  void ask_for_turns();
  void plan(Instant now);
  void next_stage(Instant now);
  [[nodiscard]] std::vector<routing::BlockRef> rest() const;
  void write_rest(Instant now);
  void write_blocks(std::vector<routing::BlockRef> blocks, std::vector<Lid> lids, Instant now);
  void confirm(std::uint64_t tag, const transport::Completion& completion);
  [[nodiscard]] bool is_silent(const routing::BlockRef& at) const;
  void take(BlockOf at, const transport::Completion& completion);
  void plan_stages(Instant now);
  void take_dead_entries_first(Instant now);
  void keep_rounds(const std::vector<Lid>& following, Instant now);
  void let_stay(const routing::SafeUpdate& update);
  void leave_out(std::vector<routing::EntryWrite>& stage);
  [[nodiscard]] routing::UpdateOrder update_order() const;
  void keep_ways_that_work(routing::Keep which);
  [[nodiscard]] routing::SafeUpdate safe_update();
  void leave_out_doubtful();
  [[nodiscard]] std::size_t readable_lids(const SurveyNode& node);
  [[nodiscard]] bool is_unknown_behind(LinkEnd end) const;
  [[nodiscard]] bool somebody_is_unknown() const;
  [[nodiscard]] PortNum standing(routing::SwitchIndex sw, std::size_t lid) const;
  [[nodiscard]] bool is_dead(routing::SwitchIndex sw, std::size_t lid) const;
  [[nodiscard]] std::vector<routing::SwitchIndex> way_to_the_unknown(routing::SwitchIndex sw, Lid lid) const;
  [[nodiscard]] std::vector<char> lids_that_are_known() const;
  void keep_lids_of_the_unknown();
  [[nodiscard]] bool is_unheard(LinkIndex link) const;
  [[nodiscard]] bool turns_back_up(routing::SwitchIndex from, routing::SwitchIndex over, PortNum out) const;
  void leave_out_turns_of_the_unheard();
  void leave_out_turns_from_the_unheard(routing::SwitchIndex unheard, routing::SwitchIndex sw);
  void leave_out_turns_to_the_unheard(routing::SwitchIndex sw, const routing::Hop& to);
  void leave_out_circles_with_strangers();
  [[nodiscard]] bool carries_packets(LinkIndex link) const;
  [[nodiscard]] bool is_mute_behind(routing::SwitchIndex sw, PortNum out) const;
  [[nodiscard]] bool leads_to_the_unknown(routing::SwitchIndex sw, PortNum out) const;
  [[nodiscard]] std::vector<std::uint32_t> onward() const;
  [[nodiscard]] std::vector<std::uint32_t> beside_the_unknown(const std::vector<std::uint32_t>& onward) const;
  [[nodiscard]] bool unknown_pass_packets(std::span<const std::uint32_t> beside,
                                          const std::vector<char>& is_known,
                                          const std::vector<std::uint32_t>& onward) const;
  [[nodiscard]] bool may_lead_there(std::uint32_t s, Lid lid, const std::vector<std::uint32_t>& onward) const;
  void keep(std::uint32_t s, Lid lid, Routes& kept);
  void keep_way_on(std::uint32_t from, Lid lid, const std::vector<std::uint32_t>& onward, Routes& kept);
  void keep_all_that_may_lead_there(Routes& kept);
  [[nodiscard]] bool is_inactive(const routing::EntryWrite& write) const;
  [[nodiscard]] bool has_fallen(const routing::EntryWrite& write) const;
  [[nodiscard]] bool leads_astray(BlockOf at) const;
  void leave_out_dead_ports(BlockOf at, std::span<std::uint8_t> entries) const;
  [[nodiscard]] bool is_mute(std::uint32_t sw) const;
  [[nodiscard]] Instant settled_at(const routing::EntryWrite& write) const;
  [[nodiscard]] Instant may_return(const routing::EntryWrite& write) const;
  [[nodiscard]] std::optional<routing::Hop> hop(routing::SwitchIndex sw, PortNum port) const;
  [[nodiscard]] bool leads_there(routing::SwitchIndex sw, Lid lid) const;
  void note_replaced(BlockOf at, std::span<const std::uint8_t> content, Instant asked, Instant now);
  [[nodiscard]] Instant earliest(std::span<const routing::EntryWrite> stage) const;
  void write_stage(const std::vector<routing::EntryWrite>& stage, Instant now);
  [[nodiscard]] bool must_wait(const routing::EntryWrite& write, Instant now) const;
  void postpone(std::vector<routing::EntryWrite>& stage, Instant now);
  [[nodiscard]] bool is_any_to_be_read_again(Instant now) const;
  void resume_or_finish(Instant now);
  [[nodiscard]] bool carries(Lid lid) const { return !is_idle_[lid.raw()]; }
  [[nodiscard]] std::optional<Batch::Way> way_of(std::uint64_t tag) const;
  void finish(Instant now);
  [[nodiscard]] Step block_step(mad::Method method, BlockOf at) const;
  [[nodiscard]] Step block_step(mad::Method method, const SurveyNode& node, std::size_t block,
                                std::uint64_t tag) const;
  [[nodiscard]] const SurveyNode* node_of(std::uint32_t sw) const;
  [[nodiscard]] static std::uint64_t tag_of(BlockOf at) { return (std::uint64_t{at.sw} << 16U) | at.block; }
  [[nodiscard]] static BlockOf block_of(std::uint64_t tag) {
    return {static_cast<std::uint32_t>(tag >> 16U), static_cast<std::uint16_t>(tag)};
  }

  std::uint64_t m_key_;
  Batch batch_;
  std::map<NodeGuid, Table> known_;  ///< what switches confirmed
  /// Blocks that are to be read though they are known.
  std::set<std::pair<NodeGuid, std::size_t>> doubted_;
  std::map<NodeGuid, Late> late_;  ///< of those that were restarted, and not written since
  std::set<NodeGuid> empty_;       ///< never written; of those that have a top since, it means nothing
  std::optional<Instant> began_;   ///< the first write

  // Of the run.
  std::shared_ptr<const Survey> survey_;
  std::shared_ptr<const Routes> routes_;
  Done done_;
  Ask ask_;
  std::weak_ptr<const routing::UpDownRouter> asked_for_;  ///< the order that was last asked about
  WriteReport report_;
  std::vector<NodeIndex> switches_;    ///< by SwitchIndex of the tables
  std::vector<Table*> tables_;         ///< likewise, in known_; null where the survey has no such switch
  routing::ForwardingTables working_;  ///< as they stand when the stage under way is confirmed
  std::vector<routing::BlockRef> differing_;  ///< that are not known to hold what is wanted, at the start
  bool stands_ = false;                       ///< some table is known to hold something
  routing::UpdatePlan plan_;
  std::size_t stage_ = 0;
  bool rest_is_written_ = false;
  bool is_writing_ = false;  ///< Sets of a stage, or of the rest, are under way or wait for their turn
  std::vector<char> held_;   ///< by block number: LIDs whose later stages are left out
  std::vector<Lid> kept_;    ///< with entries that stay though the order has none, or others
  /// Those of them that may lead to who is unknown.
  std::vector<Lid> kept_beside_the_unknown_;
  std::vector<Lid> staying_;   ///< ascending
  std::vector<bool> is_idle_;  ///< by LID: carries nothing
  Waits waits_ = Waits::Leave;
  routing::PacketsUnderWay under_way_;
  routing::RecentEntries recent_;
  Instant stage_began_{};    ///< its Sets were sent then, or later
  std::set<Lid> following_;  ///< that wait for packets of other LIDs, also where a plan was not carried out
  std::unordered_set<PortRef> inactive_;
  std::unordered_set<PortRef> fallen_;  ///< of these, those found so since keep_off_only()
  /// By LID: one of its entries would lead out of such a port, or it follows such.
  std::vector<char> left_out_;
  bool is_round_incomplete_ = false;  ///< some LID of the plan was left out or held
  /// Stages that must wait, and all later ones of their LIDs.
  std::vector<std::vector<routing::EntryWrite>> later_;
  std::vector<char> is_later_;  ///< by LID
  std::optional<Instant> resume_at_;

  // Of verify().
  std::pair<NodeGuid, std::size_t> next_to_verify_{};
  std::vector<std::pair<NodeGuid, std::size_t>> verified_;
  std::size_t wrong_ = 0;
};

}  // namespace heddle::provision
