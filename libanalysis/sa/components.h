/// Which records a query means (IBA 15.2.2.1): bit i of its component mask says that field i of the record
/// must be as in the query. Fields are named by their widths in bits, in the order in which they stand. Pure.
#pragma once

#include <cstdint>
#include <span>

namespace heddle::sa {

/// Of NodeRecord: LID, reserved, and NodeInfo with its description (IBA 15.2.5.2).
[[nodiscard]] std::span<const std::uint16_t> node_record_fields();
/// Of PortInfoRecord: EndportLID, PortNum, options, and PortInfo (IBA 15.2.5.3).
[[nodiscard]] std::span<const std::uint16_t> port_record_fields();
/// Of MCMemberRecord (IBA 15.2.5.17).
[[nodiscard]] std::span<const std::uint16_t> member_record_fields();

/// Bits of the mask beyond the fields count for nothing, as do fields beyond the end of the query.
[[nodiscard]] bool matches(std::span<const std::uint16_t> fields, std::uint64_t components,
                           std::span<const std::uint8_t> query, std::span<const std::uint8_t> record);

}  // namespace heddle::sa
