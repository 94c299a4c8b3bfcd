// In which order a TableWriter writes what differs, and what waits for packets under way.

#include <algorithm>
#include <cstring>
#include <utility>

#include "authority/own/table_writer.h"
#include "routing/dead_entries.h"

namespace heddle::provision {
namespace {

std::size_t block_of_lid(Lid lid) { return lid.raw() / routing::lids_per_block; }

}  // namespace

bool TableWriter::is_silent(const routing::BlockRef& at) const {
  return tables_[at.sw.raw()] != nullptr && tables_[at.sw.raw()]->silent[at.block];
}

/// Precondition: routes_->order.
routing::UpdateOrder TableWriter::update_order() const {
  const routing::UpDownRouter& order = *routes_->order;
  return {order.graph(), order.ranks(),         order.mends(),
          &routes_->up,  &routes_->may_be_used, &routes_->may_stay};
}

/// LIDs for which a block that cannot be read may hold one entry or another.
void TableWriter::leave_out_doubtful() {
  for (const Table* const table : tables_) {
    if (table == nullptr) continue;
    for (const auto& [block, contents] : table->unconfirmed) {
      if (block >= table->silent.size() || !table->silent[block]) continue;
      for (std::size_t i = 0; i < routing::lids_per_block; ++i) {
        const std::size_t lid = block * routing::lids_per_block + i;
        if (lid >= left_out_.size()) break;
        const bool same = std::all_of(contents.begin(), contents.end(),
                                      [&](const auto& content) { return content[i] == table->bytes[lid]; });
        if (!same) left_out_[lid] = 1;
      }
    }
  }
}

/// What stands, as far as it is known, and the blocks of it that are not as they are to be.
void TableWriter::find_differing() {
  const routing::ForwardingTables& wanted = routes_->tables;
  working_ = wanted;
  differing_.clear();
  stands_ = false;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    if (tables_[s] == nullptr) continue;
    const Table& table = *tables_[s];
    const auto row = working_.row(routing::SwitchIndex{s});
    for (std::size_t b = 0; b < wanted.blocks(); ++b) {
      std::uint8_t* const block = &row[b * routing::lids_per_block];
      if (!table.known[b] && !table.silent[b]) {
        std::fill_n(block, routing::lids_per_block, no_path.raw());
      } else {
        stands_ = true;
        if (std::memcmp(block, &table.bytes[b * routing::lids_per_block], routing::lids_per_block) == 0)
          continue;
        std::copy_n(&table.bytes[b * routing::lids_per_block], routing::lids_per_block, block);
      }
      differing_.push_back({routing::SwitchIndex{s}, static_cast<std::uint16_t>(b)});
    }
  }
}

/// Tables that were found, or that stand since before the order was made anew.
void TableWriter::ask_for_turns() {
  const Ask ask = std::exchange(ask_, nullptr);
  if (!ask || !routes_->order) return;
  if (report_.blocks_read == 0 && asked_for_.lock() == routes_->order) return;
  find_differing();
  const auto turns = routing::standing_turns(routes_->order->graph(), routes_->order->ranks(), working_);
  routes_ = ask(turns);
  asked_for_ = routes_->order;
}

void TableWriter::plan(Instant now) {
  ask_for_turns();
  keep_lids_of_the_unknown();
  const routing::ForwardingTables& wanted = routes_->tables;
  find_differing();
  plan_ = {};
  staying_.clear();
  stage_ = 0;
  rest_is_written_ = false;
  later_.clear();
  held_.assign(wanted.blocks(), 0);
  is_later_.assign(wanted.stride(), 0);
  is_idle_.assign(wanted.stride(), false);
  left_out_.assign(wanted.stride(), 0);
  leave_out_doubtful();
  leave_out_turns_of_the_unheard();
  is_round_incomplete_ = false;
  report_.order = WriteOrder::Any;
  if (stands_ && routes_->order) plan_stages(now);
  next_stage(now);
}

