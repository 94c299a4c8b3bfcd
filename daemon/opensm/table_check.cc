#include "opensm/table_check.h"

#include <fmt/format.h>

#include "routing/tables.h"
#include "transport/requests.h"

namespace heddle::opensm {

using transport::Completion;
using transport::Outcome;

unsigned TableCheck::plane_of(Lid lid) const {
  const PortIndex port = survey_->fabric->find_port(lid);
  if (port == no_port) return 0;
  return static_cast<unsigned>(lid.raw() - survey_->fabric->port(port).lid.raw()) % planes_;
}

void TableCheck::judge(NodeIndex node, std::uint16_t block, std::span<const std::uint8_t> ports) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Lid lid{static_cast<std::uint16_t>(block * routing::lids_per_block + i)};
    for (const Port& port : watched_[node]) {
      if (ports[i] != port.num.raw() || wrong_) continue;
      // What no port has any more is nobody's way.
      if (survey_->fabric->find_port(lid) == no_port) continue;
      if (port.plane && *port.plane != plane_of(lid)) continue;
      wrong_ = Error{ErrorCode::Conflict, fmt::format("{} sends LID {} over a link that is to be unused",
                                                      name_of(survey_->node(node), port.num), lid.raw())};
    }
  }
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
        watched_[node].push_back({end.port, each.plane});
      }
    }
  }
  std::vector<std::pair<NodeIndex, std::uint16_t>> blocks;
  for (const auto& [node, ports] : watched_) {
    const auto& info = survey_->node(node).switch_info;
    const unsigned top = info ? info->linear_fdb_top : 0;
    for (unsigned block = 0; block * routing::lids_per_block <= top; ++block) {
      blocks.emplace_back(node, static_cast<std::uint16_t>(block));
    }
  }
  batch_.start(
      [this, blocks, next = std::size_t{0}]() mutable -> std::optional<provision::Step> {
        if (next == blocks.size()) return std::nullopt;
        const auto& [node, block] = blocks[next];
        const SurveyNode& sw = survey_->node(node);
        return provision::Step{
            .packet = transport::directed_smp({.method = mad::Method::Get,
                                               .attribute = mad::SmAttr::LinearForwardingTable,
                                               .modifier = block,
                                               .m_key = m_key_},
                                              sw.path),
            .agent = transport::agent_of(sw.guid()),
            .tag = next++};
      },
      [this, blocks](std::uint64_t tag, const Completion& completion) {
        const auto& [node, block] = blocks[tag];
        if (completion.outcome == Outcome::Answered) {
          judge(node, block, mad::smp_data(completion.answer->mad));
        } else if (!wrong_) {
          wrong_ = Error{ErrorCode::Unreachable,
                         fmt::format("{} does not say what its forwarding table is ({})",
                                     name_of(survey_->node(node)), to_string(completion.outcome))};
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
