/// Fabrics as text, as sites have them: what ibnetdiscover, ibdiagnet and iblinkinfo wrote, and net files of
/// ibsim. The content says which it is.
///
/// A line that is none of theirs is an error, unless it is one of a terminal's log or of a tool's complaints:
/// a damaged file never becomes a fabric silently. Where well-formed lines contradict each other so that a
/// node, or a cable between two nodes that are described, cannot be kept, the text is refused too unless
/// asked otherwise; whatever else does not fit is a warning.
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
  std::vector<std::string> warnings{};  ///< one for each kind, with a count and the first place
  std::vector<std::string> losses{};    ///< those of them that tell of nodes and cables that were lost
  std::vector<std::string> details{};   ///< each on its own, with file and line; at most 10,001
};

enum class Losses : std::uint8_t { Refuse, Keep };

struct ReadOptions {
  topology::IncludeReader include{};  ///< reads the files that a text includes; none if empty
  Losses losses = Losses::Refuse;     ///< Keep: what fits, of a text that loses nodes or cables
};

/// `file` is what errors and warnings call the text. Cabled ports are Active. An adapter port's GUID that the
/// text leaves out is the node's plus its number.
[[nodiscard]] Result<ParsedFabric> parse_topology(std::string_view text, const std::string& file,
                                                  const ReadOptions& options = {});

namespace topology {

/// Makes a fabric of what a text's lines say together.
[[nodiscard]] Result<ParsedFabric> assemble(Records records, Losses losses);

/// The links that ibdiagnet 1 writes to ibdiagnet.lst, with both ends in each line.
[[nodiscard]] bool is_link_list(std::string_view text);
[[nodiscard]] Result<Records> read_link_list(std::string_view text, const std::string& file);

/// What iblinkinfo prints, a node with its ports or (-l) a link in each line.
[[nodiscard]] bool is_link_info(std::string_view text);
[[nodiscard]] Result<Records> read_link_info(std::string_view text, const std::string& file);

}  // namespace topology

}  // namespace heddle
