/// GeneralInfo: which firmware a device of Mellanox (NVIDIA), or of Bull with their chips, runs. A vendor's
/// own attribute, of management class 0x0A: the fields are those that infiniband-diags' vendstat knows
/// (rdma-core, infiniband-diags/vendstat.c: is3_general_info_t, is4_general_info_t, ext_fw_info_device).
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "mad/packet.h"

namespace heddle::mad {

inline constexpr std::uint16_t general_info = 0x0017;
inline constexpr std::uint16_t vendor_class_port_info = 0x0001;

struct Firmware {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t sub_minor = 0;
  std::string psid;  ///< the board's; printable, 16 characters at most
  friend auto operator<=>(const Firmware&, const Firmware&) = default;
};
/// "27.2012.4036".
[[nodiscard]] std::string to_string(const Firmware& firmware);

struct GeneralInfo {
  std::uint16_t hw_revision = 0;
  std::uint16_t device_id = 0;
  Firmware firmware;
};

/// Whose devices are asked: by NodeInfo's VendorID.
[[nodiscard]] bool has_general_info(std::uint32_t vendor_id);
/// Whether a device has the version in fields of 32 bits, too; others in 8 bits each alone.
[[nodiscard]] bool has_wide_version(std::uint16_t device_id);

[[nodiscard]] GeneralInfo read_general_info(const Bytes& mad);
/// The data of the attribute; leaves the header as it is.
void write_general_info(const GeneralInfo& info, Bytes& mad);

}  // namespace heddle::mad
