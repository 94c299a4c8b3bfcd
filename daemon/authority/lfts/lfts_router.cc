#include "authority/lfts/lfts_router.h"

#include <fmt/format.h>

#include <algorithm>

#include "authority/lfts/survey_records.h"
#include "routing/lft_dump.h"
#include "routing/packet_life.h"
#include "routing/safe_update.h"
#include "transport/requests.h"

namespace heddle::lfts {
namespace {

using opensm::PluginEvent;
using routing::lids_per_block;
using routing::SwitchIndex;
using State = mad::SmInfo::State;
using transport::Outcome;

constexpr FabricClock::duration first_look_after = std::chrono::milliseconds{20};
constexpr FabricClock::duration longest_between_looks = std::chrono::milliseconds{500};

/// Something is there that has not answered, or has no LID yet.
bool is_half(const Survey& survey) {
  const Fabric& fabric = *survey.fabric;
  const auto lacks = [](const Port& port) { return port.lid == no_lid; };
  for (const SurveyNode& node : survey.nodes) {
    const auto unheard = [](const SurveyPort& port) { return port.silent || !port.known; };
    if (node.is_switch() && std::any_of(node.ports.begin(), node.ports.end(), unheard)) return true;
  }
  for (const Node& node : fabric.nodes()) {
    if (node.type == NodeType::Switch && lacks(fabric.port(node.first_port))) return true;
  }
  return std::any_of(fabric.ports().begin(), fabric.ports().end(), [&](const Port& port) {
    return port.link != no_link && fabric.node(port.node).type != NodeType::Switch && lacks(port);
  });
}

}  // namespace

LftsRouter::LftsRouter(transport::TransactionEngine& engine, transport::Transport& transport,
                       opensm::PlanStore& store, Desk desk, LftsOptions options, Listener listener)
    : transport_{transport},
      store_{store},
      desk_{std::move(desk)},
      options_{std::move(options)},
      listener_{std::move(listener)},
      asking_{engine},
      reading_{engine} {}

void LftsRouter::tell(opensm::PluginCommand /*command*/) {
  changed_ = true;
  due_.at(desk_.now(), [this](Instant now) { begin(now); });
}

void LftsRouter::on_survey(std::shared_ptr<const Survey> survey, Instant now) {
  if (!is_half(*survey)) {
    half_until_.reset();
    take(std::move(survey), now);
    return;
  }
  if (!half_until_) half_until_ = now + patience;
  if (*half_until_ <= now) return take(std::move(survey), now);
  half_ = std::move(survey);
  due_.at(*half_until_, [this](Instant at) {
    if (half_ && half_until_ && *half_until_ <= at) take(std::move(half_), at);
  });
  if (!std::exchange(asks_, true)) ask_opensm(now);
}

void LftsRouter::take(std::shared_ptr<const Survey> survey, Instant now) {
  survey_ = std::move(survey);
  half_.reset();
  changed_ = true;
  if (!std::exchange(asks_, true)) ask_opensm(now);
  begin(now);
}

void LftsRouter::on_timer(Instant now) {
  due_.on_timer(now);
  if (doing_ != Doing::Nothing || !again_at_ || now < *again_at_) return;
  again_at_.reset();
  changed_ = true;
  begin(now);
}

std::optional<Instant> LftsRouter::next_deadline() const {
  const auto due = due_.next_deadline();
  // While something is under way, its end begins anew.
  if (!again_at_ || doing_ != Doing::Nothing) return due;
  return due && *due < *again_at_ ? due : again_at_;
}

// --- from tables in force to those that are wanted ---

void LftsRouter::begin(Instant now) {
  if (doing_ != Doing::Nothing || !changed_ || state_ != State::Master || !survey_) return;
  changed_ = false;
  again_at_.reset();
  knows_tables_ ? route(now) : read_all(now);
}

void LftsRouter::read(std::vector<Block> blocks, Then then, Instant now) {
  blocks_ = std::move(blocks);
  answers_.clear();
  for (const Block& block : blocks_) answers_[{block.guid, block.number}] = std::nullopt;
  reading_.start(
      [this, survey = survey_, next = std::size_t{0}]() mutable -> std::optional<provision::Step> {
        if (next == blocks_.size()) return std::nullopt;
        const Block& block = blocks_[next];
        return provision::Step{
            .packet = transport::directed_smp({.attribute = mad::SmAttr::LinearForwardingTable,
                                               .modifier = block.number,
                                               .m_key = options_.m_key},
                                              survey->node(block.node).path),
            .agent = transport::agent_of(block.guid),
            .tag = next++};
      },
      [this](std::uint64_t tag, const transport::Completion& completion) {
        if (completion.outcome != Outcome::Answered) return;
        const Block& block = blocks_[tag];
        answers_[{block.guid, block.number}] =
            mad::decode<mad::LftBlock>(mad::smp_data(completion.answer->mad));
      },
      [this, then](Instant at) { (this->*then)(at); }, now);
}

void LftsRouter::read_all(Instant now) {
  doing_ = Doing::Reading;
  in_force_.forget();
  std::vector<Block> blocks;
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    if (!node.is_switch()) continue;
    const std::size_t top = node.switch_info ? node.switch_info->linear_fdb_top : 0;
    for (std::uint32_t b = 0; top != 0 && b * lids_per_block <= top; ++b) {
      blocks.push_back({NodeIndex{i}, node.guid(), b});
    }
  }
  read(std::move(blocks), &LftsRouter::route, now);
}

