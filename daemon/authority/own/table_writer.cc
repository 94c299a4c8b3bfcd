#include "authority/own/table_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "mad/header.h"
#include "transport/requests.h"
#include "transport/transaction_tid.h"

namespace heddle::provision {
namespace {

using transport::Completion;
using transport::Outcome;

}  // namespace

const SurveyNode* TableWriter::node_of(std::uint32_t sw) const {
  return switches_[sw] == no_node ? nullptr : &survey_->node(switches_[sw]);
}

void TableWriter::write(std::shared_ptr<const Survey> survey, std::shared_ptr<const Routes> routes,
                        Waits waits, Instant now, Done done) {
  survey_ = std::move(survey);
  routes_ = std::move(routes);
  waits_ = waits;
  done_ = std::move(done);
  report_ = {};
  switches_.clear();
  tables_.clear();
  // An earlier run of the program may have written the last of its entries just before.
  if (!began_) {
    began_ = now;
    under_way_.begin(now);
  }
  for (const NodeGuid guid : routes_->tables.switches()) {
    switches_.push_back(survey_->fabric->find_node(guid));
    const bool mute = switches_.back() == no_node && is_mute(static_cast<std::uint32_t>(tables_.size()));
    Table* const table = switches_.back() == no_node && !mute ? nullptr : &known_[guid];
    tables_.push_back(table);
    if (const auto late = late_.find(guid); table != nullptr && late != late_.end()) {
      static_cast<Late&>(*table) = std::move(late->second);
      late_.erase(late);
    }
    if (table == nullptr) continue;
    table->bytes.resize(std::max(table->bytes.size(), routes_->tables.stride()), no_path.raw());
    table->known.resize(std::max(table->known.size(), routes_->tables.blocks()), false);
    table->silent.assign(table->known.size(), mute);
    table->read_early.resize(table->known.size(), false);
    table->settled_at.resize(table->known.size());
  }
  forget_gone();
  read(now);
}

void TableWriter::forget_gone() {
  const auto switches = routes_->tables.switches();
  const std::size_t most = switches.size() + most_gone;
  if (std::max({known_.size(), late_.size(), empty_.size()}) <= most) return;
  const std::unordered_set<NodeGuid> there(switches.begin(), switches.end());
  const auto is_gone = [&](const auto& of) { return !there.contains(of.first); };
  std::erase_if(known_, is_gone);
  std::erase_if(late_, is_gone);
  std::erase_if(doubted_, is_gone);
  std::erase_if(empty_, [&](NodeGuid guid) { return !there.contains(guid); });
}

void TableWriter::forget(NodeGuid sw, Others others) {
  const auto it = known_.find(sw);
  if (it == known_.end()) {
    if (others == Others::WroteNothing) empty_.insert(sw);
    return;
  }
  late_[sw] = std::move(it->second);
  known_.erase(it);
}

/// Nobody can ask it, packets pass it, and what it holds is known.
bool TableWriter::is_mute(std::uint32_t sw) const {
  if (!routes_->order || !known_.contains(routes_->tables.switches()[sw])) return false;
  const auto hops = routes_->order->graph().hops(routing::SwitchIndex{sw});
  return std::any_of(hops.begin(), hops.end(),
                     [&](const routing::Hop& hop) { return routes_->up.contains(hop.link); });
}

Step TableWriter::block_step(mad::Method method, const SurveyNode& node, std::size_t block,
                             std::uint64_t tag) const {
  return {.packet = transport::directed_smp({.method = method,
                                             .attribute = mad::SmAttr::LinearForwardingTable,
                                             .modifier = static_cast<std::uint32_t>(block),
                                             .m_key = m_key_},
                                            node.path),
          .agent = transport::agent_of(node.guid()),
          .tag = tag};
}

Step TableWriter::block_step(mad::Method method, BlockOf at) const {
  return block_step(method, *node_of(at.sw), at.block, tag_of(at));
}

std::optional<Batch::Way> TableWriter::way_of(std::uint64_t tag) const {
  const BlockOf at = block_of(tag);
  const SurveyNode* const node = at.sw < switches_.size() ? node_of(at.sw) : nullptr;
  if (node == nullptr) return std::nullopt;
  return Batch::Way{transport::agent_of(node->guid()), node->path};
}

/// A switch without a top holds nothing if it was restarted. Else whoever manages the fabric was killed
/// before setting it, and what is there is worth knowing.
std::size_t TableWriter::readable_lids(const SurveyNode& node) {
  const std::size_t top = node.switch_info ? node.switch_info->linear_fdb_top : 0;
  if (top > 0) {
    empty_.erase(node.guid());
    return top + 1;
  }
  return empty_.contains(node.guid()) ? 0 : routes_->tables.stride();
}

void TableWriter::read(Instant now) {
  std::vector<BlockOf> blocks;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const SurveyNode* node = node_of(s);
    if (node == nullptr) continue;
    const std::size_t lids = readable_lids(*node);
    for (std::size_t b = 0; b < routes_->tables.blocks() && b * routing::lids_per_block < lids; ++b) {
      const bool is_doubted = doubted_.contains({node->guid(), b});
      if (tables_[s]->known[b] && !is_doubted && !is_to_be_read_again(*tables_[s], b, now)) continue;
      // What it answers may be overwritten by a Set that is still on its way.
      if (tables_[s]->settled_at[b] > now && !is_doubted) {
        tables_[s]->silent[b] = report_.left_out = true;
        continue;
      }
      blocks.push_back({s, static_cast<std::uint16_t>(b)});
    }
  }
  // One block of each switch after the other, so that many agents work at the same time.
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const BlockOf& x, const BlockOf& y) { return x.block < y.block; });
  batch_.start(
      [this, blocks = std::move(blocks), next = std::size_t{0}]() mutable -> std::optional<Step> {
        if (next == blocks.size()) return std::nullopt;
        return block_step(mad::Method::Get, blocks[next++]);
      },
      [this](std::uint64_t tag, const Completion& completion) { take(block_of(tag), completion); },
      [this](Instant at) { report_.stopped ? finish(at) : plan(at); }, now);
}

