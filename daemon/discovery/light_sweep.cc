#include "discovery/light_sweep.h"

#include <fmt/format.h>

#include <utility>

#include "transport/requests.h"

namespace heddle::discovery {
namespace {

using transport::Outcome;

constexpr std::size_t most_in_engine = 512;

}  // namespace

LightSweep::LightSweep(transport::TransactionEngine& engine, std::uint64_t m_key, Done done)
    : engine_{engine}, m_key_{m_key}, done_{std::move(done)} {}

void LightSweep::start(std::shared_ptr<const Survey> survey, Instant now) {
  survey_ = std::move(survey);
  ++run_;
  running_ = true;
  asked_ = 0;
  tasks_.clear();
  found_ = {};
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    tasks_.push_back({node.is_switch() ? Op::SwitchInfo : Op::Identify, PortNum{0}, NodeIndex{i}});
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      if (node.ports[p].silent) {
        tasks_.push_back({Op::Probe, PortNum{static_cast<std::uint8_t>(p)}, NodeIndex{i}});
      }
    }
  }
  pump(now);
}

void LightSweep::pump(Instant now) {
  while (!tasks_.empty() && asked_ < most_in_engine) {
    const Task task = tasks_.front();
    tasks_.pop_front();
    const SurveyNode& node = survey_->node(task.node);
    std::vector<PortNum> path = node.path;
    if (task.op == Op::Probe) path.push_back(task.port);
    const mad::Packet packet = transport::directed_smp(
        {.attribute = task.op == Op::SwitchInfo ? mad::SmAttr::SwitchInfo : mad::SmAttr::NodeInfo,
         .m_key = m_key_},
        path);
    const bool probe = task.op == Op::Probe;
    const transport::Request request{
        .packet = packet,
        .agent = probe ? transport::agent_behind({node.guid(), task.port}) : transport::agent_of(node.guid()),
        .patience = probe ? transport::Patience::Once : transport::Patience::Normal,
        .on_silence = transport::OnSilence::Ask};
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