void LftsRouter::route(Instant now) {
  if (doing_ == Doing::Reading) {
    doing_ = Doing::Nothing;
    knows_tables_ = true;
    for (const Block& block : blocks_) {
      const auto found = answers_.find({block.guid, block.number});
      if (!found->second) continue;
      std::vector<std::uint8_t> row(std::size_t{block.number} * lids_per_block, no_path.raw());
      std::vector<std::uint8_t> other(row.size(), 0);  // of blocks before, this one says nothing
      for (const PortNum port : found->second->ports) {
        row.push_back(port.raw());
        other.push_back(port.raw());
      }
      in_force_.confirm(block.guid, row, other);
    }
  }
  // Whose own switch did not answer a sweep sees none; a file without tables OpenSM does not take.
  if (survey_->fabric->switch_count() == 0) {
    trouble_ = "no tables for OpenSM: no switch is in sight";
    return give_up_for_now(now);
  }
  planned::SubnetRecords records = records_of(*survey_, routed_);
  (void)hosts_.recall(records);
  std::vector<LinkRef> absent = cables_.missing(records);
  const plan::Plan& plan = store_.plan();
  away_.recall(records, absent, &plan);
  absent.insert(absent.end(), plan.off.begin(), plan.off.end());
  planned::Subnet subnet = planned::make_subnet(std::move(records), absent);
  released_.keep(plan.off);
  subnet.released = released_.links();
  auto routes = maker_.make(subnet, plan.epoch != 0 ? &plan : nullptr, options_.lmc, &in_force_);
  if (!routes) {
    trouble_ = "no tables for OpenSM: " + routes.error().message;
    return give_up_for_now(now);
  }
  routes_ = std::move(*routes);
  epoch_ = plan.epoch;
  off_ = plan.off;
  routed_.clear();
  for (const Link& link : subnet.fabric->links()) {
    const LinkIndex index = subnet.fabric->port(subnet.fabric->port_index(link.a)).link;
    if (subnet.usable.contains(index)) routed_.insert(link_ref(*subnet.fabric, link));
  }
  unseen_ = subnet.away;
  in_force_.keep(planned::switches_in_sight(subnet));
  const auto packets = now < packets_gone_ ? planned::Packets::UnderWay : planned::Packets::Gone;
  if (packets == planned::Packets::Gone) in_force_.forget_packets();
  pass_ = maker_.next_pass(subnet, *routes_, in_force_, packets);
  if (file_ == pass_.tables && !pass_.writes) return confirmed(now);
  handed_at_ = now;
  patience_ = first_look_after;
  hand_over();
}

void LftsRouter::hand_over() {
  doing_ = Doing::Handing;
  const auto result = std::make_shared<Result<void>>();
  const auto graph = std::make_shared<const routing::SwitchGraph>(maker_.router().graph());
  desk_.run([put = options_.put, graph, fabric = routes_->fabric, tables = pass_.tables, unseen = unseen_,
             result] { *result = put(routing::write_lft_dump(*fabric, *graph, tables, unseen)); },
            [this, alive = std::weak_ptr(alive_), result] {
              if (!alive.expired()) handed_over(*result, desk_.now());
            });
}

void LftsRouter::handed_over(const Result<void>& result, Instant now) {
  if (!result) {
    trouble_ = "OpenSM does not get its tables: " + result.error().message;
    return give_up_for_now(now);
  }
  file_ = pass_.tables;
  check(now);
}