bool TableWriter::is_to_be_read_again(const Table& table, std::size_t block, Instant now) const {
  return table.known[block] && table.read_early[block] && table.settled_at[block] <= now;
}

void TableWriter::take(BlockOf at, const Completion& completion) {
  if (completion.outcome == Outcome::Stopped) report_.stopped = true;
  Table& table = *tables_[at.sw];
  if (completion.outcome != Outcome::Answered) {
    // It holds what it was seen to hold last, or a write that was not confirmed: entries that may work, and
    // are changed in stages or not at all.
    table.silent[at.block] = true;
    if (table.read_early[at.block]) table.known[at.block] = table.read_early[at.block] = false;
    const bool said = std::any_of(report_.failures.begin(), report_.failures.end(),
                                  [&](const auto& failure) { return failure.node == switches_[at.sw]; });
    if (!said) {
      report_.failures.push_back({switches_[at.sw], "a block of its forwarding table could not be read",
                                  completion.outcome, completion.status});
    }
    return;
  }
  const auto data = mad::smp_data(completion.answer->mad);
  doubted_.erase({routes_->tables.switches()[at.sw], at.block});
  note_replaced(at, data, Instant::min(), completion.now);
  std::copy(data.begin(), data.end(),
            table.bytes.begin() + static_cast<std::ptrdiff_t>(at.block * routing::lids_per_block));
  table.known[at.block] = true;
  table.unconfirmed.erase(at.block);
  table.settled_at[at.block] = std::max(table.settled_at[at.block], *began_ + under_way_.life());
  table.read_early[at.block] = table.settled_at[at.block] > completion.now;
  ++report_.blocks_read;
}

