#include "authority/own/multicast_writer.h"

#include <algorithm>
#include <optional>

#include "transport/requests.h"

namespace heddle::provision {
namespace {

using transport::Completion;
using transport::Outcome;

/// MulticastFDBTop (IBA 14.2.5.4): the last group that has an entry; 0xBFFF that none has, 0 that nobody
/// said.
constexpr std::uint16_t no_top = 0;

}  // namespace

MulticastWriter::Switch MulticastWriter::met(const SurveyNode& node) {
  Switch sw;
  if (!node.switch_info || node.switch_info->linear_fdb_top == 0) return sw;
  const std::uint16_t top = node.switch_info->multicast_fdb_top;
  std::size_t entries = node.switch_info->multicast_fdb_cap;
  if (top != no_top) {
    const bool any = top >= first_multicast_lid.raw();
    entries = std::min(entries, any ? std::size_t{top} - first_multicast_lid.raw() + 1U : std::size_t{0});
  }
  const std::size_t blocks = (entries + groups_per_block - 1) / groups_per_block;
  for (std::size_t position = 0; position <= (node.ports.size() - 1) / ports_per_position; ++position) {
    for (std::size_t number = 0; number < blocks; ++number) {
      sw.unknown.insert({static_cast<std::uint16_t>(number), static_cast<std::uint8_t>(position)});
    }
  }
  sw.unread = sw.unknown;
  return sw;
}

void MulticastWriter::write(std::shared_ptr<const Survey> survey, std::shared_ptr<const Routes> routes,
                            Instant now, Done done) {
  survey_ = std::move(survey);
  routes_ = std::move(routes);
  done_ = std::move(done);
  report_ = {};
  const std::vector<Switch*> before = std::exchange(switches_, {});
  nodes_.clear();
  left_.clear();
  if (!routes_->order) {
    finish(now);
    return;
  }
  for (const NodeGuid guid : routes_->order->graph().guids()) {
    const NodeIndex node = survey_->fabric->find_node(guid);
    nodes_.push_back(node);
    switches_.push_back(nullptr);
    if (node == no_node) continue;
    auto known = known_.find(guid);
    if (known == known_.end()) known = known_.emplace(guid, met(survey_->node(node))).first;
    switches_.back() = &known->second;
  }
  if (routes_ != settled_by_ || switches_ != before) groups_.unsettle();
  forget_gone();
  read(now);
}

/// As TableWriter does.
void MulticastWriter::forget_gone() {
  const auto& guids = routes_->order->graph().guids();
  if (known_.size() <= guids.size() + TableWriter::most_gone) return;
  const std::unordered_set<NodeGuid> there(guids.begin(), guids.end());
  std::erase_if(known_, [&](const auto& of) { return !there.contains(of.first); });
  groups_.keep_only(there);
}

Step MulticastWriter::step(mad::Method method, BlockOf block) const {
  const SurveyNode& node = survey_->node(nodes_[block.sw]);
  return {.packet = transport::directed_smp({.method = method,
                                             .attribute = mad::SmAttr::MulticastForwardingTable,
                                             .modifier = block.at.modifier(),
                                             .m_key = m_key_},
                                            node.path),
          .agent = transport::agent_of(node.guid()),
          .tag = tag_of(block)};
}

void MulticastWriter::read(Instant now) {
  std::vector<BlockOf> blocks;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    if (switches_[s] == nullptr) continue;
    for (const MftBlockRef& at : switches_[s]->unknown) blocks.push_back({s, at});
  }
  if (!blocks.empty()) groups_.unsettle();
  // One block of each switch after the other, so that many agents work at the same time.
  std::stable_sort(blocks.begin(), blocks.end(), [](const auto& x, const auto& y) { return x.at < y.at; });
  batch_.start(
      [this, blocks = std::move(blocks), next = std::size_t{0}]() mutable -> std::optional<Step> {
        if (next == blocks.size()) return std::nullopt;
        return step(mad::Method::Get, blocks[next++]);
      },
      [this](std::uint64_t tag, const Completion& completion) {
        if (completion.outcome == Outcome::Stopped) report_.stopped = true;
        const BlockOf block = block_of_tag(tag);
        Switch& sw = *switches_[block.sw];
        if (completion.outcome == Outcome::Answered) {
          put_block(sw.table, block.at, mad::decode<mad::MftBlock>(mad::smp_data(completion.answer->mad)));
          ++report_.blocks_read;
        } else if (completion.outcome != Outcome::Refused) {
          return;
        }
        // A switch that refuses has no such table.
        sw.unknown.erase(block.at);
      },
      [this](Instant at) { report_.stopped ? finish(at) : plan(at); }, now);
}

