/// The channels that a rank sends or receives on, and how many messages each has had.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heddle::vef {

struct Channel {
  std::uint64_t communicator = 0;  ///< its ID among all ranks
  std::uint32_t peer = 0;          ///< rank of the world
  std::int32_t tag = 0;
  friend bool operator==(const Channel&, const Channel&) = default;
};

class Channels {
 public:
  /// A program that needs more uses a tag of its own for each message.
  static constexpr std::size_t most = std::size_t{1} << 20U;

  /// Throws std::length_error when there are too many.
  [[nodiscard]] std::uint32_t at(const Channel& channel);
  [[nodiscard]] const std::vector<Channel>& all() const { return all_; }

 private:
  struct Hash {
    std::size_t operator()(const Channel& channel) const {
      const std::uint64_t mixed =
          channel.communicator * 0x9e3779b97f4a7c15ULL ^
          (std::uint64_t{channel.peer} << 32U | static_cast<std::uint32_t>(channel.tag));
      return static_cast<std::size_t>(mixed * 0xff51afd7ed558ccdULL >> 20U);
    }
  };
  std::vector<Channel> all_;
  std::unordered_map<Channel, std::uint32_t, Hash> place_;
};

}  // namespace heddle::vef
