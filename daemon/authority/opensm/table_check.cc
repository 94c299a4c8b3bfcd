#include "authority/opensm/table_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "routing/tables.h"
#include "transport/requests.h"

namespace heddle::opensm {

using transport::Completion;
using transport::Outcome;
namespace {

/// A MulticastForwardingTable MAD (IBA 14.2.5.12): 32 LIDs from 0xC000 on, of 16 ports.
constexpr std::size_t first_multicast_lid = 0xc000;
constexpr std::uint32_t lids_per_mft_block = 32;
constexpr unsigned ports_per_mft_position = 16;
constexpr unsigned mft_position_shift = 28;
constexpr std::uint32_t mft_block_mask = 0x1ff;
constexpr std::uint32_t most_mft_entries = (mft_block_mask + 1) * lids_per_mft_block;

}  // namespace

unsigned TableCheck::plane_of(Lid lid) const {
  const PortIndex port = survey_->fabric->find_port(lid);
  if (port == no_port) return 0;
  return static_cast<unsigned>(lid.raw() - survey_->fabric->port(port).lid.raw()) % planes_;
}

void TableCheck::judge(const Read& read, mad::ConstSmpData data) {
  if (wrong_) return;
  if (read.table == mad::SmAttr::LinearForwardingTable) {
    judge_unicast(read, mad::decode<mad::LftBlock>(data));
  } else {
    judge_multicast(read, mad::decode<mad::MftBlock>(data));
  }
}

void TableCheck::judge_unicast(const Read& read, const mad::LftBlock& block) {
  for (std::size_t i = 0; i < block.ports.size(); ++i) {
    const Lid lid{static_cast<std::uint16_t>(read.modifier * routing::lids_per_block + i)};
    for (const Port& port : watched_[read.node]) {
      if (block.ports[i] != port.num) continue;
      // What no port has any more is nobody's way.
      if (survey_->fabric->find_port(lid) == no_port) continue;
      if (port.plane && *port.plane != plane_of(lid)) continue;
      wrong_ =
          Error{ErrorCode::Conflict, fmt::format("{} sends LID {} over a link that is to be unused",
                                                 name_of(survey_->node(read.node), port.num), lid.raw())};
      return;
    }
  }
}

void TableCheck::judge_multicast(const Read& read, const mad::MftBlock& block) {
  const unsigned position = read.modifier >> mft_position_shift;
  const std::size_t first = first_multicast_lid + (read.modifier & mft_block_mask) * block.masks.size();
  for (std::size_t i = 0; i < block.masks.size(); ++i) {
    for (const Port& port : watched_[read.node]) {
      if (port.tables == UnusedLinks::Tables::Unicast) continue;
      if (port.num.raw() / ports_per_mft_position != position) continue;
      if ((block.masks[i] >> port.num.raw() % ports_per_mft_position & 1U) == 0) continue;
      wrong_ = Error{ErrorCode::Conflict,
                     fmt::format("{} copies multicast LID {:#x} to a link that is to be unused",
                                 name_of(survey_->node(read.node), port.num), first + i)};
      return;
    }
  }
}

std::vector<TableCheck::Read> TableCheck::reads() const {
  std::vector<Read> result;
  for (const auto& [node, ports] : watched_) {
    const auto& info = survey_->node(node).switch_info;
    const unsigned top = info ? info->linear_fdb_top : 0;
    for (std::uint32_t block = 0; block * routing::lids_per_block <= top; ++block) {
      result.push_back({node, mad::SmAttr::LinearForwardingTable, block});
    }
    std::set<unsigned> positions;
    for (const Port& port : ports) {
      if (port.tables == UnusedLinks::Tables::Unicast) continue;
      positions.insert(port.num.raw() / ports_per_mft_position);
    }
    // Not only up to MulticastFDBTop: groups may have come since the survey.
    const std::uint32_t entries =
        info ? std::min<std::uint32_t>(info->multicast_fdb_cap, most_mft_entries) : 0;
    for (const unsigned position : positions) {
      for (std::uint32_t block = 0; block * lids_per_mft_block < entries; ++block) {
        result.push_back(
            {node, mad::SmAttr::MulticastForwardingTable, block | position << mft_position_shift});
      }
    }
  }
  return result;
}

void TableCheck::run(std::shared_ptr<const Survey> survey, unsigned planes,
                     const std::vector<UnusedLinks>& unused, std::size_t most, Instant now, Done done) {
  survey_ = std::move(survey);
  planes_ = std::max(planes, 1U);
  watched_.clear();
  wrong_.reset();
  for (const UnusedLinks& each : unused) {
    for (const LinkRef& link : each.links) {
      for (const PortRef& end : {link.a, link.b}) {
        const NodeIndex node = survey_ ? survey_->fabric->find_node(end.node) : no_node;
        if (node == no_node || !survey_->node(node).is_switch()) continue;
        if (watched_.size() >= most && !watched_.contains(node)) continue;
        watched_[node].push_back({end.port, each.plane, each.tables});
      }
    }
  }
  batch_.start(
      [this, all = reads(), next = std::size_t{0}]() mutable -> std::optional<provision::Step> {
        if (next == all.size()) return std::nullopt;
        const Read& read = all[next];
        const SurveyNode& sw = survey_->node(read.node);
        return provision::Step{.packet = transport::directed_smp({.method = mad::Method::Get,
                                                                  .attribute = read.table,
                                                                  .modifier = read.modifier,
                                                                  .m_key = m_key_},
                                                                 sw.path),
                               .agent = transport::agent_of(sw.guid()),
                               .tag = next++};
      },
      [this, all = reads()](std::uint64_t tag, const Completion& completion) {
        const Read& read = all[tag];
        if (completion.outcome == Outcome::Answered) {
          judge(read, mad::smp_data(completion.answer->mad));
        } else if (!wrong_) {
          wrong_ = Error{ErrorCode::Unreachable,
                         fmt::format("{} does not say what its forwarding tables are ({})",
                                     name_of(survey_->node(read.node)), to_string(completion.outcome))};
        }
      },
      [this, done = std::move(done)](Instant at) {
        if (wrong_) {
          done(fail(*wrong_), at);
        } else {
          done({}, at);
        }
      },
      now);
}

}  // namespace heddle::opensm
