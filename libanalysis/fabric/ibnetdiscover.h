/// Fabrics as text in the format of ibnetdiscover, which ibsim and ibdiagnet 2 write and read too. The reader
/// takes what is found in practice: output with -f or -g, net files of ibsim, byte-order marks, line ends of
/// other systems, tabs that were lost, a terminal's log.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fabric/topology.h"

namespace heddle {

/// As parse_topology, of this format alone.
[[nodiscard]] Result<ParsedFabric> parse_ibnetdiscover(std::string_view text, const std::string& file,
                                                       const ReadOptions& options = {});

/// Nodes in the order of the snapshot. Reading it again gives the same nodes, cables, LIDs, widths and
/// speeds; of descriptions what is printable, with apostrophes for quotation marks; of port states nothing,
/// as the format has none.
[[nodiscard]] std::string write_ibnetdiscover(const Fabric& fabric);

}  // namespace heddle
