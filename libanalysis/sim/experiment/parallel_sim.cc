#include "sim/experiment/parallel_sim.h"

#include <algorithm>
#include <barrier>
#include <thread>

namespace heddle::packet {
namespace {

/// Adaptive choices look at room. Lifetimes give room back in the middle of a cycle, all else between cycles.
bool sees_order(const DataPlane& plane) {
  const bool adaptive =
      plane.up_routing == UpRouting::Adaptive || plane.trunk_routing == TrunkRouting::Adaptive;
  return adaptive && plane.head_lifetime > 0;
}

/// What leads from one part to another is told that it does.
void mark_borders(Network& net, const Division& division) {
  for (std::uint32_t id = 0; id < net.ports.size(); ++id) {
    Port& port = net.ports[id];
    if (port.far == nothing || port.to_host || division.of_port[id] == division.of_port[port.peer]) continue;
    port.abroad = true;
    net.inputs[port.far].abroad = true;
  }
}

template <class T, class F>
T sum(const std::vector<std::unique_ptr<PacketSim>>& parts, F&& of) {
  T all = of(*parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) all += of(*parts[i]);
  return all;
}

}  // namespace

/// Where the threads of a run meet before each window: everybody says what it knows of next.
struct ParallelSim::Meeting {
  explicit Meeting(std::size_t parts) : barrier{static_cast<std::ptrdiff_t>(parts)}, next(parts) {}

  struct alignas(cache_line) Next {
    Cycle of_turn[2] = {never, never};
  };
  std::barrier<> barrier;
  std::vector<Next> next;

  [[nodiscard]] Cycle earliest(unsigned turn) const {
    Cycle least = never;
    for (const Next& part : next) least = std::min(least, part.of_turn[turn]);
    return least;
  }
};

Result<ParallelSim> ParallelSim::make(Network network, unsigned parts, PartThreads threads) {
  ParallelSim made;
  made.look_ahead_ = look_ahead(network.plane);
  made.threads_ = threads;
  const auto division =
      std::make_shared<const Division>(divide(network, sees_order(network.plane) ? 1 : parts));
  if (division->parts == 1) {
    auto whole = PacketSim::make(std::move(network));
    if (!whole) return fail(whole.error());
    made.parts_.push_back(std::make_unique<PacketSim>(std::move(*whole)));
    return made;
  }
  mark_borders(network, *division);
  const auto shared = std::make_shared<Network>(std::move(network));
  for (unsigned part = 0; part < division->parts; ++part) {
    auto sim = PacketSim::make_part(shared, division, static_cast<std::uint8_t>(part));
    if (!sim) return fail(sim.error());
    made.parts_.push_back(std::make_unique<PacketSim>(std::move(*sim)));
  }
  made.network_ = shared;
  return made;
}

void ParallelSim::add_traffic(const TrafficClass& traffic, std::uint64_t seed) {
  for (const auto& part : parts_) part->add_traffic(traffic, seed);
}

void ParallelSim::run_until(Cycle end) {
  if (parts_.size() == 1) {
    whole().run_until(end);
    return;
  }
  if (threads_ == PartThreads::One) {
    run_in_turn(end);
    return;
  }
  Meeting meeting{parts_.size()};
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts_.size(); ++part) {
    threads.emplace_back([this, part, end, &meeting] { run_part(part, end, meeting); });
  }
  run_part(0, end, meeting);
}

/// What is written in a turn is read after the next meeting, while the other turn is written. So one meeting
/// a window is enough.
void ParallelSim::run_part(std::size_t number, Cycle end, Meeting& meeting) {
  PacketSim& part = *parts_[number];
  for (unsigned turn = 0;; turn = 1 - turn) {
    meeting.next[number].of_turn[turn] = part.next_event();
    meeting.barrier.arrive_and_wait();
    take_in(number, 1 - turn);
    const Cycle earliest = meeting.earliest(turn);
    part.begin_turn(turn);
    if (earliest >= end) break;
    part.run_window(std::min(end, earliest + look_ahead_));
  }
  part.run_until(end);
}

/// As run_part(), for all parts.
void ParallelSim::run_in_turn(Cycle end) {
  for (unsigned turn = 0;; turn = 1 - turn) {
    Cycle earliest = never;
    for (const auto& part : parts_) earliest = std::min(earliest, part->next_event());
    for (std::size_t part = 0; part < parts_.size(); ++part) take_in(part, 1 - turn);
    for (const auto& part : parts_) part->begin_turn(turn);
    if (earliest >= end) break;
    for (const auto& part : parts_) part->run_window(std::min(end, earliest + look_ahead_));
  }
  for (const auto& part : parts_) part->run_until(end);
}

void ParallelSim::take_in(std::size_t part, unsigned turn) {
  for (const auto& from : parts_) parts_[part]->take_in(*from, turn);
}

void ParallelSim::set_link(LinkIndex index, bool open) {
  if (parts_.size() == 1) {
    whole().set_link(index, open);
    return;
  }
  const Link& link = network_->fabric->link(index);
  for (const LinkEnd end : {link.a, link.b}) {
    const std::uint32_t port = network_->port_of_slot[network_->fabric->port_index(end).raw()];
    if (port == nothing || network_->links[port].up == open) continue;
    network_->links[port].up = open;
    for (const auto& part : parts_) {
      const auto cut = part->link_changed(port);
      for (const auto& other : parts_) {
        if (cut) other->break_packet(*cut);
      }
    }
  }
  // What was discarded is told to whoever made it.
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    take_in(part, 0);
    take_in(part, 1);
  }
}

void ParallelSim::set_forwarding(routing::ForwardingTables tables) {
  parts_.front()->set_forwarding(std::move(tables));
}

void ParallelSim::start_measuring() {
  for (const auto& part : parts_) part->start_measuring();
}

Measurements ParallelSim::measurements() const {
  return sum<Measurements>(parts_, [](const PacketSim& part) { return part.measurements(); });
}

Totals ParallelSim::totals() const {
  return sum<Totals>(parts_, [](const PacketSim& part) { return part.totals(); });
}

std::size_t ParallelSim::packets_in_flight() const {
  return sum<std::size_t>(parts_, [](const PacketSim& part) { return part.packets_in_flight(); });
}

std::size_t ParallelSim::messages_in_flight() const {
  return sum<std::size_t>(parts_, [](const PacketSim& part) { return part.messages_in_flight(); });
}

}  // namespace heddle::packet
