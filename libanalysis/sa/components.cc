#include "sa/components.h"

#include <algorithm>
#include <array>

namespace heddle::sa {
namespace {

constexpr std::array<std::uint16_t, 15> node_record{16, 16, 8, 8, 8, 8, 64, 64, 64, 16, 16, 32, 8, 24, 512};
constexpr std::array<std::uint16_t, 58> port_record{
    16, 8,  8,                                     // LID, port, options
    64, 64, 16, 16, 32, 16, 16, 8, 8, 8, 8,        // M_Key to LinkWidthActive
    4,  4,  4,  4,  2,  3,  3,  4, 4, 4, 4, 4, 4,  // LinkSpeedSupported to InitType
    8,  8,  8,  4,  4,  3,  5,  4, 1, 1, 1, 1,     // VLHighLimit to FilterRawOutbound
    16, 16, 16, 8,                                 // violations, GUIDCap
    1,  2,  5,  3,  5,  4,  4,                     // ClientReregister to OverrunErrors
    16, 8,  24, 16, 4,  4,  3,  5,                 // MaxCreditHint to LinkSpeedExtEnabled
};
constexpr std::array<std::uint16_t, 18> member_record{128, 128, 32, 16, 2,  6, 8, 16, 2,
                                                      6,   2,   6,  4,  20, 8, 4, 4,  1};

unsigned bit_at(std::span<const std::uint8_t> bytes, std::size_t bit) {
  return unsigned{bytes[bit / 8]} >> (7 - bit % 8) & 1U;
}

bool equal_bits(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::size_t from,
                std::size_t count) {
  if (from % 8 == 0 && count % 8 == 0) {
    const auto at = static_cast<std::ptrdiff_t>(from / 8);
    return std::equal(a.begin() + at, a.begin() + at + static_cast<std::ptrdiff_t>(count / 8),
                      b.begin() + at);
  }
  for (std::size_t bit = from; bit < from + count; ++bit) {
    if (bit_at(a, bit) != bit_at(b, bit)) return false;
  }
  return true;
}

}  // namespace

std::span<const std::uint16_t> node_record_fields() { return node_record; }
std::span<const std::uint16_t> port_record_fields() { return port_record; }
std::span<const std::uint16_t> member_record_fields() { return member_record; }

bool matches(std::span<const std::uint16_t> fields, std::uint64_t components,
             std::span<const std::uint8_t> query, std::span<const std::uint8_t> record) {
  if (components == 0) return true;
  const std::size_t end = 8 * std::min(query.size(), record.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < fields.size() && i < 64; ++i) {
    const std::size_t width = fields[i];
    if (at + width > end) return true;
    if ((components >> i & 1U) != 0 && !equal_bits(query, record, at, width)) return false;
    at += width;
  }
  return true;
}

}  // namespace heddle::sa