void TableWriter::write_blocks(std::vector<routing::BlockRef> blocks, std::vector<Lid> lids, Instant now) {
  stage_began_ = now;
  is_writing_ = true;
  batch_.start(
      [this, blocks = std::move(blocks), next = std::size_t{0}]() mutable -> std::optional<Step> {
        if (next == blocks.size()) return std::nullopt;
        const BlockOf at{blocks[next].sw.raw(), blocks[next].block};
        ++next;
        Step step = block_step(mad::Method::Set, at);
        const auto bytes = working_.block(routing::SwitchIndex{at.sw}, at.block);
        std::copy(bytes.begin(), bytes.end(), mad::smp_data(step.packet.mad).begin());
        leave_out_dead_ports(at, mad::smp_data(step.packet.mad));
        // Until it is confirmed, nobody knows which of the two is there.
        tables_[at.sw]->known[at.block] = false;
        return step;
      },
      [this](std::uint64_t tag, const Completion& completion) { confirm(tag, completion); },
      [this, lids = std::move(lids)](Instant at) {
        is_writing_ = false;
        for (const Lid lid : lids) under_way_.wrote(lid, at);
        report_.stopped ? finish(at) : next_stage(at);
      },
      now);
}

/// Nobody comes by an entry that leads out of a port which is not Active: a switch that holds it may lose it,
/// and one that was restarted is not given it again. What the survey says is Active was raised since it was
/// found otherwise, or fell since.
void TableWriter::leave_out_dead_ports(BlockOf at, std::span<std::uint8_t> entries) const {
  const NodeIndex node = switches_[at.sw];
  if (inactive_.empty() || node == no_node) return;
  const Fabric& fabric = *survey_->fabric;
  const auto is_dead = [&](LinkEnd end) {
    return inactive_.contains(fabric.ref(end)) && survey_->port(end).info.state != PortState::Active;
  };
  for (std::uint8_t& entry : entries) {
    if (entry > fabric.node(node).port_count) continue;
    const LinkEnd end{node, PortNum{entry}};
    const auto peer = fabric.peer(end);
    if (is_dead(end) || (peer && is_dead(*peer))) entry = no_path.raw();
  }
}

/// The plan has a link to a switch there, and one of its ends has been found not to be Active since.
bool TableWriter::has_fallen(const routing::EntryWrite& write) const {
  const NodeIndex node = switches_[write.sw.raw()];
  if (fallen_.empty() || node == no_node) return false;
  const Fabric& fabric = *survey_->fabric;
  if (write.port.raw() > fabric.node(node).port_count) return false;
  const LinkEnd end{node, write.port};
  const auto peer = fabric.peer(end);
  if (!peer || !survey_->node(peer->node).is_switch()) return false;
  return std::ranges::any_of(std::array{end, *peer}, [&](LinkEnd each) {
    return fallen_.contains(fabric.ref(each)) && survey_->port(each).info.state == PortState::Active;
  });
}

/// The block that is to be written has an entry that leads out of a port which was found not to be Active
/// since the stage began, and that its switch has not, or may have lost.
bool TableWriter::leads_astray(BlockOf at) const {
  if (inactive_.empty()) return false;
  const Table& table = *tables_[at.sw];
  const auto bytes = working_.block(routing::SwitchIndex{at.sw}, at.block);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t lid = std::size_t{at.block} * routing::lids_per_block + i;
    const routing::EntryWrite entry{routing::SwitchIndex{at.sw}, Lid{static_cast<std::uint16_t>(lid)},
                                    PortNum{bytes[i]}};
    if (bytes[i] == table.bytes[lid] ? has_fallen(entry) : is_inactive(entry)) return true;
  }
  return false;
}

