#include "discovery/light_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "transport/requests.h"

namespace heddle::discovery {
namespace {

using transport::Outcome;

constexpr std::size_t most_asked_at_once = 512;

bool is_unicast(Lid lid) { return lid != no_lid && lid <= last_unicast_lid; }

/// A port is asked here without saying that extended speeds are known: that is what every firmware answers.
/// Some show them as QDR then.
bool same_speed(const mad::PortInfo& known, const mad::PortInfo& shown) {
  const LinkSpeed before = mad::active_speed(known);
  const LinkSpeed after = mad::active_speed(shown);
  const bool kept_to_itself =
      before > LinkSpeed::Qdr && (after == LinkSpeed::Qdr || after == LinkSpeed::None);
  return before == after || kept_to_itself;
}

/// What a snapshot takes from a port.
bool same(const mad::PortInfo& known, const mad::PortInfo& shown) {
  return known.state == shown.state && known.physical == shown.physical && known.lid == shown.lid &&
         known.link_width_active == shown.link_width_active && same_speed(known, shown);
}

}  // namespace

LightSweep::LightSweep(transport::TransactionEngine& engine, std::uint64_t m_key, transport::Pace& pace,
                       Done done)
    : engine_{engine}, m_key_{m_key}, done_{std::move(done)}, pace_{pace} {}

void LightSweep::start(std::shared_ptr<const Survey> survey, LookAt look_at, OwnPort own_port, Instant now) {
  survey_ = std::move(survey);
  ++run_;
  running_ = true;
  asked_ = 0;
  in_doubt_ = false;
  tasks_.clear();
  open_.clear();
  found_ = {};
  paced_ = look_at == LookAt::EveryPort && pace_.is_limited();
  const SurveyNode& local = survey_->node(survey_->local);
  if (own_port == OwnPort::Look && !local.is_switch()) {
    tasks_.push_back({Op::OwnPort, local.info.local_port, survey_->local});
  }
  if (!paced_ || !std::exchange(in_round_, true)) begin_round(look_at, now);
  if (paced_) {
    const PortIndex at = cursor_ ? survey_->fabric->find_port(*cursor_) : no_port;
    next_port_ = at == no_port ? 0 : at.raw();
  }
  pump(now);
}

void LightSweep::begin_round(LookAt look_at, Instant now) {
  round_began_ = now;
  cursor_.reset();
  for (std::uint32_t i = 0; i < survey_->nodes.size(); ++i) {
    const SurveyNode& node = survey_->nodes[i];
    const Op of_switch = look_at == LookAt::ChangeBits ? Op::SwitchInfo : Op::Port;
    if (!paced_) tasks_.push_back({node.is_switch() ? of_switch : Op::Identify, PortNum{0}, NodeIndex{i}});
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
}

/// At a pace: the ports of switches, from the cursor on.
std::optional<LightSweep::Task> LightSweep::next_port() {
  const Fabric& fabric = *survey_->fabric;
  while (next_port_ < fabric.ports().size()) {
    const Port& port = fabric.port(PortIndex{next_port_});
    const Node& node = fabric.node(port.node);
    if (node.type == NodeType::Switch) {
      open_.insert(next_port_++);
      return Task{Op::Port, port.num, port.node};
    }
    next_port_ = node.first_port.raw() + node.port_count + 1U;
  }
  return std::nullopt;
}

bool LightSweep::may_send(Instant now) {
  if (!paced_) return asked_ < most_asked_at_once;
  if (in_doubt_ || asked_ >= transport::Pace::most_asked) return false;
  wake_ = pace_.take(now);
  return !wake_;
}

std::optional<LightSweep::Task> LightSweep::next_task(Instant now) {
  // Whoever goes at a pace says at once what has been found.
  const bool enough = paced_ && (found_.lost || found_.failure || !found_.nodes.empty());
  if (enough) tasks_.clear();
  const bool more = !tasks_.empty() || (paced_ && !enough && next_port_ < survey_->fabric->ports().size());
  if (!more || !may_send(now)) return std::nullopt;
  if (tasks_.empty()) return next_port();
  const Task task = tasks_.front();
  tasks_.pop_front();
  return task;
}

bool LightSweep::submit(const Task& task, Instant now) {
  const SurveyNode& node = survey_->node(task.node);
  std::vector<PortNum> path = node.path;
  if (task.op == Op::Probe) path.push_back(task.port);
  transport::SmpRequest what{.attribute = mad::SmAttr::NodeInfo, .m_key = m_key_};
  if (task.op == Op::SwitchInfo) what.attribute = mad::SmAttr::SwitchInfo;
  const bool of_port = task.op == Op::Port || task.op == Op::OwnPort || task.op == Op::PortByRoute;
  if (of_port) {
    what.attribute = mad::SmAttr::PortInfo;
    what.modifier = task.port.raw();
  }
  const Lid lid = node.ports[0].info.lid;
  const bool by_lid = paced_ && task.op == Op::Port && is_unicast(lid);
  const bool probe = task.op == Op::Probe;
  const transport::AgentKey agent = by_lid  ? transport::agent_by_lid(node.guid())
                                    : probe ? transport::agent_behind({node.guid(), task.port})
                                            : transport::agent_of(node.guid());
  const transport::Request request{
      .packet = by_lid ? transport::lid_smp(what, lid) : transport::directed_smp(what, path),
      .agent = agent,
      .patience = probe ? transport::Patience::Once : transport::Patience::Normal,
      // The first question of a switch tells whether it is there.
      .on_silence = task.op == Op::Port && task.port != PortNum{0} ? transport::OnSilence::FailFast
                                                                   : transport::OnSilence::Ask};
  const std::uint64_t context = (std::uint64_t{task.node.raw()} << 32U) | (std::uint64_t{run_} << 16U) |
                                (std::uint64_t{task.port.raw()} << 8U) | static_cast<std::uint64_t>(task.op);
  if (const auto taken = engine_.submit(request, *this, context, now); !taken) {
    found_.failure = taken.error();
    tasks_.clear();
    return false;
  }
  ++asked_;
  in_doubt_ = task.op == Op::PortByRoute;
  return true;
}

void LightSweep::pump(Instant now) {
  if (!running_) return;
  wake_.reset();
  while (const auto task = next_task(now)) {
    if (!submit(*task, now)) break;
  }
  if (!running_ || asked_ > 0 || wake_ || !tasks_.empty()) return;
  running_ = false;
  if (paced_) {
    cursor_ = first_open();
    found_.whole = !cursor_;
    if (found_.whole) {
      in_round_ = false;
      round_ = now - round_began_;
    }
  }
  done_(std::exchange(found_, {}), now);
}

std::optional<Suspicion> LightSweep::interrupt() {
  if (!running_ || !paced_) return std::nullopt;
  running_ = false;
  wake_.reset();
  ++run_;  // the answers that are on their way come too late
  tasks_.clear();
  cursor_ = first_open();
  found_.whole = false;
  return std::exchange(found_, {});
}

/// The first port of a round at a pace that has not been asked, or has not answered; nothing at its end.
std::optional<PortRef> LightSweep::first_open() const {
  const Fabric& fabric = *survey_->fabric;
  const std::uint32_t first = open_.empty() ? next_port_ : std::min(*open_.begin(), next_port_);
  if (first >= fabric.ports().size()) return std::nullopt;
  return fabric.ref(PortIndex{first});
}

void LightSweep::on_completion(const transport::Completion& completion) {
  const auto run = static_cast<std::uint16_t>(completion.context >> 16U);
  if (!running_ || run != run_) return;
  --asked_;
  const Task task{.op = static_cast<Op>(completion.context & 0xffU),
                  .port = PortNum{static_cast<std::uint8_t>(completion.context >> 8U)},
                  .node = NodeIndex{static_cast<std::uint32_t>(completion.context >> 32U)}};
  if (task.op == Op::PortByRoute) in_doubt_ = false;
  if (completion.outcome == Outcome::Stopped) {
    found_.failure = Error{ErrorCode::Unreachable, "stopped during a light sweep"};
    tasks_.clear();
  } else {
    judge(task, completion);
  }
  pump(completion.now);
}

void LightSweep::look_at_own_port(const Task& task, const transport::Completion& completion) {
  if (completion.outcome != Outcome::Answered) return;  // Identify says whether the node is there
  const SurveyPort& known = survey_->node(task.node).ports[task.port.raw()];
  const auto info = mad::decode<mad::PortInfo>(mad::smp_data(completion.answer->mad));
  const bool up = info.physical == PhysState::LinkUp && info.state >= PortState::Init;
  // Whoever is alone with a cable that carries has somebody at its other end.
  const bool alone = survey_->nodes.size() == 1;
  // Another subnet manager has been here.
  const bool has_new_master = info.master_sm_lid != known.info.master_sm_lid;
  if (!known.known || !same(known.info, info) || has_new_master || (alone && up)) found_.lost = true;
}

void LightSweep::look_at_port(const Task& task, const transport::Completion& completion) {
  const SurveyNode& node = survey_->node(task.node);
  const bool is_silent = completion.outcome != Outcome::Answered && completion.outcome != Outcome::Refused;
  // The way to a LID is the tables', which may be wrong; the switch may be there all the same.
  if (is_silent && paced_ && task.op == Op::Port) {
    tasks_.push_front({Op::PortByRoute, task.port, task.node});
    return;
  }
  if (paced_) open_.erase(survey_->fabric->port_index(task.node, task.port).raw());
  if (is_silent) found_.lost = true;
  if (completion.outcome != Outcome::Answered) return;
  const SurveyPort& known = node.ports[task.port.raw()];
  const auto info = mad::decode<mad::PortInfo>(mad::smp_data(completion.answer->mad));
  if (!known.known || !same(known.info, info)) found_.nodes.push_back(node.guid());
  if (paced_ || task.port != PortNum{0}) return;
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
    case Op::OwnPort:
      look_at_own_port(task, completion);
      break;
    case Op::Port:
    case Op::PortByRoute:
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