void MulticastWriter::plan(Instant now) {
  std::vector<const MulticastTable*> held;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    Switch* const sw = switches_[s];
    held.push_back(sw == nullptr ? nullptr : &sw->table);
    if (sw == nullptr) continue;
    for (const MftBlockRef& at : sw->unknown) left_.insert(at.number);
    const std::size_t before = sw->unread.size();
    std::erase_if(sw->unread, [&](const MftBlockRef& at) { return !sw->unknown.contains(at); });
    if (sw->unread.size() != before) groups_.learn(routes_->order->graph(), index(s), sw->table);
  }
  if (groups_.empty()) {
    finish(now);
    return;
  }
  wanted_ =
      groups_.trees(*routes_, held, [this](Lid group) { return left_.contains(block_number(group)); }).tables;
  std::vector<MulticastTable> common;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    common.emplace_back();
    if (switches_[s] == nullptr) continue;
    for (const auto& [group, ports] : switches_[s]->table) {
      const auto also = wanted_[s].find(group);
      if (also != wanted_[s].end() && (ports & also->second).any()) {
        common.back()[group] = ports & also->second;
      }
    }
  }
  write_to(
      std::move(common),
      [this](Instant at) {
        report_.stopped ? finish(at)
                        : write_to(
                              std::move(wanted_), [this](Instant t) { finish(t); }, at);
      },
      now);
}

void MulticastWriter::write_to(std::vector<MulticastTable> target, Batch::Done next, Instant now) {
  std::vector<std::pair<BlockOf, mad::MftBlock>> blocks;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    if (switches_[s] == nullptr) continue;
    const MulticastTable& stands = switches_[s]->table;
    std::set<std::uint16_t> numbers;
    for (const auto* table : {&stands, &std::as_const(target[s])}) {
      for (const auto& [group, ports] : *table) numbers.insert(block_number(group));
    }
    const std::size_t positions = (survey_->node(nodes_[s]).ports.size() - 1) / ports_per_position + 1;
    for (const std::uint16_t number : numbers) {
      if (left_.contains(number)) continue;
      for (std::size_t position = 0; position < positions; ++position) {
        const MftBlockRef at{number, static_cast<std::uint8_t>(position)};
        const mad::MftBlock block = block_of(target[s], at);
        if (block.masks != block_of(stands, at).masks) blocks.push_back({{s, at}, block});
      }
    }
  }
  batch_.start(
      [this, blocks = std::move(blocks), next = std::size_t{0}]() mutable -> std::optional<Step> {
        if (next == blocks.size()) return std::nullopt;
        const auto& [block, bytes] = blocks[next++];
        Step set = step(mad::Method::Set, block);
        mad::encode(bytes, mad::smp_data(set.packet.mad));
        // Until it is confirmed, nobody knows which of the two is there.
        switches_[block.sw]->unknown.insert(block.at);
        return set;
      },
      [this](std::uint64_t tag, const Completion& completion) { confirm(tag, completion); }, std::move(next),
      now);
}

void MulticastWriter::confirm(std::uint64_t tag, const Completion& completion) {
  const BlockOf block = block_of_tag(tag);
  if (completion.outcome == Outcome::Stopped) {
    report_.stopped = true;
    return;
  }
  const auto fails = [&](const char* what) {
    left_.insert(block.at.number);
    report_.failures.push_back({nodes_[block.sw], what, completion.outcome, completion.status});
  };
  if (completion.outcome != Outcome::Answered) {
    fails("a block of its multicast table was not taken");
    return;
  }
  const auto asked = mad::decode<mad::MftBlock>(mad::smp_data(completion.request->mad));
  const auto got = mad::decode<mad::MftBlock>(mad::smp_data(completion.answer->mad));
  if (asked.masks != got.masks) {
    fails("answers other entries than were written to a block of its multicast table");
    return;
  }
  put_block(switches_[block.sw]->table, block.at, got);
  switches_[block.sw]->unknown.erase(block.at);
  ++report_.blocks_written;
}

void MulticastWriter::finish(Instant now) {
  wanted_.clear();
  if (!report_.stopped && report_.failures.empty()) {
    groups_.settle([this](Lid group) { return left_.contains(block_number(group)); });
    settled_by_ = routes_;
  }
  const Done done = std::exchange(done_, nullptr);
  const WriteReport report = std::exchange(report_, {});
  done(report, now);
}

bool MulticastWriter::may_use(const PortRef& port) const {
  const auto it = known_.find(port.node);
  if (it == known_.end()) return false;
  const Switch& sw = it->second;
  const unsigned position = port.port.raw() / ports_per_position;
  return std::any_of(sw.unknown.begin(), sw.unknown.end(),
                     [&](const MftBlockRef& at) { return at.position == position; }) ||
         std::any_of(sw.table.begin(), sw.table.end(),
                     [&](const auto& entry) { return entry.second[port.port.raw()]; });
}

}  // namespace heddle::provision
