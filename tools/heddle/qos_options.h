/// Reads the arguments of the `heddle qos` commands. Every error names the argument and says what is wanted.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "qos/dtable.h"
#include "qos/offered_load.h"
#include "qos/table_text.h"

namespace heddle::cli {

/// A text file of at most a megabyte. Error: Io, naming it.
[[nodiscard]] Result<std::string> read_text(const std::string& path);

/// "N", or "VL=N,VL=N,...", where N may be a mix "N+N+..."; a plain N is for all VLs that have none of their
/// own.
[[nodiscard]] Result<std::array<qos::PacketMix, qos::max_data_vls>> packet_bytes(const std::string& text);

/// "VL=x,VL=x,...": parts of the link rate; VLs that are not named always wait.
[[nodiscard]] Result<qos::OfferedLoads> offered_loads(const std::string& text);

/// "NAME:distance=D,mtu=BYTES,share=PHI".
[[nodiscard]] Result<qos::DTableClass> dtable_class(const std::string& text);

/// "4xEDR". Error: Invalid for a width or speed that no link has.
[[nodiscard]] Result<BitRate> link_rate(const std::string& text);

}  // namespace heddle::cli
