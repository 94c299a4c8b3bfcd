/// Arbitration tables and SL2VL maps as text. Two forms of a table are read, and may be mixed line by line:
/// `VL,weight` one entry a line (the thesis' tool), and `VL:weight,VL:weight,...` (OpenSM's
/// qos_*_vlarb_high).
/// `#` starts a comment. Every error names file, line and reason.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "qos/tables.h"

namespace heddle::qos {

enum class WhichTable { High, Low };

/// `name` is the file's name for messages. Entries beyond the port are refused at their line; a high table
/// needs an entry with weight.
[[nodiscard]] Result<ArbTable> parse_table(std::string_view text, const std::string& name, WhichTable which,
                                           const PortCapability& port = {});

/// `0,1,2,...`: 16 VLs, OpenSM's qos_*_sl2vl. `name` as above.
[[nodiscard]] Result<Sl2Vl> parse_sl2vl(std::string_view text, const std::string& name,
                                        const PortCapability& port = {});

/// One `VL,weight` a line.
[[nodiscard]] std::string to_lines(const ArbTable& table);
/// `0:4,1:0`.
[[nodiscard]] std::string to_opensm(const ArbTable& table);
[[nodiscard]] std::string to_opensm(const Sl2Vl& map);

/// The five lines of opensm.conf for one kind of port; `prefix` is "qos", "qos_ca", "qos_sw0", "qos_swe" or
/// "qos_rtr" (facts/qos.md 4).
[[nodiscard]] std::string opensm_options(std::string_view prefix, const VlArbitration& tables,
                                         const Sl2Vl& map, unsigned data_vls);

}  // namespace heddle::qos
