#include "discovery/sweep.h"

#include <fmt/format.h>

#include <utility>

#include "transport/requests.h"

namespace heddle::discovery {
namespace {

using transport::Completion;
using transport::Outcome;

/// Enough for a window of any use, with a few requests to each agent, and no burden on the engine's memory.
constexpr std::size_t most_in_engine = 2048;

}  // namespace

Sweep::Sweep(transport::TransactionEngine& engine, const SweepOptions& options, transport::Pace& pace,
             Problems& problems, Done done)
    : engine_{engine}, options_{options}, pace_{pace}, problems_{problems}, done_{std::move(done)} {}

std::uint64_t Sweep::pack(const Task& task) {
  return (std::uint64_t{task.node} << 32U) | (std::uint64_t{task.run} << 16U) |
         (std::uint64_t{task.port.raw()} << 8U) | static_cast<std::uint64_t>(task.op);
}

Sweep::Task Sweep::unpack(std::uint64_t context) {
  return {.op = static_cast<Op>(context & 0xffU),
          .port = PortNum{static_cast<std::uint8_t>(context >> 8U)},
          .run = static_cast<std::uint16_t>(context >> 16U),
          .node = static_cast<Index>(context >> 32U)};
}

void Sweep::begin() {
  abandon();
  running_ = true;
  problems_ = {};
  failure_.reset();
  nodes_.clear();
  index_.clear();
  suspected_.clear();
  trained_.clear();
  asked_again_.clear();
  unanswered_.clear();
  way_lost_ = false;
}

void Sweep::abandon() {
  running_ = false;
  ++run_;
  asked_ = 0;
  wake_.reset();
  tasks_.clear();
}

void Sweep::start_full(Instant now) {
  begin();
  partial_ = false;
  // The local node has no record yet: slot 0 is kept for it.
  nodes_.emplace_back();
  ask(Op::Identify, 0);
  pump(now);
}

void Sweep::start_partial(const Survey& from, std::span<const NodeGuid> suspects, Instant now) {
  begin();
  partial_ = true;
  nodes_ = from.nodes;
  local_ = from.node(from.local).guid();
  for (Index i = 0; i < nodes_.size(); ++i) index_.emplace(nodes_[i].guid(), i);
  suspected_.assign(nodes_.size(), 0);
  for (const NodeGuid guid : suspects) {
    if (const auto it = index_.find(guid); it != index_.end()) suspect(it->second);
  }
  pump(now);
}

void Sweep::suspect(Index node) {
  if (is_asked(node)) return;
  suspected_[node] = 1;
  ask(Op::Identify, node);
}

void Sweep::ask(Op op, Index node, PortNum port) { tasks_.push_back({op, port, run_, node}); }

bool Sweep::may_send(Instant now) {
  if (manner_ == Manner::Owner || !pace_.is_limited()) return asked_ < most_in_engine;
  if (asked_ >= transport::Pace::most_asked) return false;
  wake_ = is_behind_others_ ? pace_.take(now, promise_) : pace_.take(now);
  return !wake_;
}

void Sweep::pump(Instant now) {
  wake_.reset();
  if (running_ && asked_ == 0 && tasks_.empty()) ask_again_elsewhere();
  if (running_ && asked_ == 0 && tasks_.empty()) ask_ends_that_differ();
  while (running_ && !tasks_.empty() && may_send(now)) {
    if (std::exchange(way_lost_, false)) find_ways();
    const Task task = tasks_.front();
    tasks_.pop_front();
    submit(task, now);
  }
  if (running_ && asked_ == 0 && tasks_.empty()) finish(now);
}

void Sweep::submit(const Task& task, Instant now) {
  const SurveyNode& node = nodes_[task.node];
  transport::SmpRequest what{.m_key = options_.m_key};
  std::vector<PortNum> path = node.path;
  transport::AgentKey agent = transport::agent_of(node.guid());
  switch (task.op) {
    case Op::Probe:
      path.push_back(task.port);
      agent = transport::agent_behind({node.guid(), task.port});
      break;
    case Op::Identify:
      break;
    case Op::Description:
      what.attribute = mad::SmAttr::NodeDescription;
      break;
    case Op::SwitchInfo:
      what.attribute = mad::SmAttr::SwitchInfo;
      break;
    case Op::ClearChange:
      what.attribute = mad::SmAttr::SwitchInfo;
      what.method = mad::Method::Set;
      break;
    case Op::PortInfo:
      what.attribute = mad::SmAttr::PortInfo;
      what.modifier = task.port.raw() | mad::knows_extended_speeds;
      break;
    case Op::PlainPortInfo:
      what.attribute = mad::SmAttr::PortInfo;
      what.modifier = task.port.raw();
      break;
    case Op::ExtendedPort:
      what.attribute = mad::SmAttr::MlnxExtPortInfo;
      what.modifier = task.port.raw();
      break;
  }
  mad::Packet packet = transport::directed_smp(what, path);
  if (task.op == Op::ClearChange) {
    mad::SwitchInfo info = *node.switch_info;
    info.port_state_change = true;  // writing 1 clears it
    mad::encode(info, mad::smp_data(packet.mad));
  }
  // A probe must find out whether something has come back; so must the first question of a sweep.
  const bool must_ask = task.op == Op::Probe || task.op == Op::Identify;
  const transport::Request request{
      .packet = packet,
      .agent = agent,
      .patience = transport::Patience::Brisk,
      .on_silence = must_ask ? transport::OnSilence::Ask : transport::OnSilence::FailFast};
  if (auto taken = engine_.submit(request, *this, pack(task), now); !taken) {
    give_up(taken.error());
  } else {
    ++asked_;
  }
}

void Sweep::give_up(Error error) {
  if (!failure_) failure_ = std::move(error);
  tasks_.clear();
}

void Sweep::finish(Instant now) {
  running_ = false;
  ++run_;
  if (!partial_ && !nodes_.empty() && nodes_[0].ports.empty() && !failure_) {
    failure_ = Error{ErrorCode::Unreachable, "the local node does not answer a NodeInfo: is its port up?"};
  }
  Collected collected{std::exchange(nodes_, {}), local_, std::exchange(failure_, std::nullopt)};
  done_(std::move(collected), now);
}

void Sweep::on_completion(const Completion& completion) {
  const Task task = unpack(completion.context);
  if (!running_ || task.run != run_) return;
  --asked_;
  if (completion.outcome == Outcome::Stopped) {
    give_up({ErrorCode::Unreachable, "stopped during a sweep"});
  } else if (!failure_) {
    if (completion.outcome == Outcome::Answered) {
      answered(task, *completion.answer);
    } else {
      unanswered(task, completion);
    }
  }
  pump(completion.now);
}

void Sweep::find_ways() {
  const auto local = index_.find(local_);
  if (local == index_.end()) return;
  std::vector<char> reached(nodes_.size(), 0);
  std::vector<Index> queue{local->second};
  reached[local->second] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const SurveyNode& from = nodes_[queue[i]];
    // Only switches forward directed routes, and the local node begins them: at the port that we sit on.
    if ((!from.is_switch() && i > 0) || from.path.size() >= mad::DirectedRoute::max_hops) continue;
    for (std::size_t p = 1; p < from.ports.size(); ++p) {
      if (!from.is_switch() && p != from.info.local_port.raw()) continue;
      const auto& peer = from.ports[p].peer;
      const auto to = peer ? index_.find(peer->node) : index_.end();
      if (to == index_.end() || reached[to->second] != 0) continue;
      reached[to->second] = 1;
      nodes_[to->second].path = from.path;
      nodes_[to->second].path.push_back(PortNum{static_cast<std::uint8_t>(p)});
      queue.push_back(to->second);
    }
  }
}

