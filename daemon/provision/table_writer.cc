#include "provision/table_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "transport/requests.h"

namespace heddle::provision {
namespace {

using transport::Completion;
using transport::Outcome;

constexpr std::size_t block_size = routing::lids_per_block;

}  // namespace

const SurveyNode* TableWriter::node_of(std::uint32_t sw) const {
  return switches_[sw] == no_node ? nullptr : &survey_->node(switches_[sw]);
}

void TableWriter::write(std::shared_ptr<const Survey> survey, std::shared_ptr<const Routes> routes,
                        Instant now, Done done) {
  survey_ = std::move(survey);
  routes_ = std::move(routes);
  done_ = std::move(done);
  report_ = {};
  switches_.clear();
  tables_.clear();
  for (const NodeGuid guid : routes_->tables.switches()) {
    switches_.push_back(survey_->fabric->find_node(guid));
    Table* const table = switches_.back() == no_node ? nullptr : &known_[guid];
    tables_.push_back(table);
    if (table == nullptr) continue;
    table->bytes.resize(std::max(table->bytes.size(), routes_->tables.stride()), no_path.raw());
    table->known.resize(std::max(table->known.size(), routes_->tables.blocks()), false);
  }
  read(now);
}

Step TableWriter::block_step(mad::Method method, BlockOf at) const {
  const SurveyNode& node = *node_of(at.sw);
  return {.packet = transport::directed_smp({.method = method,
                                             .attribute = mad::SmAttr::LinearForwardingTable,
                                             .modifier = at.block,
                                             .m_key = m_key_},
                                            node.path),
          .agent = transport::agent_of(node.guid()),
          .tag = tag_of(at)};
}

void TableWriter::read(Instant now) {
  std::vector<BlockOf> blocks;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const SurveyNode* node = node_of(s);
    if (node == nullptr) continue;
    // Of a table without a top, nothing is worth knowing.
    const std::size_t top = node->switch_info ? node->switch_info->linear_fdb_top : 0;
    for (std::size_t b = 0; b < routes_->tables.blocks() && top > 0 && b * block_size <= top; ++b) {
      if (!tables_[s]->known[b]) blocks.push_back({s, static_cast<std::uint16_t>(b)});
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
      [this](std::uint64_t tag, const Completion& completion) {
        if (completion.outcome == Outcome::Stopped) report_.stopped = true;
        if (completion.outcome != Outcome::Answered) return;  // then it is written
        const BlockOf at = block_of(tag);
        Table& table = *tables_[at.sw];
        const auto data = mad::smp_data(completion.answer->mad);
        std::copy(data.begin(), data.end(),
                  table.bytes.begin() + static_cast<std::ptrdiff_t>(at.block * block_size));
        table.known[at.block] = true;
        ++report_.blocks_read;
      },
      [this](Instant at) { report_.stopped ? finish(at) : plan(at); }, now);
}

void TableWriter::plan(Instant now) {
  const routing::ForwardingTables& wanted = routes_->tables;
  working_ = wanted;
  differing_.clear();
  bool anything = false;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    if (tables_[s] == nullptr) continue;
    const Table& table = *tables_[s];
    const auto row = working_.row(routing::SwitchIndex{s});
    for (std::size_t b = 0; b < wanted.blocks(); ++b) {
      std::uint8_t* const block = &row[b * block_size];
      if (!table.known[b]) {
        std::fill_n(block, block_size, no_path.raw());
      } else {
        anything = true;
        if (std::memcmp(block, &table.bytes[b * block_size], block_size) == 0) continue;
        std::copy_n(&table.bytes[b * block_size], block_size, block);
      }
      differing_.push_back({routing::SwitchIndex{s}, static_cast<std::uint16_t>(b)});
    }
  }
  plan_ = {};
  stage_ = 0;
  rest_is_written_ = false;
  held_.assign(wanted.blocks(), 0);
  report_.order = WriteOrder::Any;
  if (anything && routes_->order) {
    auto staged =
        routing::plan_update(routes_->order->graph(), routes_->order->ranks(), working_, wanted, differing_);
    if (staged) {
      report_.order = WriteOrder::Staged;
      plan_ = *std::move(staged);
      report_.stages = plan_.stages.size();
    }
  }
  next_stage(now);
}