void TableWriter::confirm(std::uint64_t tag, const Completion& completion) {
  const BlockOf at = block_of(tag);
  const auto tid = transport::TransactionTid::read(mad::read_header(completion.request->mad).tid);
  const bool was_sent = completion.outcome != Outcome::AgentSilent && completion.outcome != Outcome::NotSent;
  if (was_sent && (completion.outcome != Outcome::Answered || tid.attempt > 0))
    tables_[at.sw]->settled_at[at.block] = completion.now + under_way_.life();
  if (was_sent && completion.outcome != Outcome::Answered) {
    const auto asked = mad::smp_data(completion.request->mad);
    tables_[at.sw]->unconfirmed[at.block].emplace_back(asked.begin(), asked.end());
  }
  if (completion.outcome == Outcome::Stopped) {
    report_.stopped = true;
    return;
  }
  if (completion.outcome == Outcome::NotSent && leads_astray(at)) {
    held_[at.block] = 1;
    report_.left_out = true;
    return;
  }
  if (completion.outcome != Outcome::Answered) {
    held_[at.block] = 1;
    report_.failures.push_back({switches_[at.sw], "a block of its forwarding table was not taken",
                                completion.outcome, completion.status});
    return;
  }
  const auto asked = mad::smp_data(completion.request->mad);
  const auto got = mad::smp_data(completion.answer->mad);
  if (!std::equal(asked.begin(), asked.end(), got.begin())) {
    held_[at.block] = 1;
    report_.failures.push_back({switches_[at.sw],
                                "answers other entries than were written to a block of its forwarding table",
                                Outcome::Answered, 0});
    return;
  }
  Table& table = *tables_[at.sw];
  note_replaced(at, got, stage_began_, completion.now);
  std::copy(got.begin(), got.end(),
            table.bytes.begin() + static_cast<std::ptrdiff_t>(at.block * routing::lids_per_block));
  table.known[at.block] = true;
  table.read_early[at.block] = false;
  table.unconfirmed.erase(at.block);
  ++report_.blocks_written;
}

void TableWriter::finish(Instant now) {
  plan_ = {};
  later_.clear();
  const Done done = std::exchange(done_, nullptr);
  const WriteReport report = std::exchange(report_, {});
  done(report, now);
}

bool TableWriter::doubt(NodeGuid sw, std::size_t block, std::span<const std::uint8_t> said) {
  const auto it = known_.find(sw);
  if (it == known_.end() || block >= it->second.known.size()) return false;
  const Table& table = it->second;
  const auto held = table.bytes.begin() + static_cast<std::ptrdiff_t>(block * routing::lids_per_block);
  if (table.known[block] && std::equal(said.begin(), said.end(), held)) return false;
  return doubted_.emplace(sw, block).second;
}

std::optional<std::vector<Lid>> TableWriter::lids_through(const PortRef& port) const {
  const auto it = known_.find(port.node);
  if (it == known_.end()) return std::nullopt;
  std::vector<Lid> lids;
  const Table& table = it->second;
  for (std::size_t lid = 0; lid < table.bytes.size(); ++lid) {
    if (table.bytes[lid] == port.port.raw() && table.known[lid / routing::lids_per_block])
      lids.emplace_back(static_cast<std::uint16_t>(lid));
  }
  return lids;
}

routing::ForwardingTables TableWriter::held(const routing::SwitchGraph& graph, Lid top) const {
  routing::ForwardingTables tables(graph.guids(), top);
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const auto it = known_.find(graph.guid(routing::SwitchIndex{s}));
    if (it == known_.end()) continue;
    const Table& table = it->second;
    const auto row = tables.row(routing::SwitchIndex{s});
    for (std::size_t lid = 0; lid < std::min(row.size(), table.bytes.size()); ++lid) {
      if (table.known[lid / routing::lids_per_block]) row[lid] = table.bytes[lid];
    }
  }
  return tables;
}

bool TableWriter::may_use(const PortRef& port) const {
  const auto it = known_.find(port.node);
  if (it == known_.end()) return false;
  const Table& table = it->second;
  for (std::size_t b = 0; b < table.known.size(); ++b) {
    const auto first = table.bytes.begin() + static_cast<std::ptrdiff_t>(b * routing::lids_per_block);
    if (!table.known[b] || std::find(first, first + routing::lids_per_block, port.port.raw()) !=
                               first + routing::lids_per_block) {
      return true;
    }
  }
  return false;
}

}  // namespace heddle::provision
