#include "qos/tables.h"

#include <fmt/format.h>

namespace heddle::qos {
namespace {

Result<void> check_table(const ArbTable& table, std::string_view name, std::size_t room, unsigned data_vls) {
  if (table.size() > room) {
    return fail(ErrorCode::Invalid,
                fmt::format("{} table: {} entries, and the port has room for {}", name, table.size(), room));
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    const unsigned vl = table[i].vl.raw();
    if (vl >= max_data_vls) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{} table, entry {}: VL{} cannot be in a table, use VL0 to VL14", name, i, vl));
    }
    if (vl >= data_vls && table[i].weight != 0) {
      return fail(ErrorCode::Invalid,
                  fmt::format("{} table, entry {}: VL{} is beyond the port, which has VL0 to VL{}", name, i,
                              vl, data_vls - 1));
    }
  }
  return {};
}

}  // namespace

Result<unsigned> data_vls(std::uint8_t operational_vls_code) {
  // IBA 14.2.5.6, PortInfo.OperationalVLs.
  static constexpr std::array<unsigned, 6> counts{0, 1, 2, 4, 8, 15};
  if (operational_vls_code == 0 || operational_vls_code >= counts.size()) {
    return fail(ErrorCode::Invalid,
                fmt::format("OperationalVLs code {} is none of 1 to 5", operational_vls_code));
  }
  return counts[operational_vls_code];
}

Result<void> check(const VlArbitration& tables, const PortCapability& port) {
  if (auto high = check_table(tables.high, "high", port.high_entries, port.data_vls); !high) return high;
  if (auto low = check_table(tables.low, "low", port.low_entries, port.data_vls); !low) return low;
  if (total_weight(tables.high) == 0) {
    return fail(ErrorCode::Invalid, "high table: no entry with a weight above 0, give at least one");
  }
  return {};
}

Result<void> check(const Sl2Vl& map, const PortCapability& port) {
  for (unsigned sl = 0; sl < sl_count; ++sl) {
    const unsigned vl = map.vl[sl].raw();
    if (vl >= port.data_vls && map.vl[sl] != drop_vl) {
      return fail(ErrorCode::Invalid,
                  fmt::format("SL{} maps to VL{}, and the port has VL0 to VL{}", sl, vl, port.data_vls - 1));
    }
  }
  return {};
}

std::uint32_t total_weight(const ArbTable& table) {
  std::uint32_t sum = 0;
  for (const auto& entry : table) sum += entry.weight;
  return sum;
}

}  // namespace heddle::qos
