#include "discovery/table_reader.h"

#include <algorithm>
#include <utility>

#include "mad/attributes.h"
#include "transport/requests.h"

namespace heddle::discovery {
namespace {

using routing::lids_per_block;

/// Every fourth turn.
constexpr std::uint32_t part_of_the_pace = 4;

/// So many times as long as a round took nothing is read after it, unless somebody hurries.
constexpr int rest_after = 9;

/// Of its own: what a switch leaves unanswered here is no reason for sweeps to leave it alone.
transport::AgentKey tables_key(NodeGuid guid) {
  return transport::AgentKey{guid.raw() ^ 0x5f00'0000'0000'0000ULL};
}

Lid top_lid_of(const Fabric& fabric) {
  unsigned top = 0;
  for (const Port& port : fabric.ports()) {
    if (port.lid != no_lid) top = std::max(top, port.lid.raw() + (1U << port.lmc) - 1U);
  }
  return Lid{static_cast<std::uint16_t>(std::min<unsigned>(top, last_unicast_lid.raw()))};
}

}  // namespace

TableReader::TableReader(transport::TransactionEngine& engine, TableReaderOptions options, PaceOf pace,
                         Done done)
    : engine_{engine},
      options_{options},
      pace_{std::move(pace)},
      guest_pace_{options.guest_smps_per_second == 0
                      ? 0
                      : std::max(1U, options.guest_smps_per_second / part_of_the_pace)},
      owner_pace_{options.smps_per_second},
      done_{std::move(done)} {}

void TableReader::use(std::shared_ptr<const Survey> survey, Instant now) {
  const bool another = !survey_ || survey_->fabric != survey->fabric;
  survey_ = std::move(survey);
  if (!another) return;
  changed_at_ = now;
  const bool guest = pace_ && pace_() != nullptr;
  const Instant settled = now + (guest ? options_.settle_as_guest : options_.settle);
  hurry(latest_ ? std::max(settled, latest_->ended + rest_after * (latest_->ended - latest_->began))
                : settled);
}

void TableReader::hurry(Instant at) { next_round_ = next_round_ ? std::min(*next_round_, at) : at; }

std::optional<Instant> TableReader::next_deadline() const {
  if (!survey_) return std::nullopt;
  return reading_ ? wake_ : next_round_;
}

void TableReader::on_timer(Instant now) {
  if (!survey_) return;
  if (reading_) {
    if (wake_ && *wake_ <= now) feed(now);
  } else if (next_round_ && *next_round_ <= now) {
    begin(now);
  }
}

void TableReader::begin(Instant now) {
  reading_ = true;
  next_round_.reset();
  began_ = now;
  before_ = survey_->fabric;
  ++generation_;
  next_ = 0;
  outstanding_ = 0;
  blocks_.clear();
  const Fabric& fabric = *survey_->fabric;
  const std::size_t stride = (top_lid_of(fabric).raw() / lids_per_block + 1) * lids_per_block;
  std::erase_if(rows_, [&](const auto& row) { return fabric.find_node(row.first) == no_node; });
  // Block by block, not switch by switch: the load is spread over their agents.
  for (std::uint32_t number = 0; number < stride / lids_per_block; ++number) {
    for (const SurveyNode& node : survey_->nodes) {
      if (node.is_switch()) blocks_.push_back({node.guid(), number});
    }
  }
  for (const SurveyNode& node : survey_->nodes) {
    if (!node.is_switch()) continue;
    Row& row = rows_[node.guid()];
    row.silent = false;
    row.ports.resize(stride, no_path.raw());
  }
  feed(now);
}

bool TableReader::may_ask(Instant now) {
  if (outstanding_ >= transport::Pace::most_asked) return false;
  transport::Pace* const pace = pace_ ? pace_() : nullptr;
  const bool has_own_turn = pace != nullptr && promise_.at;
  if (!has_own_turn) wake_ = (pace != nullptr ? guest_pace_ : owner_pace_).take(now);
  if (!wake_ && pace != nullptr) wake_ = pace->take(now, promise_);
  return !wake_;
}

void TableReader::feed(Instant now) {
  wake_.reset();
  while (next_ < blocks_.size() && may_ask(now)) {
    const Block& block = blocks_[next_];
    if (!rows_[block.guid].silent) ask(block, std::uint64_t{generation_} << 32U | next_, now);
    ++next_;
  }
  if (next_ == blocks_.size() && outstanding_ == 0) finish(now);
}

void TableReader::ask(const Block& block, std::uint64_t context, Instant now) {
  const NodeIndex node = survey_->fabric->find_node(block.guid);
  const bool sent =
      node != no_node &&
      engine_
          .submit({.packet = transport::directed_smp({.attribute = mad::SmAttr::LinearForwardingTable,
                                                      .modifier = block.number,
                                                      .m_key = options_.m_key},
                                                     survey_->node(node).path),
                   .agent = tables_key(block.guid)},
                  *this, context, now)
          .has_value();
  if (sent) {
    ++outstanding_;
  } else {
    rows_[block.guid].silent = true;
  }
}

void TableReader::on_completion(const transport::Completion& completion) {
  if (completion.outcome == transport::Outcome::Stopped || !reading_) return;
  if (completion.context >> 32U != generation_) return;
  --outstanding_;
  const Block& block = blocks_[completion.context & 0xffffffffU];
  Row& row = rows_[block.guid];
  if (completion.outcome == transport::Outcome::Answered) {
    const auto answer = mad::decode<mad::LftBlock>(mad::smp_data(completion.answer->mad));
    const auto raw = [](PortNum port) { return port.raw(); };
    std::ranges::transform(answer.ports, row.ports.begin() + block.number * lids_per_block, raw);
  } else {
    row.silent = true;
  }
  feed(completion.now);
}

void TableReader::finish(Instant now) {
  reading_ = false;
  hurry(now + options_.interval);
  auto read = std::make_shared<TablesRead>();
  read->before = before_;
  read->fabric = survey_->fabric;
  read->began = began_;
  read->ended = now;
  std::vector<NodeGuid> switches;
  for (const SurveyNode& node : survey_->nodes) {
    if (node.is_switch()) switches.push_back(node.guid());
  }
  read->tables = routing::ForwardingTables(switches, top_lid_of(*survey_->fabric));
  for (std::uint32_t s = 0; s < switches.size(); ++s) {
    const auto row = rows_.find(switches[s]);
    const auto to = read->tables.row(routing::SwitchIndex{s});
    const bool whole = row != rows_.end() && !row->second.silent && row->second.ports.size() >= to.size();
    if (!whole) read->unread.push_back(switches[s]);
    if (row == rows_.end()) continue;
    std::copy_n(row->second.ports.begin(), std::min(to.size(), row->second.ports.size()), to.begin());
  }
  const bool settles =
      now - changed_at_ < options_.settle_as_guest || !latest_ || latest_->tables != read->tables;
  if (settles) hurry(now + std::max(options_.settle, rest_after * (now - began_)));
  latest_ = std::move(read);
  done_(latest_);
}

}  // namespace heddle::discovery
