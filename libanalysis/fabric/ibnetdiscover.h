/// Fabrics as text in the format of ibnetdiscover, which ibsim reads too. The reader takes what is found in
/// practice: output with -f or -g, net files of ibsim, byte-order marks, line ends of other systems, a copied
/// shell prompt.
///
/// A line that is none of these is an error: a damaged file never becomes a fabric silently. Where
/// well-formed lines contradict each other, what cannot be right is left out and a warning says so; the rest
/// is kept.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "fabric/topology_records.h"

namespace heddle {

struct ParsedFabric {
  std::shared_ptr<const Fabric> fabric;
  std::vector<std::string>
      warnings;  ///< each with file and line; at most 200, the last one counts the others
};

/// `file` is what errors and warnings call the text; `include` reads the files that it includes, none if
/// empty. Cabled ports are Active. An adapter port's GUID that the text leaves out is the node's plus its
/// number.
[[nodiscard]] Result<ParsedFabric> parse_ibnetdiscover(std::string_view text, const std::string& file,
                                                       const topology::IncludeReader& include = {});

/// Nodes in the order of the snapshot. Reading it again gives the same nodes, cables, LIDs, widths and
/// speeds; of descriptions what is printable, with apostrophes for quotation marks; of port states nothing,
/// as the format has none.
[[nodiscard]] std::string write_ibnetdiscover(const Fabric& fabric);

}  // namespace heddle
