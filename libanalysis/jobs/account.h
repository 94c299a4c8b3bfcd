/// What each job puts on the fabric, from the loads of one moment: how much its hosts send, how much of that
/// leaves their leaf switches, which link around it is the busiest, and who else is there.
///
/// Only what ports count is used. A switch with hosts does not tell whose packets it passes on: where jobs
/// share a leaf, each is taken to send the leaf's own share upwards, and the answer says that it is no exact
/// one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "jobs/job.h"

namespace heddle::jobs {

/// Of the direction that leaves a port.
struct PortLoad {
  double bytes_per_second = 0;
  double utilization = 0;  ///< 0..1
  bool known = false;
};

struct Neighbour {
  std::size_t job = 0;          ///< its position
  double bytes_per_second = 0;  ///< that its hosts there send, or receive where the link leads to them
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

struct JobFigures {
  std::size_t hosts = 0;                   ///< that are in the fabric
  std::vector<std::string> unknown_hosts;  ///< that are not, by the batch system's names
  std::vector<NodeIndex> leaves;           ///< switches that its hosts are at
  double injected = 0;                     ///< bytes/s
  double delivered = 0;
  std::size_t unmeasured = 0;         ///< directions of host ports whose load nobody knows
  std::optional<double> leaves_leaf;  ///< share of what it sends; none where it sends nothing
  bool exact = false;                 ///< nobody else sends at its leaves, and nothing passes through them
  std::optional<LinkEnd> worst;       ///< end from which the busiest direction leaves
  double worst_utilization = 0;
  std::vector<Neighbour> neighbours;  ///< the ones that move most first
};

/// More are left out, the least first.
inline constexpr std::size_t most_neighbours = 8;

/// `loads` by PortIndex. The figures are in the order of `jobs`. A host is the first word of its adapters'
/// descriptions, with its domain or without.
[[nodiscard]] std::vector<JobFigures> account(const Fabric& fabric, std::span<const PortLoad> loads,
                                              std::span<const Job> jobs);

}  // namespace heddle::jobs
