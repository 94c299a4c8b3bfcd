#include "discovery/light_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "transport/requests.h"

namespace heddle::discovery {
namespace {

using transport::Outcome;

constexpr std::size_t most_asked_at_once = 512;

/// What a snapshot takes from a port of a switch.
bool same(const mad::PortInfo& x, const mad::PortInfo& y) {
  return x.state == y.state && x.physical == y.physical && x.lid == y.lid &&
         x.link_width_active == y.link_width_active && mad::active_speed(x) == mad::active_speed(y);
}

}  // namespace

LightSweep::LightSweep(transport::TransactionEngine& engine, std::uint64_t m_key, Done done)
    : engine_{engine}, m_key_{m_key}, done_{std::move(done)} {}

void LightSweep::start(std::shared_ptr<const Survey> survey, LookAt look_at, Instant now) {
  survey_ = std::move(survey);
  ++run_;
  running_ = true;
  asked_ = 0;
  tasks_.clear();
  found_ = {};
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    const Op of_switch = look_at == LookAt::ChangeBits ? Op::SwitchInfo : Op::Port;
    tasks_.push_back({node.is_switch() ? of_switch : Op::Identify, PortNum{0}, NodeIndex{i}});
    // What the last sweep could not learn of a switch may hide what is behind it.
    const auto is_unknown = [](const SurveyPort& port) { return !port.known; };
    if (node.is_switch() && std::any_of(node.ports.begin(), node.ports.end(), is_unknown)) {
      found_.nodes.push_back(node.guid());
    }
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      if (node.ports[p].silent) {
        tasks_.push_back({Op::Probe, PortNum{static_cast<std::uint8_t>(p)}, NodeIndex{i}});
      }
    }
  }
  pump(now);
}

void LightSweep::pump(Instant now) {
  while (!tasks_.empty() && asked_ < most_asked_at_once) {
    const Task task = tasks_.front();
    tasks_.pop_front();
    const SurveyNode& node = survey_->node(task.node);
    std::vector<PortNum> path = node.path;
    if (task.op == Op::Probe) path.push_back(task.port);
    transport::SmpRequest what{.attribute = mad::SmAttr::NodeInfo, .m_key = m_key_};
    if (task.op == Op::SwitchInfo) what.attribute = mad::SmAttr::SwitchInfo;
    if (task.op == Op::Port) {
      what.attribute = mad::SmAttr::PortInfo;
      what.modifier = task.port.raw();
    }
    const mad::Packet packet = transport::directed_smp(what, path);
    const bool probe = task.op == Op::Probe;
    const transport::Request request{
        .packet = packet,
        .agent = probe ? transport::agent_behind({node.guid(), task.port}) : transport::agent_of(node.guid()),
        .patience = probe ? transport::Patience::Once : transport::Patience::Normal,
        // The first question of a switch tells whether it is there.
        .on_silence = task.op == Op::Port && task.port != PortNum{0} ? transport::OnSilence::FailFast
                                                                     : transport::OnSilence::Ask};
    const std::uint64_t context = (std::uint64_t{task.node.raw()} << 32U) | (std::uint64_t{run_} << 16U) |
                                  (std::uint64_t{task.port.raw()} << 8U) |
                                  static_cast<std::uint64_t>(task.op);
    if (const auto taken = engine_.submit(request, *this, context, now); !taken) {
      found_.failure = taken.error();
      tasks_.clear();
      break;
    }
    ++asked_;
  }
  if (running_ && asked_ == 0 && tasks_.empty()) {
    running_ = false;
    done_(std::exchange(found_, {}), now);
  }
}

void LightSweep::on_completion(const transport::Completion& completion) {
  const auto run = static_cast<std::uint16_t>(completion.context >> 16U);
  if (!running_ || run != run_) return;
  --asked_;
  const Task task{.op = static_cast<Op>(completion.context & 0xffU),
                  .port = PortNum{static_cast<std::uint8_t>(completion.context >> 8U)},
                  .node = NodeIndex{static_cast<std::uint32_t>(completion.context >> 32U)}};
  if (completion.outcome == Outcome::Stopped) {
    found_.failure = Error{ErrorCode::Unreachable, "stopped during a light sweep"};
    tasks_.clear();
  } else {
    judge(task, completion);
  }
  pump(completion.now);
}

void LightSweep::look_at_port(const Task& task, const transport::Completion& completion) {
  const SurveyNode& node = survey_->node(task.node);
  if (completion.outcome != Outcome::Answered) {
    if (completion.outcome != Outcome::Refused) found_.lost = true;
    return;
  }
  const SurveyPort& known = node.ports[task.port.raw()];
  const auto info = mad::decode<mad::PortInfo>(mad::smp_data(completion.answer->mad));
  if (!known.known || !same(known.info, info)) found_.nodes.push_back(node.guid());
  if (task.port != PortNum{0}) return;
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    tasks_.push_back({Op::Port, PortNum{static_cast<std::uint8_t>(p)}, task.node});
  }
}

void LightSweep::judge(const Task& task, const transport::Completion& completion) {
  const SurveyNode& node = survey_->node(task.node);
  const bool answered = completion.outcome == Outcome::Answered;
  switch (task.op) {
    case Op::SwitchInfo:
      // One that does not answer may be there still, by another way than over a cable that was lost.
      if (completion.outcome != Outcome::Refused &&
          (!answered ||
           mad::decode<mad::SwitchInfo>(mad::smp_data(completion.answer->mad)).port_state_change)) {
        found_.nodes.push_back(node.guid());
      }
      break;
    case Op::Port:
      look_at_port(task, completion);
      break;
    case Op::Probe:
      if (answered) found_.nodes.push_back(node.guid());
      break;
    case Op::Identify: {
      if (answered &&
          mad::decode<mad::NodeInfo>(mad::smp_data(completion.answer->mad)).node_guid == node.guid()) {
        break;
      }
      // Its switch knows what became of it; a channel adapter has no say.
      const NodeIndex index = task.node;
      const Fabric& fabric = *survey_->fabric;
      for (std::size_t p = 1; p < node.ports.size(); ++p) {
        const auto peer = fabric.peer({index, PortNum{static_cast<std::uint8_t>(p)}});
        if (peer) found_.nodes.push_back(fabric.node(peer->node).guid);
      }
      if (index == survey_->local) found_.lost = true;
      break;
    }
  }
}

}  // namespace heddle::discovery
