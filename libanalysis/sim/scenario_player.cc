#include "sim/scenario_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "sim/scenario_hosts.h"

namespace heddle::sim {
namespace {

/// Random numbers of their own for every purpose, start and change of a phase.
Random random_for(const Phase& phase, std::uint64_t round, std::uint64_t change) {
  return Random(phase.seed * 0x9e3779b97f4a7c15ULL + round * 0xbf58476d1ce4e5b9ULL + change);
}

constexpr std::uint64_t choice_of_hosts = ~std::uint64_t{0};

std::size_t flows_per_sender(const Phase& phase) {
  switch (phase.pattern) {
    case Pattern::Uniform:
    case Pattern::AllToAll:
    case Pattern::Hotspot:
      return phase.destinations + 1;
    default:
      return 1;
  }
}

/// Simulated time ends; nothing is scheduled behind it.
Picoseconds after(Picoseconds at, Picoseconds delay) { return at > forever - delay ? forever : at + delay; }

bool comes_again(const Phase& phase, std::uint32_t round) {
  return phase.repeat.count() > 0 && (phase.rounds == 0 || round + 1 < phase.rounds);
}

}  // namespace

std::string_view to_string(PhaseState state) {
  switch (state) {
    case PhaseState::Waiting:
      return "waiting";
    case PhaseState::Running:
      return "running";
    case PhaseState::Over:
      return "over";
  }
  return "unknown";
}

Result<void> ScenarioPlayer::add(const Scenario& scenario, Picoseconds from) {
  std::vector<Playing> prepared;
  for (const Phase& phase : scenario.phases) {
    auto playing = prepare(phase, from);
    if (!playing) return fail(playing.error());
    prepared.push_back(std::move(*playing));
  }
  for (Playing& playing : prepared) enlist(std::move(playing));
  return {};
}

Result<PhaseId> ScenarioPlayer::add(const Phase& phase, Picoseconds from) {
  auto playing = prepare(phase, from);
  if (!playing) return fail(playing.error());
  return enlist(std::move(*playing));
}

Result<ScenarioPlayer::Playing> ScenarioPlayer::prepare(const Phase& phase, Picoseconds from) const {
  const std::string context = fmt::format("{}: {}", phase.place, in_quotes(phase.name));
  Playing playing;
  playing.phase = phase;
  playing.from = from;
  if (phase.pattern == Pattern::Flows) {
    if (auto found = find_listed(playing); !found) return fail(context, found.error());
    return playing;
  }
  Random random = random_for(phase, choice_of_hosts, 0);
  auto senders = select_hosts(fabric_, phase.hosts, random);
  if (!senders) return fail(context + ": hosts", senders.error());
  playing.senders = std::move(*senders);
  playing.receivers = playing.senders;
  if (phase.to) {
    auto receivers = select_hosts(fabric_, *phase.to, random);
    if (!receivers) return fail(context + ": to", receivers.error());
    playing.receivers = std::move(*receivers);
  }
  const std::size_t each = std::min(flows_per_sender(phase), playing.receivers.size());
  if (playing.senders.size() * each > most_flows) {
    return fail(ErrorCode::Invalid,
                fmt::format("{}: {} hosts with {} destinations are more than {} flows: give fewer "
                            "hosts or fewer destinations",
                            context, playing.senders.size(), each, most_flows));
  }
  return playing;
}

Result<void> ScenarioPlayer::find_listed(Playing& playing) const {
  const std::vector<PortIndex> ports = host_ports(fabric_);
  const auto find = [&](const std::string& name) {
    const auto found = std::find_if(ports.begin(), ports.end(), [&](PortIndex port) {
      return host_name_matches(name, fabric_.node(fabric_.port(port).node).description);
    });
    return found == ports.end() ? no_port : *found;
  };
  for (const ListedFlow& flow : playing.phase.flows) {
    const PortIndex from = find(flow.from);
    const PortIndex to = find(flow.to);
    if (from == no_port || to == no_port) {
      return fail(ErrorCode::NotFound, fmt::format("flows: no host with a cable is called {}",
                                                   in_quotes(from == no_port ? flow.from : flow.to)));
    }
    if (from == to) {
      return fail(ErrorCode::Invalid, fmt::format("flows: from {} to {} is from a host to itself",
                                                  in_quotes(flow.from), in_quotes(flow.to)));
    }
    playing.senders.push_back(from);
    playing.listed.push_back({from, to, flow.load});
  }
  return {};
}

PhaseId ScenarioPlayer::enlist(Playing playing) {
  const auto index = static_cast<std::uint32_t>(phases_.size());
  const Picoseconds at = after(playing.from, playing.phase.start);
  phases_.push_back(std::move(playing));
  schedule(index, Step::Start, at);
  return PhaseId{index};
}

Result<void> ScenarioPlayer::remove(PhaseId id, TrafficPlane& plane, Picoseconds now) {
  plane.advance(now);
  if (id.raw() >= phases_.size() || phases_[id.raw()].removed) {
    return fail(ErrorCode::NotFound, fmt::format("there is no traffic with the number {}", id.raw()));
  }
  Playing& playing = phases_[id.raw()];
  silence(playing, plane, now);
  playing = Playing{};
  playing.removed = true;
  playing.state = PhaseState::Over;
  return {};
}

std::vector<PhaseStatus> ScenarioPlayer::status(TrafficPlane& plane, Picoseconds now) const {
  plane.advance(now);
  std::vector<PhaseStatus> result;
  for (std::uint32_t i = 0; i < phases_.size(); ++i) {
    const Playing& playing = phases_[i];
    if (playing.removed) continue;
    PhaseStatus status{PhaseId{i},
                       playing.phase.name,
                       playing.phase.pattern,
                       playing.state,
                       playing.senders.size(),
                       playing.flows.size(),
                       {},
                       {}};
    for (const Sender& sender : playing.flows) {
      status.wanted += plane.flow(sender.flow).demand;
      status.delivered += plane.rate(sender.flow, now);
    }
    result.push_back(std::move(status));
  }
  return result;
}

void ScenarioPlayer::schedule(std::uint32_t phase, Step step, Picoseconds at) {
  if (at != forever) events_.push({at, step, phase, phases_[phase].round});
}

std::optional<Picoseconds> ScenarioPlayer::next() const {
  if (events_.empty()) return std::nullopt;
  return events_.top().at;
}

void ScenarioPlayer::run(TrafficPlane& plane, Picoseconds at) {
  while (!events_.empty() && events_.top().at <= at) {
    const Event event = events_.top();
    events_.pop();
    Playing& playing = phases_[event.phase];
    const bool stale =
        event.round != playing.round || (event.step != Step::Start && playing.state != PhaseState::Running);
    if (playing.removed || stale) continue;
    switch (event.step) {
      case Step::Start:
        start(event.phase, plane, event.at, at);
        break;
      case Step::End:
        end(event.phase, plane, at);
        break;
      case Step::Change:
        silence(playing, plane, at);
        ++playing.changes;
        send(playing, plane, at);
        schedule(event.phase, Step::Change, after(event.at, playing.phase.change));
        break;
      case Step::Load:
        for (const Sender& sender : playing.flows) {
          plane.set_demand(sender.flow, sender.most * load_at(playing, at), at);
        }
        schedule(event.phase, Step::Load, after(event.at, playing.phase.curve.step));
        break;
    }
  }
}

void ScenarioPlayer::postpone(Picoseconds by) {
  for (auto before = std::exchange(events_, {}); !before.empty(); before.pop()) {
    Event event = before.top();
    event.at = after(event.at, by);
    events_.push(event);
  }
  for (Playing& playing : phases_) {
    if (playing.state == PhaseState::Running) playing.started = after(playing.started, by);
  }
}

void ScenarioPlayer::start(std::uint32_t index, TrafficPlane& plane, Picoseconds due, Picoseconds at) {
  Playing& playing = phases_[index];
  const Phase& phase = playing.phase;
  playing.state = PhaseState::Running;
  playing.started = due;
  playing.changes = 0;
  send(playing, plane, at);
  schedule(index, Step::End, after(playing.started, phase.length));
  if (phase.change.count() > 0) schedule(index, Step::Change, after(playing.started, phase.change));
  if (phase.curve.step.count() > 0) schedule(index, Step::Load, after(playing.started, phase.curve.step));
}

void ScenarioPlayer::end(std::uint32_t index, TrafficPlane& plane, Picoseconds at) {
  Playing& playing = phases_[index];
  silence(playing, plane, at);
  playing.state = PhaseState::Over;
  if (!comes_again(playing.phase, playing.round)) return;
  playing.state = PhaseState::Waiting;
  ++playing.round;
  schedule(index, Step::Start, after(playing.started, playing.phase.repeat));
}

double ScenarioPlayer::load_at(const Playing& playing, Picoseconds at) {
  return std::clamp(playing.phase.load * playing.phase.curve.at(at - playing.started), 0.0, 1.0);
}

void ScenarioPlayer::send(Playing& playing, TrafficPlane& plane, Picoseconds at) {
  std::vector<TrafficPair> pairs = playing.listed;
  if (playing.phase.pattern != Pattern::Flows) {
    Random random = random_for(playing.phase, playing.round, playing.changes);
    pairs = make_pairs(playing.phase, playing.senders, playing.receivers, random);
  }
  const double load = load_at(playing, at);
  for (const TrafficPair& pair : pairs) {
    const Port& port = fabric_.port(pair.from);
    const BitRate most = data_rate(port.width, port.speed) * pair.share;
    const auto flow =
        plane.add({.from = pair.from, .to = pair.to, .sl = playing.phase.sl, .demand = most * load}, at);
    if (flow) playing.flows.push_back({*flow, most});
  }
}

void ScenarioPlayer::silence(Playing& playing, TrafficPlane& plane, Picoseconds at) {
  for (const Sender& sender : playing.flows) plane.remove(sender.flow, at);
  playing.flows.clear();
}

}  // namespace heddle::sim
