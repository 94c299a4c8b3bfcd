/// Who may order a host's connections about: whoever has the key. Each message has a tag, the first 16 bytes
/// of HMAC-SHA-256 (FIPS 198-1) over all that the fabric does not change on the way, and requests have
/// sequence numbers that only grow, so that a message that was seen on the wire is good for nothing a second
/// time. The key itself is never sent.
///
/// Not in the tag: the upper half of the TID, which the kernel keeps for itself, and addresses.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "mad/packet.h"

namespace heddle::apm {

using Key = std::array<std::uint8_t, 32>;

/// 64 hexadecimal digits, white space around them. Errors: Invalid; the text is not repeated.
[[nodiscard]] Result<Key> parse_key(std::string_view text);

void seal(const Key& key, mad::Bytes& mad);
/// Whether the tag is right; compared in constant time.
[[nodiscard]] bool is_sealed(const Key& key, const mad::Bytes& mad);

/// The daemon's side: gives requests their numbers. They are at least the time of day, so that a daemon that
/// starts anew, or another one that takes over, goes on where the last one stopped; where its clock is
/// behind, the first answer says how far.
class Sealer {
 public:
  explicit Sealer(const Key& key) : key_{key} {}

  /// `time_of_day`: microseconds since 1970.
  void seal_request(std::uint64_t time_of_day, mad::Bytes& mad);
  /// Whether an agent with the key has said this to a request of this sealer.
  [[nodiscard]] bool admit_answer(const mad::Bytes& mad);

 private:
  Key key_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace heddle::apm
