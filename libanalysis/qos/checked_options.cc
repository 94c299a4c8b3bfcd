#include "qos/checked_options.h"

#include <fmt/format.h>

namespace heddle::qos {

Result<void> check_options(const VlArbitration& tables, const AnalyzerOptions& options) {
  if (auto good = check(tables, PortCapability{}); !good) return good;
  for (unsigned vl = 0; vl < max_data_vls; ++vl) {
    if (options.packets[vl].empty()) return fail(ErrorCode::Invalid, fmt::format("VL{}: no packet size", vl));
    for (const auto bytes : options.packets[vl]) {
      if (bytes == 0 || bytes > max_packet_bytes) {
        return fail(ErrorCode::Invalid,
                    fmt::format("VL{}: packets of {} bytes, give 1 to {}", vl, bytes, max_packet_bytes));
      }
    }
  }
  return {};
}

}  // namespace heddle::qos
