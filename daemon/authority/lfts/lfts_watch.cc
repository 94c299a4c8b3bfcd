// What the router looks at again and again: whether OpenSM is there, and the master, and whether switches
// still have what they have confirmed.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "authority/lfts/lfts_router.h"
#include "mad/sm_state.h"
#include "transport/requests.h"

namespace heddle::lfts {

// --- where OpenSM is ---

void LftsRouter::ask_opensm(Instant now) {
  const auto again = [this](Instant at) {
    due_.at(at + ask_every, [this](Instant then) { ask_opensm(then); });
  };
  const Survey& seen = survey_ ? *survey_ : *half_;
  if (seen.local == no_node) return again(now);
  const Lid own = seen.port({seen.local, transport_.local().port}).info.lid;
  if (own == no_lid) return again(now);
  answer_.reset();
  asking_.start(
      [this, own, asked = false]() mutable -> std::optional<provision::Step> {
        if (std::exchange(asked, true)) return std::nullopt;
        return provision::Step{
            .packet = transport::lid_smp({.attribute = mad::SmAttr::SmInfo, .m_key = options_.m_key}, own),
            .agent = transport::AgentKey{0xffff'ffff'5c00'0000ULL}};
      },
      [this](std::uint64_t, const transport::Completion& completion) {
        if (completion.outcome != transport::Outcome::Answered) return;
        answer_ = mad::decode<mad::SmInfo>(mad::smp_data(completion.answer->mad));
      },
      [this, again](Instant at) {
        heard(answer_, at);
        again(at);
      },
      now);
}

void LftsRouter::heard(std::optional<mad::SmInfo> info, Instant now) {
  if (!info) {
    if (!state_ || ++unanswered_ < most_unanswered) return;
    state_.reset();
    listener_.gone(now);
    return;
  }
  unanswered_ = 0;
  if (state_ == info->state) return;
  const bool fresh = !state_;
  state_ = info->state;
  if (state_ == mad::SmInfo::State::Master) {
    // Another one may have written in between.
    knows_tables_ = false;
    file_.reset();
    changed_ = true;
  }
  opensm::PluginEvent event;
  event.kind = fresh ? opensm::PluginEvent::Kind::Hello : opensm::PluginEvent::Kind::SmState;
  event.state = to_string(info->state);
  event.window = true;  // no later sweep writes anything but what the file says
  listener_.event(event, now);
  if (!fresh && state_ == mad::SmInfo::State::Master) {
    event.kind = opensm::PluginEvent::Kind::SubnetUp;
    listener_.event(event, now);
  }
  begin(now);
}

// --- what has been confirmed ---

void LftsRouter::look(Instant now) {
  due_.at(now + look_every, [this](Instant at) { look(at); });
  if (doing_ != Doing::Nothing || !knows_tables_ || state_ != mad::SmInfo::State::Master) return;
  look_for_file();
  doing_ = Doing::Looking;
  const routing::SwitchGraph& graph = maker_.router().graph();
  looks_at_ = (looks_at_ + 1) % static_cast<std::uint32_t>(pass_.tables.blocks());
  std::vector<Block> blocks;
  for (const NodeGuid guid : graph.guids()) {
    const NodeIndex node = survey_->fabric->find_node(guid);
    if (node != no_node && !is_away(guid)) blocks.push_back({node, guid, looks_at_});
  }
  read(std::move(blocks), &LftsRouter::looked, now);
}

/// Without it OpenSM's next sweep empties all tables.
void LftsRouter::look_for_file() {
  const auto there = std::make_shared<bool>(true);
  desk_.run([is_there = options_.is_there, there] { *there = is_there(); },
            [this, alive = std::weak_ptr(alive_), there] {
              if (alive.expired() || *there) return;
              file_.reset();
              changed_ = true;
              begin(desk_.now());
            });
}

/// Whoever has written there may have written anywhere, and may have taken the file away.
void LftsRouter::looked(Instant now) {
  doing_ = Doing::Nothing;
  const routing::SwitchGraph& graph = maker_.router().graph();
  const auto meant = in_force_.of(graph, routes_->tables.top());
  std::size_t others = 0;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const auto found = answers_.find({graph.guid(routing::SwitchIndex{s}), looks_at_});
    if (found == answers_.end() || !found->second) continue;
    const auto same = [](PortNum has, std::uint8_t should) { return has.raw() == should; };
    const bool as_meant =
        std::ranges::equal(found->second->ports, meant.block(routing::SwitchIndex{s}, looks_at_), same);
    others += as_meant ? 0 : 1;
  }
  if (others != 0) {
    trouble_ = fmt::format(
        "{} switches have other tables than OpenSM was given: somebody else writes them, or opensm.lfts_file "
        "was "
        "not there when OpenSM looked; all of them are given again",
        others);
    knows_tables_ = false;
    file_.reset();
    changed_ = true;
  }
  begin(now);
}

}  // namespace heddle::lfts
