/// Forwarding tables as text, in the format of OpenSM's opensm-lfts.dump:
///
///   Unicast lids [0-24] of switch Lid 3 guid 0x0002c90200417670 ('leaf 1'):
///   0x0004 003 # Channel Adapter portguid 0x0002c90300080e85: 'host 1'
///   ...
///   24 lids dumped
///
/// The remarks tell which port has a LID, so that a fabric without LIDs can be given those of the dump.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "fabric/fabric.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

struct LftDump {
  struct Entry {
    Lid lid;
    PortNum port;
    std::uint32_t line = 0;
    PortGuid owner;  ///< none where the remark does not tell
  };
  struct Switch {
    NodeGuid guid;
    Lid lid;
    std::uint32_t line = 0;
    std::vector<Entry> entries;
  };
  std::string file;  ///< what messages call it
  std::vector<Switch> switches;
};

/// Errors name file and line: what is no line of this format, a LID out of range, a switch or an entry that
/// comes twice.
[[nodiscard]] Result<LftDump> parse_lft_dump(std::string_view text, const std::string& file);

/// Tables for a graph. Errors, with file and line: NotFound for a switch that the fabric has not or the dump
/// has not; Conflict for a port that the switch has not, or a LID that the fabric gives to another port.
[[nodiscard]] Result<ForwardingTables> tables_of(const LftDump& dump, const Fabric& fabric,
                                                 const SwitchGraph& graph);

/// The same fabric with the LIDs that the remarks of the dump tell; other LIDs are dropped.
/// Errors: Conflict for a LID of two ports, or for LIDs of one port that are no power of two in a row.
[[nodiscard]] Result<std::shared_ptr<const Fabric>> with_lids_of(const LftDump& dump, const Fabric& fabric);

/// Without the switches of `leave_out`, which is sorted.
[[nodiscard]] std::string write_lft_dump(const Fabric& fabric, const SwitchGraph& graph,
                                         const ForwardingTables& tables,
                                         std::span<const NodeGuid> leave_out = {});

}  // namespace heddle::routing
