/// Messages of the kernel module heddle_vhca, and the two ways between its packets and ours. The kernel's
/// smi.c has moved the hop pointer of directed routes where the fabric does it itself (IBA 14.2.2): both ways
/// put it back.
#pragma once

#include <span>

#include "mad/packet.h"
#include "vhca/heddle_vhca.h"

namespace heddle::simserve {

/// A header with the payload of its type.
struct KernelMessage {
  heddle_vhca_header header{};
  union Payload {
    heddle_vhca_create create;
    heddle_vhca_port port;
    heddle_vhca_ready ready;
    heddle_vhca_packet packet;
    heddle_vhca_local local;
    heddle_vhca_modify_port modify_port;
    heddle_vhca_description description;
  } payload{};

  [[nodiscard]] std::span<const std::uint8_t> bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(this), header.size};
  }
};
static_assert(offsetof(KernelMessage, payload) == sizeof(heddle_vhca_header));

[[nodiscard]] KernelMessage create_message(const heddle_vhca_create& payload);
[[nodiscard]] KernelMessage port_message(const heddle_vhca_port& payload);
[[nodiscard]] KernelMessage ready_message();
[[nodiscard]] KernelMessage packet_message(const heddle_vhca_packet& payload);
[[nodiscard]] KernelMessage local_message(const heddle_vhca_local& payload);

/// Whether the bytes that the kernel gave are one message of a known type, whole.
[[nodiscard]] bool is_whole(const KernelMessage& message, std::size_t size);

/// What the kernel sends, as the fabric takes it in.
[[nodiscard]] mad::Packet from_kernel(const heddle_vhca_packet& packet);
/// What arrives for `port` (from 1), as the kernel takes it in.
[[nodiscard]] heddle_vhca_packet to_kernel(const mad::Packet& packet, std::uint32_t port);

}  // namespace heddle::simserve
