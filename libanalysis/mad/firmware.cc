#include "mad/firmware.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/printable.h"

namespace heddle::mad {
namespace {

// From the beginning of the MAD: data of vendors' classes 0x09 to 0x0f follow its header of 24 bytes (IBA
// 16.5), and 8 bytes are reserved.
constexpr std::size_t hw_revision_at = 32;
constexpr std::size_t device_id_at = 34;
constexpr std::size_t version_at = 65;  ///< major, minor, sub-minor of 8 bits each
constexpr std::size_t psid_at = 80;
constexpr std::size_t psid_size = 16;
constexpr std::size_t wide_version_at = 100;  ///< likewise, of 32 bits

/// First and last, as vendstat lists them: SwitchX, Switch-IB, Quantum, IS4, ConnectX, BlueField, and Bull's.
constexpr std::array<std::pair<std::uint16_t, std::uint16_t>, 21> wide{
    {{0x0245, 0x0245}, {0xc738, 0xc73b}, {0xcb20, 0xcb20}, {0xcf08, 0xcf08}, {0xd2f0, 0xd2f0},
     {0x01b3, 0x01b3}, {0x1003, 0x101b}, {0xa2d2, 0xa2d2}, {0x1b02, 0x1b02}, {0x1b50, 0x1b50},
     {0x1ba0, 0x1ba0}, {0x1bd0, 0x1bd5}, {0x1bf0, 0x1bf0}, {0x1b33, 0x1b33}, {0x1b73, 0x1b73},
     {0x1b40, 0x1b41}, {0x1b60, 0x1b61}, {0x1b83, 0x1b83}, {0x1b93, 0x1b94}, {0x1bb4, 0x1bb5},
     {0x1bc4, 0x1bc6}}};

constexpr std::uint32_t mellanox = 0x0002c9;
constexpr std::uint32_t bull = 0x00119f;

std::uint32_t get(const Bytes& mad, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8U | mad[at + i];
  return value;
}

void put(Bytes& mad, std::size_t at, std::size_t bytes, std::uint32_t value) {
  for (std::size_t i = bytes; i-- > 0; value >>= 8U) mad[at + i] = static_cast<std::uint8_t>(value);
}

std::string text_of(const Bytes& mad) {
  std::string text;
  for (std::size_t i = 0; i < psid_size && mad[psid_at + i] != 0; ++i)
    text += static_cast<char>(mad[psid_at + i]);
  return printable(text);
}

}  // namespace

std::string to_string(const Firmware& firmware) {
  return fmt::format("{}.{}.{}", firmware.major, firmware.minor, firmware.sub_minor);
}

bool has_general_info(std::uint32_t vendor_id) { return vendor_id == mellanox || vendor_id == bull; }

bool has_wide_version(std::uint16_t device_id) {
  return std::ranges::any_of(
      wide, [&](const auto& range) { return range.first <= device_id && device_id <= range.second; });
}

GeneralInfo read_general_info(const Bytes& mad) {
  GeneralInfo info;
  info.hw_revision = static_cast<std::uint16_t>(get(mad, hw_revision_at, 2));
  info.device_id = static_cast<std::uint16_t>(get(mad, device_id_at, 2));
  const bool is_wide = has_wide_version(info.device_id);
  const auto part = [&](std::size_t i) {
    return is_wide ? get(mad, wide_version_at + 4 * i, 4) : get(mad, version_at + i, 1);
  };
  info.firmware = {part(0), part(1), part(2), text_of(mad)};
  return info;
}

void write_general_info(const GeneralInfo& info, Bytes& mad) {
  std::fill(mad.begin() + 24, mad.end(), std::uint8_t{0});
  put(mad, hw_revision_at, 2, info.hw_revision);
  put(mad, device_id_at, 2, info.device_id);
  const std::array parts{info.firmware.major, info.firmware.minor, info.firmware.sub_minor};
  const bool is_wide = has_wide_version(info.device_id);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    put(mad, version_at + i, 1, parts[i]);
    if (is_wide) put(mad, wide_version_at + 4 * i, 4, parts[i]);
  }
  const std::size_t length = std::min(info.firmware.psid.size(), psid_size);
  std::copy_n(info.firmware.psid.begin(), length, mad.begin() + psid_at);
}

}  // namespace heddle::mad