/// Entries of LIDs that nobody has are in no plan and lead no packet anywhere; and blocks of which nothing is
/// known are written even if they may be right. All of them where there is no plan.
std::vector<routing::BlockRef> TableWriter::rest() const {
  std::vector<routing::BlockRef> blocks = differing_;
  std::erase_if(blocks, [&](const routing::BlockRef& at) {
    if (held_[at.block] != 0) return true;
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

void TableWriter::next_stage(Instant now) {
  while (stage_ < plan_.stages.size()) {
    std::vector<routing::EntryWrite>& stage = plan_.stages[stage_++];
    std::erase_if(stage, [&](const routing::EntryWrite& write) {
      return held_[write.lid.raw() / block_size] != 0 || node_of(write.sw.raw()) == nullptr;
    });
    if (stage.empty()) continue;
    std::vector<routing::BlockRef> blocks = routing::apply(stage, working_);
    stage.clear();
    write_blocks(std::move(blocks), now);
    return;
  }
  if (rest_is_written_) {
    finish(now);
    return;
  }
  rest_is_written_ = true;
  std::vector<routing::BlockRef> blocks = rest();
  for (const routing::BlockRef& at : blocks) {
    const auto wanted = routes_->tables.block(at.sw, at.block);
    std::copy(wanted.begin(), wanted.end(), &working_.row(at.sw)[at.block * block_size]);
  }
  write_blocks(std::move(blocks), now);
}

void TableWriter::write_blocks(std::vector<routing::BlockRef> blocks, Instant now) {
  batch_.start(
      [this, blocks = std::move(blocks), next = std::size_t{0}]() mutable -> std::optional<Step> {
        if (next == blocks.size()) return std::nullopt;
        const BlockOf at{blocks[next].sw.raw(), blocks[next].block};
        ++next;
        Step step = block_step(mad::Method::Set, at);
        const auto bytes = working_.block(routing::SwitchIndex{at.sw}, at.block);
        std::copy(bytes.begin(), bytes.end(), mad::smp_data(step.packet.mad).begin());
        // Until it is confirmed, nobody knows which of the two is there.
        tables_[at.sw]->known[at.block] = false;
        return step;
      },
      [this](std::uint64_t tag, const Completion& completion) { confirm(tag, completion); },
      [this](Instant at) { report_.stopped ? finish(at) : next_stage(at); }, now);
}

void TableWriter::hold(BlockOf at) { held_[at.block] = 1; }

void TableWriter::confirm(std::uint64_t tag, const Completion& completion) {
  const BlockOf at = block_of(tag);
  if (completion.outcome == Outcome::Stopped) {
    report_.stopped = true;
    return;
  }
  if (completion.outcome != Outcome::Answered) {
    hold(at);
    report_.failures.push_back({switches_[at.sw], "a block of its forwarding table was not taken",
                                completion.outcome, completion.status});
    return;
  }
  const auto asked = mad::smp_data(completion.request->mad);
  const auto got = mad::smp_data(completion.answer->mad);
  if (!std::equal(asked.begin(), asked.end(), got.begin())) {
    hold(at);
    report_.failures.push_back({switches_[at.sw],
                                "answers other entries than were written to a block of its forwarding table",
                                Outcome::Answered, 0});
    return;
  }
  Table& table = *tables_[at.sw];
  std::copy(got.begin(), got.end(), table.bytes.begin() + static_cast<std::ptrdiff_t>(at.block * block_size));
  table.known[at.block] = true;
  ++report_.blocks_written;
}

void TableWriter::finish(Instant now) {
  plan_ = {};
  const Done done = std::exchange(done_, nullptr);
  const WriteReport report = std::exchange(report_, {});
  done(report, now);
}

std::optional<std::vector<Lid>> TableWriter::lids_through(const PortRef& port) const {
  const auto it = known_.find(port.node);
  if (it == known_.end()) return std::nullopt;
  std::vector<Lid> lids;
  const Table& table = it->second;
  for (std::size_t lid = 0; lid < table.bytes.size(); ++lid) {
    if (table.bytes[lid] == port.port.raw() && table.known[lid / block_size])
      lids.emplace_back(static_cast<std::uint16_t>(lid));
  }
  return lids;
}

bool TableWriter::may_use(const PortRef& port) const {
  const auto it = known_.find(port.node);
  if (it == known_.end()) return false;
  const Table& table = it->second;
  for (std::size_t b = 0; b < table.known.size(); ++b) {
    const auto first = table.bytes.begin() + static_cast<std::ptrdiff_t>(b * block_size);
    if (!table.known[b] || std::find(first, first + block_size, port.port.raw()) != first + block_size) {
      return true;
    }
  }
  return false;
}

}  // namespace heddle::provision
