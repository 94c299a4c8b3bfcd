/// One run on several cores: the fabric in parts, each simulated by a thread of its own over one network.
///
/// Conservative: nothing that one part does can be noticed by another before `look_ahead` cycles have passed
/// (a packet's flight and its routing, or a credit's way back), so that all parts may run that far beyond the
/// earliest event of them all, read what the others wrote to them meanwhile, and go on. The results are the
/// same, to the last bit, for any number of parts: within one cycle nothing depends on the order of events at
/// different switches, and the results are sums. `Totals::events` is the one exception.
///
/// Threads live no longer than run_until().
#pragma once

#include <memory>
#include <vector>

#include "sim/packet/packet_sim.h"

namespace heddle::packet {

/// Who carries out the parts.
enum class PartThreads : std::uint8_t {
  Each,  ///< a thread for each part
  One,   ///< the caller's thread, one part after another in each window: for tests
};

class ParallelSim {
 public:
  /// At most `parts` parts: fewer where there are fewer switches, one where a choice among links might see in
  /// which order a cycle's events come (adaptive routing with lifetimes). Errors: those of PacketSim::make.
  static Result<ParallelSim> make(Network network, unsigned parts, PartThreads threads = PartThreads::Each);

  [[nodiscard]] unsigned parts() const { return static_cast<unsigned>(parts_.size()); }
  /// For what parts cannot do: traces, streams, single messages. Precondition: there is one part.
  [[nodiscard]] PacketSim& whole() { return *parts_.front(); }
  [[nodiscard]] const Network& network() const { return parts_.front()->network(); }
  [[nodiscard]] std::uint32_t host_count() const { return parts_.front()->host_count(); }
  [[nodiscard]] Cycle now() const { return parts_.front()->now(); }

  // As those of PacketSim.
  void add_traffic(const TrafficClass& traffic, std::uint64_t seed);
  void run_until(Cycle end);
  void set_link(LinkIndex link, bool open);
  void set_forwarding(routing::ForwardingTables tables);
  void start_measuring();
  [[nodiscard]] Measurements measurements() const;
  [[nodiscard]] Totals totals() const;
  [[nodiscard]] PortCount count(PortIndex port) const { return parts_.front()->count(port); }
  [[nodiscard]] LaneCount lane_count(PortIndex port, unsigned vl) const {
    return parts_.front()->lane_count(port, vl);
  }
  [[nodiscard]] std::size_t packets_in_flight() const;
  [[nodiscard]] std::size_t messages_in_flight() const;

 private:
  struct Meeting;
  ParallelSim() = default;
  void run_part(std::size_t part, Cycle end, Meeting& meeting);
  void run_in_turn(Cycle end);
  void take_in(std::size_t part, unsigned turn);

  std::shared_ptr<Network> network_;
  std::vector<std::unique_ptr<PacketSim>> parts_;
  Cycle look_ahead_ = 1;
  PartThreads threads_ = PartThreads::Each;
};

}  // namespace heddle::packet