void TableWriter::plan_stages(Instant now) {
  recent_.forget_until(now - under_way_.life());
  const routing::SwitchGraph& graph = routes_->order->graph();
  routing::SafeUpdate update = safe_update();
  report_.order = WriteOrder::Staged;
  plan_ = std::move(update.plan);
  report_.stages = plan_.stages.size();
  keep_rounds(update.following, now);
  take_dead_entries_first(now);
  // Tables of somebody else, or of ours from before it began anew, may follow no order that is known. But
  // where a switch does not say what it holds, it is only our own picture that is wrong.
  for (const Lid lid : update.unordered) {
    for (std::uint32_t s = 0; s < switches_.size(); ++s) {
      const auto block = static_cast<std::uint16_t>(block_of_lid(lid));
      if (is_silent({routing::SwitchIndex{s}, block})) held_[block] = 1;
    }
  }
  leave_out_circles_with_strangers();
  if (!routes_->idle_plane) return;
  for (const routing::Target& target : graph.targets()) {
    // A switch has one LID, which whoever manages it goes on to use.
    if (target.lid_count() < routes_->planes) continue;
    for (unsigned i = *routes_->idle_plane; i < target.lid_count(); i += routes_->planes) {
      const std::size_t lid = std::size_t{target.base.raw()} + i;
      if (lid < is_idle_.size()) is_idle_[lid] = true;
    }
  }
}

void TableWriter::take_dead_entries_first(Instant now) {
  const auto waits = [&](const routing::EntryWrite& write) { return must_wait(write, now); };
  auto dead =
      routing::dead_entries(update_order(), working_, routes_->tables, differing_, plan_.stages, waits);
  // One that must wait for an earlier Set of its block is not to hold up others of its LID.
  const auto unsettled = std::stable_partition(dead.begin(), dead.end(),
                                               [&](const auto& write) { return settled_at(write) <= now; });
  std::vector<routing::EntryWrite> later(unsettled, dead.end());
  dead.erase(unsettled, dead.end());
  for (auto* const stage : {&later, &dead}) {
    if (!stage->empty()) plan_.stages.insert(plan_.stages.begin(), std::move(*stage));
  }
}

/// A run that leaves later rounds to another one, or is overtaken, leaves packets to it that no table shows.
void TableWriter::keep_rounds(const std::vector<Lid>& following, Instant now) {
  if (now >= under_way_.gone()) following_.clear();
  std::set<Lid> first = following_;
  for (auto& stage : plan_.stages) {
    for (routing::EntryWrite& write : stage) {
      if (first.contains(write.lid)) write.change = routing::Change::Follows;
    }
    for (const routing::EntryWrite& write : stage) first.erase(write.lid);
  }
  following_.insert(following.begin(), following.end());
}

void TableWriter::next_stage(Instant now) {
  while (stage_ < plan_.stages.size()) {
    std::vector<routing::EntryWrite> stage = std::move(plan_.stages[stage_++]);
    // What it follows is still as it was.
    for (const routing::EntryWrite& write : stage) {
      if (write.change == routing::Change::Follows && is_round_incomplete_) left_out_[write.lid.raw()] = 1;
    }
    for (const routing::EntryWrite& write : stage) {
      const auto block = static_cast<std::uint16_t>(block_of_lid(write.lid));
      if (!is_silent({write.sw, block})) continue;
      held_[block] = 1;
      report_.left_out = true;
    }
    leave_out(stage);
    std::erase_if(stage,
                  [&](const routing::EntryWrite& write) { return node_of(write.sw.raw()) == nullptr; });
    postpone(stage, now);
    if (stage.empty()) continue;
    write_stage(stage, now);
    return;
  }
  if (!std::exchange(rest_is_written_, true)) {
    write_rest(now);
  } else {
    resume_or_finish(now);
  }
}

/// At this end or at the other: a sweep under way may have asked one of them only.
bool TableWriter::is_inactive(const routing::EntryWrite& write) const {
  if (inactive_.contains({routes_->tables.switches()[write.sw.raw()], write.port})) return true;
  const NodeIndex node = switches_[write.sw.raw()];
  if (node == no_node || write.port.raw() > survey_->fabric->node(node).port_count) return false;
  const auto peer = survey_->fabric->peer({node, write.port});
  return peer && inactive_.contains(survey_->fabric->ref(*peer));
}

