#include "load/accumulator.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "load/figures.h"

namespace heddle::load {
namespace {

// 12x XDR: more than any link there is.
constexpr double most_bytes_per_second = 300e9;

float rate(std::uint64_t grown, double unit, FabricClock::duration time) {
  return static_cast<float>(static_cast<double>(grown) * unit / seconds(time));
}

}  // namespace

/// Samples come back to it from whichever thread drops them last.
class Accumulator::Pool {
 public:
  std::unique_ptr<Sample> take() {
    const std::lock_guard lock{mutex_};
    if (free_.empty()) return std::make_unique<Sample>();
    auto sample = std::move(free_.back());
    free_.pop_back();
    return sample;
  }
  void give(std::unique_ptr<Sample> sample) {
    const std::lock_guard lock{mutex_};
    if (free_.empty()) free_.push_back(std::move(sample));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Sample>> free_;
};

Accumulator::Accumulator(TickTable ticks) : ticks_{std::move(ticks)}, pool_{std::make_shared<Pool>()} {}
Accumulator::~Accumulator() = default;

std::shared_ptr<Sample> Accumulator::blank() const {
  std::shared_ptr<Sample> sample{pool_->take().release(),
                                 [pool = std::weak_ptr<Pool>{pool_}](Sample* dropped) {
                                   std::unique_ptr<Sample> owned{dropped};
                                   owned->fabric.reset();
                                   owned->set_names.reset();
                                   if (const auto home = pool.lock()) home->give(std::move(owned));
                                 }};
  sample->fabric = fabric_;
  sample->ports.resize(fabric_->ports().size());
  sample->nodes.resize(fabric_->nodes().size());
  sample->failures.clear();
  if (sets_) sample->set_names = sets_->names();
  return sample;
}

void Accumulator::rebase(std::shared_ptr<const Fabric> fabric, std::shared_ptr<const LocalitySets> sets) {
  const auto old_fabric = std::move(fabric_);
  const auto old_last = std::move(last_);
  const auto old_next = std::move(next_);
  auto old_counts = std::move(counts_);
  const auto old_touched = std::move(touched_);
  fabric_ = std::move(fabric);
  sets_ = std::move(sets);
  const std::size_t slots = fabric_->ports().size();
  limits_.assign(slots, {});
  counts_ = std::vector<PortCounts>(slots);
  touched_.assign(slots, false);
  status_.assign(slots, PortStatus::NotSampled);

  for (std::size_t i = 0; i < slots; ++i) {
    const Port& port = fabric_->ports()[i];
    const Node& node = fabric_->node(port.node);
    const double bytes = data_rate(port.width, port.speed).value() / 8;
    limits_[i].capacity.words_per_second = (bytes > 0 ? bytes : most_bytes_per_second) / 4;
    if (port.state <= PortState::Down) continue;
    limits_[i].bytes_per_second = static_cast<float>(bytes);
    limits_[i].ticks_per_second = static_cast<float>(
        ticks_per_second(ticks_.find(node.vendor_id, node.device_id), port.width, port.speed));
  }

  auto last = blank();
  std::ranges::fill(last->ports, PortSample{});
  if (old_last) {
    for (const Node& node : fabric_->nodes()) {
      const NodeIndex old = old_fabric->find_node(node.guid);
      if (old == no_node) continue;
      const Node& before = old_fabric->node(old);
      const std::size_t common = std::size_t{1} + std::min(node.port_count, before.port_count);
      for (std::size_t p = 0; p < common; ++p) {
        const std::size_t to = node.first_port.raw() + p;
        const std::size_t from = before.first_port.raw() + p;
        counts_[to] = std::move(old_counts[from]);
        last->ports[to] = old_last->ports[from];
        touched_[to] = old_touched[from];
        if (touched_[to]) next().ports[to] = old_next->ports[from];
      }
    }
  }
  last_ = std::move(last);
}

Sample& Accumulator::next() {
  if (!next_) next_ = blank();
  return *next_;
}

PortSample& Accumulator::open(PortIndex port) {
  PortSample& sample = next().ports[port.raw()];
  if (!touched_[port.raw()]) {
    sample = last_->ports[port.raw()];
    touched_[port.raw()] = true;
  }
  return sample;
}

Advance Accumulator::add(PortIndex port, const Reading& reading) {
  PortSample& sample = open(port);
  const bool has_data = (reading.present & mask(Counter::XmitData)) != 0;
  const Instant last = has_data ? sample.at : sample.wait_at;
  const auto since = last == never ? FabricClock::duration{} : reading.at - last;
  const Advance result =
      advance(counts_[port.raw()], sample.totals, reading, since, limits_[port.raw()].capacity);
  sample.known |= reading.present;
  sample.saturated = (sample.saturated & ~reading.present) | result.saturated;
  if ((result.saturated & traffic_counters) != 0) ++sample.saturations;
  if (result.gap) ++sample.gaps;
  if (has_data) sample.at = reading.at;
  if ((reading.present & mask(Counter::XmitWait)) != 0) sample.wait_at = reading.at;
  if (status_[port.raw()] != PortStatus::Failed || has_data) status_[port.raw()] = PortStatus::Fresh;
  return result;
}

void Accumulator::confirm_reset(PortIndex port, CounterMask counters, Instant at) {
  PortSample& sample = open(port);
  heddle::load::confirm_reset(counts_[port.raw()], sample.totals, counters);
  // Nobody sees what passed between the reading and the reset.
  if ((counters & mask(Counter::XmitData)) != 0) sample.at = std::max(sample.at, at);
  if ((counters & mask(Counter::XmitWait)) != 0) sample.wait_at = std::max(sample.wait_at, at);
}

void Accumulator::suspect_reset(PortIndex port, CounterMask counters) {
  heddle::load::suspect_reset(counts_[port.raw()], counters);
}

void Accumulator::fail(PortIndex port, SampleFailure::Reason reason) {
  next().failures.push_back({port, reason});
  if (status_[port.raw()] != PortStatus::Fresh) status_[port.raw()] = PortStatus::Failed;
}

void Accumulator::rest(PortIndex port) { status_[port.raw()] = PortStatus::Resting; }

void Accumulator::close(std::size_t i) {
  PortSample& now = next_->ports[i];
  const PortSample& before = last_->ports[i];
  const PortLimits& limits = limits_[i];
  if (!touched_[i]) now = before;
  now.status = status_[i];

  const CounterMask certain = now.known & ~counts_[i].uncertain;
  const auto grown = [&](Counter counter) { return now.totals[at(counter)] - before.totals[at(counter)]; };
  const auto rate_of = [&](Counter counter, double unit, FabricClock::duration time) {
    return (certain & mask(counter)) != 0 ? rate(grown(counter), unit, time) : unknown;
  };
  now.xmit_bytes_per_second = now.rcv_bytes_per_second = unknown;
  now.xmit_packets_per_second = now.rcv_packets_per_second = unknown;
  now.utilization = now.congestion = unknown;
  if (now.status == PortStatus::Resting) {
    now.xmit_bytes_per_second = now.rcv_bytes_per_second = 0;
    now.xmit_packets_per_second = now.rcv_packets_per_second = 0;
    now.utilization = now.congestion = 0;
  } else if (now.status == PortStatus::Fresh && before.at != never && now.at > before.at) {
    const auto time = now.at - before.at;
    now.xmit_bytes_per_second = rate_of(Counter::XmitData, 4, time);
    now.rcv_bytes_per_second = rate_of(Counter::RcvData, 4, time);
    now.xmit_packets_per_second = rate_of(Counter::XmitPackets, 1, time);
    now.rcv_packets_per_second = rate_of(Counter::RcvPackets, 1, time);
    if (limits.bytes_per_second > 0) now.utilization = now.xmit_bytes_per_second / limits.bytes_per_second;
    if (fabric_->ports()[i].state == PortState::Down) now.utilization = 0;
  }
  if (now.status != PortStatus::Resting && before.wait_at != never && now.wait_at > before.wait_at &&
      limits.ticks_per_second > 0) {
    const float ticks = rate_of(Counter::XmitWait, 1, now.wait_at - before.wait_at);
    if (is_known(ticks)) now.congestion = std::min(1.0F, ticks / limits.ticks_per_second);
  }
  // A counter that was read starts afresh; one that was not keeps its doubt.
  if (now.at > before.at) counts_[i].uncertain &= ~(traffic_counters | cast_counters);
  if (now.wait_at > before.wait_at) counts_[i].uncertain &= ~mask(Counter::XmitWait);
}

std::shared_ptr<const Sample> Accumulator::finish(Instant began, Instant ended) {
  for (std::size_t i = 0; i < next().ports.size(); ++i) close(i);
  next_->number = ++number_;
  next_->began = began;
  next_->ended = ended;
  sum_up(*fabric_, next_->ports, next_->nodes, next_->total);
  if (sets_) sets_->evaluate(*fabric_, next_->ports, next_->locality);
  last_ = std::exchange(next_, nullptr);
  touched_.assign(touched_.size(), false);
  status_.assign(status_.size(), PortStatus::NotSampled);
  return last_;
}

}  // namespace heddle::load
