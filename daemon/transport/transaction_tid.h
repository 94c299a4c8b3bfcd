/// The low half of the engine's TIDs, the half that an agent must return (the high half is the kernel's,
/// which puts its agent number there): generation (never 0), slot, attempt. The generation tells a late
/// answer from one to the next transaction in the same slot; the attempt tells which MAD was answered.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mad/packet.h"
#include "transport/transaction_slab.h"

namespace heddle::transport {

struct TransactionTid {
  static constexpr unsigned attempt_bits = 3;
  static constexpr unsigned slot_bits = 18;
  static constexpr unsigned generation_bits = 32 - slot_bits - attempt_bits;
  static constexpr std::uint32_t most_attempts = 1U << attempt_bits;
  static_assert(TransactionEngine::capacity < (1U << slot_bits));

  std::uint32_t generation = 0;
  Slot slot = 0;
  unsigned attempt = 0;

  [[nodiscard]] static constexpr TransactionTid read(std::uint64_t tid) {
    const auto low = static_cast<std::uint32_t>(tid);
    return {.generation = low >> (slot_bits + attempt_bits),
            .slot = (low >> attempt_bits) & ((1U << slot_bits) - 1),
            .attempt = low & (most_attempts - 1)};
  }

  void write(mad::Bytes& mad) const {
    constexpr std::size_t offset = 8;  // IBA 13.4.3, MAD header
    const std::uint32_t low = (generation << (slot_bits + attempt_bits)) | (slot << attempt_bits) | attempt;
    std::fill_n(mad.begin() + offset, 4, std::uint8_t{0});
    for (unsigned i = 0; i < 4; ++i) {
      mad[offset + 4 + i] = static_cast<std::uint8_t>(low >> (24 - 8 * i));
    }
  }

  /// The generation after `generation`.
  [[nodiscard]] static constexpr std::uint16_t next(std::uint16_t generation) {
    const auto following = static_cast<std::uint16_t>((generation + 1U) & ((1U << generation_bits) - 1));
    return following == 0 ? std::uint16_t{1} : following;
  }
};

}  // namespace heddle::transport
