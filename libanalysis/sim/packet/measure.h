/// What a run measures of its deliveries: throughput and latency per SL and per VL, after a warm-up that is
/// cut. Integers only, so that results do not depend on the order of additions. Units: flits, cycles.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/packet/wheel.h"

namespace heddle::packet {

/// Counts of values in buckets of at most 1/32 of their value: exact below 64. Memory is bounded.
class Histogram {
 public:
  Histogram() = default;
  /// As another one was.
  Histogram(std::uint64_t count, std::uint64_t sum, Cycle max, std::vector<std::uint64_t> buckets)
      : count_{count}, sum_{sum}, max_{max}, buckets_{std::move(buckets)} {}

  void add(Cycle value) {
    ++count_;
    sum_ += static_cast<std::uint64_t>(value);
    if (value > max_) max_ = value;
    const std::size_t at = bucket(static_cast<std::uint64_t>(value));
    if (at >= buckets_.size()) buckets_.resize(at + 1);
    ++buckets_[at];
  }

  Histogram& operator+=(const Histogram& other) {
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
    if (buckets_.size() < other.buckets_.size()) buckets_.resize(other.buckets_.size());
    for (std::size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    return *this;
  }
  friend bool operator==(const Histogram&, const Histogram&) = default;

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  [[nodiscard]] const std::vector<std::uint64_t>& buckets() const { return buckets_; }
  [[nodiscard]] Cycle max() const { return max_; }
  [[nodiscard]] double mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  /// The greatest value of the bucket that holds the given part (0 to 1) of all values; 0 if there are none.
  [[nodiscard]] Cycle percentile(double part) const {
    const auto wanted = static_cast<std::uint64_t>(std::llround(part * static_cast<double>(count_)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen >= wanted && seen > 0) return upper(i) < max_ ? upper(i) : max_;
    }
    return max_;
  }

 private:
  static std::size_t bucket(std::uint64_t value) {
    if (value < 64) return value;
    const int shift = std::bit_width(value) - 6;
    return static_cast<std::size_t>(shift) * 32 + (value >> shift);
  }
  static Cycle upper(std::size_t bucket) {
    if (bucket < 64) return static_cast<Cycle>(bucket);
    const std::size_t shift = bucket / 32 - 1;
    const std::uint64_t mantissa = bucket - shift * 32;
    return static_cast<Cycle>(((mantissa + 1) << shift) - 1);
  }

  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  Cycle max_ = 0;
  std::vector<std::uint64_t> buckets_;
};

struct Flow {
  std::uint64_t messages = 0;
  std::uint64_t packets = 0;
  std::uint64_t flits = 0;
  std::uint64_t generated_flits = 0;  ///< per SL only
  Histogram end_to_end;               ///< of messages: generation to the last flit's delivery
  Histogram network;                  ///< of packets: first flit's injection to the last flit's delivery

  Flow& operator+=(const Flow& other) {
    messages += other.messages;
    packets += other.packets;
    flits += other.flits;
    generated_flits += other.generated_flits;
    end_to_end += other.end_to_end;
    network += other.network;
    return *this;
  }
  friend bool operator==(const Flow&, const Flow&) = default;
};

struct Measurements {
  Cycle since = 0;
  std::array<Flow, 32> by_sl;
  std::array<Flow, 32> by_vl;

  /// Of another part of the same fabric.
  Measurements& operator+=(const Measurements& other) {
    for (std::size_t i = 0; i < by_sl.size(); ++i) by_sl[i] += other.by_sl[i];
    for (std::size_t i = 0; i < by_vl.size(); ++i) by_vl[i] += other.by_vl[i];
    return *this;
  }
  friend bool operator==(const Measurements&, const Measurements&) = default;
};

/// Over the whole run, warm-up included. packets: injected = delivered + broken + dropped + in flight,
/// always.
struct Totals {
  std::uint64_t messages_generated = 0;
  std::uint64_t messages_delivered = 0;
  std::uint64_t messages_lost = 0;  ///< of which a packet was dropped or broken
  std::uint64_t injected = 0;
  std::uint64_t delivered = 0;
  std::uint64_t broken = 0;      ///< reached the target after a link had closed under them
  std::uint64_t unroutable = 0;  ///< no way in the forwarding table, SL2VL says drop, or at a wrong host
  std::uint64_t lost = 0;        ///< on a link that closed before their header had arrived
  std::uint64_t discarded = 0;   ///< waited for a closed link, or too long at the head of a queue
  std::uint64_t lost_flits = 0;  ///< of all that did not arrive, unsent parts of messages included
  std::uint64_t flit_hops = 0;   ///< one flit through one switch
  std::uint64_t packet_hops = 0;
  std::uint64_t events = 0;

  [[nodiscard]] std::uint64_t dropped() const { return unroutable + lost + discarded; }

  /// Of another part of the same fabric.
  Totals& operator+=(const Totals& other) {
    messages_generated += other.messages_generated;
    messages_delivered += other.messages_delivered;
    messages_lost += other.messages_lost;
    injected += other.injected;
    delivered += other.delivered;
    broken += other.broken;
    unroutable += other.unroutable;
    lost += other.lost;
    discarded += other.discarded;
    lost_flits += other.lost_flits;
    flit_hops += other.flit_hops;
    packet_hops += other.packet_hops;
    events += other.events;
    return *this;
  }
};

}  // namespace heddle::packet