/// What is handed over again is made anew: much may have happened.
void LftsRouter::give_up_for_now(Instant now) {
  doing_ = Doing::Nothing;
  file_.reset();
  // Whoever waits for these tables need not wait on.
  PluginEvent event;
  event.kind = PluginEvent::Kind::Plan;
  event.epoch = epoch_;
  event.message = trouble_;
  due_.at(now, [this, event](Instant at) { listener_.event(event, at); });
  again_at_ = now + again_after;
  begin(now);
}

void LftsRouter::check(Instant now) {
  doing_ = Doing::Checking;
  const routing::SwitchGraph& graph = maker_.router().graph();
  const auto now_there = in_force_.of(graph, routes_->tables.top());
  std::vector<Block> blocks;
  for (const routing::BlockRef& at : routing::differing_blocks(now_there, pass_.tables)) {
    const NodeGuid guid = graph.guid(at.sw);
    const NodeIndex node = survey_->fabric->find_node(guid);
    if (node != no_node) blocks.push_back({node, guid, at.block});
  }
  read(std::move(blocks), &LftsRouter::checked, now);
}

void LftsRouter::checked(Instant now) {
  const routing::SwitchGraph& graph = maker_.router().graph();
  std::size_t behind = 0;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (is_away(graph.guid(SwitchIndex{s}))) continue;
    const auto asked = pass_.tables.row(SwitchIndex{s});
    std::vector<std::uint8_t> has(asked.begin(), asked.end());
    bool differs = false;
    for (std::uint32_t block = 0; block < pass_.tables.blocks(); ++block) {
      const auto found = answers_.find({graph.guid(SwitchIndex{s}), block});
      if (found == answers_.end()) continue;
      for (std::size_t i = 0; i < lids_per_block; ++i) {
        std::uint8_t& entry = has[block * lids_per_block + i];
        const bool same = found->second && found->second->ports[i].raw() == entry;
        if (!same) entry = static_cast<std::uint8_t>(~entry);
        differs = differs || !same;
      }
    }
    in_force_.confirm(graph.guid(SwitchIndex{s}), has, asked);
    behind += differs ? 1 : 0;
  }
  if (behind == 0) return confirmed(now);
  if (now - handed_at_ >= again_after) {
    trouble_ = fmt::format(
        "OpenSM has not given {} switches the tables that are in opensm.lfts_file: see that its "
        "configuration "
        "has `routing_engine file,no_fallback` and that path as `lfts_file`, and that something tells it to "
        "read it again (opensm.reload, docs/opensm.md)",
        behind);
    return give_up_for_now(now);
  }
  if (changed_) {
    doing_ = Doing::Nothing;
    return begin(now);
  }
  due_.at(now + patience_, [this](Instant at) {
    if (doing_ == Doing::Checking) check(at);
  });
  patience_ = std::min(2 * patience_, longest_between_looks);
}

void LftsRouter::confirmed(Instant now) {
  doing_ = Doing::Nothing;
  in_force_.end_pass();
  trouble_.clear();
  if (!std::exchange(looks_, true)) due_.at(now + look_every, [this](Instant at) { look(at); });
  if (pass_.writes) {
    packets_gone_ = now + packet_life();
    wrote_ = true;
  }
  if (pass_.behind != 0) {
    again_at_ = pass_.writes ? now : packets_gone_;
    return begin(now);
  }
  PluginEvent event;
  event.kind = PluginEvent::Kind::RoutingDone;
  event.epoch = epoch_;
  event.reroute = true;
  event.unconnected = routes_->unconnected;
  event.relaxed = routes_->relaxed || pass_.relaxed;
  if (!event.relaxed) released_.confirmed(off_);
  event.staying = pass_.staying;
  event.stages = routes_->stages;
  event.blocks = std::exchange(wrote_, false) ? 1 : 0;
  event.packet_life = std::chrono::duration_cast<std::chrono::microseconds>(packet_life());
  due_.at(now, [this, event](Instant at) {
    listener_.event(event, at);
    begin(at);
  });
}

bool LftsRouter::is_away(NodeGuid guid) const { return std::ranges::binary_search(unseen_, guid); }

FabricClock::duration LftsRouter::packet_life() const {
  if (const auto& said = store_.plan().packet_life) return *said;
  std::vector<std::uint8_t> values;
  for (const SurveyNode& node : survey_->nodes) {
    if (node.switch_info) values.push_back(node.switch_info->life_time);
  }
  return routing::packet_life(values, values.size(), routing::default_packet_life);
}

}  // namespace heddle::lfts