/// Takes LIDs that are held, or would be led out of a port that is not Active, out of the stage and of all
/// later ones.
void TableWriter::leave_out(std::vector<routing::EntryWrite>& stage) {
  for (const routing::EntryWrite& write : stage) {
    if (!inactive_.empty() && is_inactive(write)) left_out_[write.lid.raw()] = 1;
    if (left_out_[write.lid.raw()] != 0) report_.left_out = true;
  }
  const auto left = std::erase_if(stage, [&](const routing::EntryWrite& write) {
    return left_out_[write.lid.raw()] != 0 || held_[block_of_lid(write.lid)] != 0;
  });
  if (left > 0) is_round_incomplete_ = true;
}

Instant TableWriter::settled_at(const routing::EntryWrite& write) const {
  const Table* const table = tables_[write.sw.raw()];
  return table == nullptr ? Instant{} : table->settled_at[block_of_lid(write.lid)];
}

std::optional<routing::Hop> TableWriter::hop(routing::SwitchIndex sw, PortNum port) const {
  for (const routing::Hop& hop : routes_->order->graph().hops(sw)) {
    if (hop.out == port) return hop;
  }
  return std::nullopt;
}

/// By the tables that stand.
bool TableWriter::leads_there(routing::SwitchIndex sw, Lid lid) const {
  for (std::size_t hops = 0; hops <= switches_.size(); ++hops) {
    const PortNum port = working_.port(sw, lid);
    if (port == no_path) return false;
    const auto next = hop(sw, port);
    if (!next || is_unheard(next->link)) return true;
    if (!routes_->up.contains(next->link)) return false;
    sw = next->peer;
  }
  return false;
}

void TableWriter::note_replaced(BlockOf at, std::span<const std::uint8_t> content, Instant asked,
                                Instant now) {
  // While a fabric comes up, nobody has sent anything.
  if (!routes_->order || !stands_) return;
  const Table& table = *tables_[at.sw];
  const auto switches = routes_->tables.switches();
  for (std::size_t i = 0; i < content.size(); ++i) {
    const std::size_t lid = std::size_t{at.block} * routing::lids_per_block + i;
    if (table.bytes[lid] == content[i]) continue;
    const Lid changed{static_cast<std::uint16_t>(lid)};
    const PortNum port{table.bytes[lid]};
    recent_.replaced(changed, switches[at.sw], port, asked, now);
    if (!routes_->order->mends().has_turns()) continue;
    if (const auto led = hop(routing::SwitchIndex{at.sw}, port))
      under_way_.replaced(changed, switches[at.sw], switches[led->peer.raw()], now);
  }
}

/// Packets that come by an entry that is gone would go back. Who has no way waits for none: a fault has
/// caught what comes there.
Instant TableWriter::may_return(const routing::EntryWrite& write) const {
  const auto next = routes_->order ? hop(write.sw, write.port) : std::nullopt;
  if (!next) return {};
  const auto switches = routes_->tables.switches();
  const Instant first =
      under_way_.may_return(write.lid, switches[write.sw.raw()], switches[next->peer.raw()]);
  return first == Instant{} || leads_there(write.sw, write.lid) ? first : Instant{};
}

/// No earlier than packets are gone that these entries take a way from, or send back, and Sets that would
/// undo them.
Instant TableWriter::earliest(std::span<const routing::EntryWrite> stage) const {
  Instant first = under_way_.earliest(stage);
  for (const routing::EntryWrite& write : stage)
    first = std::max({first, settled_at(write), may_return(write)});
  return first;
}

/// For packets that it would meet, or for an earlier Set of its block.
bool TableWriter::must_wait(const routing::EntryWrite& write, Instant now) const {
  const bool follows = write.change == routing::Change::Follows && !later_.empty();
  const bool meets_packets =
      carries(write.lid) && (follows || under_way_.earliest({&write, 1}) > now || may_return(write) > now);
  return meets_packets || settled_at(write) > now;
}

/// Takes what must wait, with all that belongs to its LID, out of the stage.
void TableWriter::postpone(std::vector<routing::EntryWrite>& stage, Instant now) {
  for (const routing::EntryWrite& write : stage)
    if (must_wait(write, now)) is_later_[write.lid.raw()] = 1;
  const auto later = std::stable_partition(
      stage.begin(), stage.end(), [&](const auto& write) { return is_later_[write.lid.raw()] == 0; });
  if (later == stage.end()) return;
  later_.emplace_back(later, stage.end());
  stage.erase(later, stage.end());
}

