/// Traffic that hosts could offer at the rates at which they send and receive, whoever talks to whom (the
/// hose model: Duffield et al., *A flexible model for resource management in virtual private networks*,
/// 1999). A set of links that carries a sample of it is as good for the next pattern as for the present one;
/// a set that was chosen for the flows of the moment is not.
///
/// The sample: random permutations, shifts by several distances, the order of hosts reversed and with the
/// bits of their numbers reversed, many destinations at once, and hot spots. In each, every host sends its
/// rate, and gets no more than it receives, hot spots apart. Fixed seeds: the same rates give the same
/// sample. One thread; the network must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "regulation/network.h"
#include "regulation/traffic.h"

namespace heddle::regulation {

class AnyTraffic {
 public:
  /// `loads`: what each host sends and receives; what is unknown counts as nothing.
  AnyTraffic(const Network& network, const MeasuredLoads& loads);

  /// Flows of each pattern, hosts numbered as routing::host_targets has them. bit/s.
  [[nodiscard]] std::span<const std::vector<HostFlow>> patterns() const { return patterns_; }
  /// Of which kind each of them is, in words.
  [[nodiscard]] std::string_view kind(std::size_t pattern) const { return kinds_[pattern]; }

  /// What the sample comes to over tables.
  struct Loads {
    std::vector<double> mean;            ///< bit/s by hop
    std::vector<double> most;            ///< likewise: what the pattern brings that brings most
    std::vector<std::uint32_t> most_by;  ///< which pattern that is
    std::vector<double>
        shed;  ///< by pattern: what is above capacity anywhere, as a share of all that is sent
  };
  /// For the LIDs of `plane`.
  [[nodiscard]] Loads loads(const routing::ForwardingTables& tables, unsigned plane) const;

  /// bit/s by hop, and then by pattern.
  using ByPattern = std::vector<double>;
  [[nodiscard]] ByPattern by_pattern(const routing::ForwardingTables& tables, unsigned plane) const;
  [[nodiscard]] Loads sum_up(const ByPattern& loads) const;
  [[nodiscard]] std::size_t host_count() const { return hosts_.size(); }
  [[nodiscard]] Lid lid(std::uint32_t host, unsigned plane) const;
  /// What goes to a host, once more or (-1) no more.
  void follow(std::uint32_t host, const routing::ForwardingTables& tables, unsigned plane, double times,
              ByPattern& loads) const;

 private:
  struct Step {
    std::uint32_t hop = none;
    routing::SwitchIndex to;
  };
  struct Flow {
    routing::SwitchIndex from;
    std::uint32_t pattern = 0;
    double rate = 0;  ///< bit/s
  };
  static constexpr std::uint32_t none = 0xffffffffU;

  void add_patterns();
  [[nodiscard]] std::vector<HostFlow>& pattern(std::string_view kind);
  void add(const std::vector<std::uint32_t>& senders, const std::vector<std::uint32_t>& receivers,
           double part, std::vector<HostFlow>& flows) const;
  void add_permutations(std::uint64_t seed, unsigned count, double part, std::vector<HostFlow>& flows) const;
  void add_hot_spots(std::uint64_t seed, std::vector<HostFlow>& flows) const;
  void sort_by_destination();

  const Network& network_;
  std::vector<std::uint32_t> hosts_;  ///< targets
  std::vector<double> sent_;          ///< bit/s, by host
  std::vector<double> received_;      ///< likewise; sums to what is sent
  std::vector<double> capacity_;      ///< bit/s by hop
  std::size_t ports_ = 1;             ///< more than any port number that leads to a switch
  std::vector<Step> steps_;           ///< by switch and port
  std::vector<std::vector<HostFlow>> patterns_;
  std::vector<Flow> flows_;              ///< of all patterns, by destination
  std::vector<std::size_t> first_flow_;  ///< by host, and one more
  std::vector<std::string_view> kinds_;
};

}  // namespace heddle::regulation
