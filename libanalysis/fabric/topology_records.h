/// The nodes of a topology text and what each says of its ports, in the order of the text, before anyone has
/// asked whether they agree. Includes are followed, prefixes and GUIDs that a file leaves out are filled in
/// as ibsim does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "fabric/findings.h"

namespace heddle::topology {

/// Where in which text; `file` counts in Records::files.
struct Place {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};

struct PortRecord {
  Place place;
  PortNum port;
  std::optional<PortGuid> guid;
  std::optional<Lid> lid;
  std::uint8_t lmc = 0;
  std::string peer;
  PortNum peer_port;
  std::optional<PortGuid> peer_guid;
  LinkWidth width = LinkWidth::None;
  LinkSpeed speed = LinkSpeed::None;
};

struct NodeRecord {
  Place place;
  std::string name;  ///< unique in a text; what ports refer to. A GUID in it is the node's
  Node node;         ///< description as it stands, perhaps longer than 64 bytes
  PortGuid port0_guid;
  Lid lid;  ///< of a switch's port 0
  std::uint8_t lmc = 0;
  std::vector<PortRecord> ports;
};

struct Records {
  std::vector<std::string> files;
  std::vector<NodeRecord> nodes;
  Findings findings;

  [[nodiscard]] std::string at(Place place) const;  ///< "topo.txt:17"
};

/// Gives the text of a file that another one includes.
using IncludeReader = std::function<Result<std::string>(const std::string& path)>;

/// "S-0008f10500200b50" holds the node's GUID; "Switch1" does not.
[[nodiscard]] std::optional<std::uint64_t> guid_in_name(std::string_view name);

/// Errors: the first line that cannot be read, with file and line.
[[nodiscard]] Result<Records> read_records(std::string_view text, const std::string& file,
                                           const IncludeReader& include);

}  // namespace heddle::topology