void TableWriter::write_stage(const std::vector<routing::EntryWrite>& stage, Instant now) {
  std::vector<Lid> lids;
  for (const routing::EntryWrite& write : stage) {
    // What carried nothing leaves no packets to wait for.
    const auto old = hop(write.sw, working_.port(write.sw, write.lid));
    const bool was_dead = write.port == no_path && old && !carries_packets(old->link);
    if (!was_dead) lids.push_back(write.lid);
  }
  std::sort(lids.begin(), lids.end());
  lids.erase(std::unique(lids.begin(), lids.end()), lids.end());
  write_blocks(routing::apply(stage, working_), std::move(lids), now);
}

/// Entries of LIDs that nobody has are in no plan and lead no packet anywhere; and blocks of which nothing is
/// known are written even if they may be right. All of them where there is no plan.
std::vector<routing::BlockRef> TableWriter::rest() const {
  std::vector<char> waits(held_.size(), 0);
  for (const auto& stage : later_) {
    for (const routing::EntryWrite& write : stage) waits[block_of_lid(write.lid)] = 1;
  }
  for (std::size_t lid = 0; lid < left_out_.size(); ++lid) {
    if (left_out_[lid] != 0) waits[lid / routing::lids_per_block] = 1;
  }
  std::vector<routing::BlockRef> blocks = differing_;
  std::erase_if(blocks, [&](const routing::BlockRef& at) {
    if (held_[at.block] != 0 || waits[at.block] != 0 || is_silent(at)) return true;
    const auto stands = working_.block(at.sw, at.block);
    const auto wanted = routes_->tables.block(at.sw, at.block);
    return tables_[at.sw.raw()]->known[at.block] && std::equal(stands.begin(), stands.end(), wanted.begin());
  });
  // One block of each switch after the other, so that many agents work at the same time.
  std::sort(blocks.begin(), blocks.end(), [](const auto& x, const auto& y) {
    return x.block != y.block ? x.block < y.block : x.sw < y.sw;
  });
  return blocks;
}

void TableWriter::write_rest(Instant now) {
  std::vector<routing::BlockRef> blocks = rest();
  std::vector<Lid> lids;
  for (const routing::BlockRef& at : blocks) {
    const auto wanted = routes_->tables.block(at.sw, at.block);
    const auto stands =
        working_.row(at.sw).subspan(at.block * routing::lids_per_block, routing::lids_per_block);
    for (std::size_t i = 0; i < routing::lids_per_block; ++i) {
      if (stands[i] == wanted[i]) continue;
      lids.emplace_back(static_cast<std::uint16_t>(at.block * routing::lids_per_block + i));
      stands[i] = wanted[i];
    }
  }
  write_blocks(std::move(blocks), std::move(lids), now);
}

void TableWriter::resume_or_finish(Instant now) {
  std::erase_if(later_, [&](std::vector<routing::EntryWrite>& stage) {
    std::erase_if(stage, [&](const auto& write) { return held_[block_of_lid(write.lid)] != 0; });
    return stage.empty();
  });
  if (later_.empty()) return finish(now);
  if (waits_ == Waits::Leave) {
    report_.postponed = true;
    return finish(now);
  }
  resume_at_ = earliest(later_.front());
  on_timer(now);
}

/// A Set of a program before this one may have come after the plan was made.
bool TableWriter::is_any_to_be_read_again(Instant now) const {
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    if (node_of(s) == nullptr) continue;
    for (std::size_t b = 0; b < tables_[s]->known.size(); ++b)
      if (is_to_be_read_again(*tables_[s], b, now)) return true;
  }
  return false;
}

void TableWriter::on_timer(Instant now) {
  if (!resume_at_ || *resume_at_ > now) return;
  resume_at_.reset();
  if (is_any_to_be_read_again(now)) {
    report_.postponed = true;
    return finish(now);
  }
  plan_.stages = std::exchange(later_, {});
  stage_ = 0;
  rest_is_written_ = false;
  std::fill(is_later_.begin(), is_later_.end(), 0);
  next_stage(now);
}

void TableWriter::overtake(Instant now) {
  waits_ = Waits::Leave;
  if (!resume_at_) return;
  resume_at_.reset();
  report_.postponed = true;
  finish(now);
}

}  // namespace heddle::provision