void Sweep::ask_again_elsewhere() {
  if (std::exchange(way_lost_, false)) find_ways();
  for (const auto& [node, way] : std::exchange(unanswered_, {})) {
    if (nodes_[node].path == way) {
      give_up(
          {ErrorCode::Unreachable, fmt::format("{} does not answer where it was", name_of(nodes_[node]))});
      return;
    }
    ask(Op::Identify, node);
  }
}

/// A link may come or go between the questions to its two ends.
void Sweep::ask_ends_that_differ() {
  if (failure_) return;
  for (Index i = 0; i < nodes_.size(); ++i) {
    if (!is_asked(i)) continue;
    for (std::size_t p = 1; p < nodes_[i].ports.size(); ++p) {
      const auto& peer = nodes_[i].ports[p].peer;
      const auto to = peer ? index_.find(peer->node) : index_.end();
      if (to == index_.end()) continue;
      const SurveyPort& back = nodes_[to->second].ports[peer->port.raw()];
      const PortNum port{static_cast<std::uint8_t>(p)};
      if (!back.known || back.info.state != PortState::Down || !asked_again_.insert({i, port}).second)
        continue;
      ask(Op::PortInfo, i, port);
      ask(Op::PortInfo, to->second, peer->port);
    }
  }
}

}  // namespace heddle::discovery
