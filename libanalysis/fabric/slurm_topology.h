/// A fabric as Slurm's plugins topology/tree and topology/block want it (topology.conf(5)), so that jobs are
/// placed near to themselves: switches that have hosts, and what joins these, level by level; or blocks of
/// hosts at one switch, those that are near to each other beside each other.
///
/// Slurm wants a tree, and a real fabric has many spines above each leaf. What is written are groups: the
/// leaves that meet through switches of a level are one group of that level, whatever the number of switches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "fabric/node_names.h"

namespace heddle {

enum class SlurmPlugin : std::uint8_t {
  Tree,
  Block,  ///< Slurm 23.11 and later
};

struct SlurmTopology {
  std::string text;                   ///< of topology.conf
  std::vector<std::string> warnings;  ///< of hosts whose names Slurm cannot have, and of fabrics in pieces
};

/// A host is the first word of its adapters' description, as "host-0" of "host-0 mlx5_0". One with adapters
/// in several switches (rails) stands at the switch of the first adapter in the order of their descriptions.
/// Errors: Invalid for a fabric without hosts.
[[nodiscard]] Result<SlurmTopology> slurm_topology(const Fabric& fabric,
                                                   SlurmPlugin plugin = SlurmPlugin::Tree,
                                                   const NodeNames& names = {});

/// Names of hosts in Slurm's short form: "host-[0-3,7],login".
[[nodiscard]] std::string slurm_hostlist(std::vector<std::string> hosts);

}  // namespace heddle
