/// Follows all traffic through up*/down* tables at once, destination by destination: upwards from the bottom,
/// then downwards from the top, so that every switch is visited after all that send to it. Everything it is
/// given must outlive it. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regulation/network.h"
#include "regulation/traffic.h"
#include "routing/hop_map.h"

namespace heddle::regulation {

class TableWalk {
 public:
  TableWalk(const Network& network, const routing::ForwardingTables& tables, unsigned plane);

  /// The tables hold something else than when they were read last.
  void tables_changed() { block_ = no_block; }

  /// bit/s of each directed cable between switches.
  [[nodiscard]] std::vector<double> loads(const Traffic& traffic);

 private:
  struct DestinationLid {
    Lid lid;
    std::uint32_t target = 0;
    double part = 1;  ///< of the target's traffic
  };

  struct Step {
    std::uint32_t hop = routing::HopMap::none;
    std::uint32_t to = 0;  ///< position that it leads to
  };
  /// Of the switch at a position, by a column's entry for it; no hop where there is no way.
  [[nodiscard]] Step step(std::size_t position, std::uint8_t port) const {
    return port < ports_ ? steps_[position * ports_ + port] : Step{};
  }
  /// The entry of every switch for the LID, by position. Valid until the next call.
  const std::uint8_t* column(Lid lid);

  const Network& network_;
  const routing::ForwardingTables& tables_;
  std::size_t ports_ = 1;                  ///< more than any port number that leads to a switch
  std::vector<Step> steps_;                ///< by position and port
  std::vector<std::uint8_t> block_bytes_;  ///< LID by LID, the entries of all switches by position
  static constexpr std::size_t no_block = static_cast<std::size_t>(-1);
  std::size_t block_ = no_block;
  std::vector<DestinationLid> lids_;        ///< ascending
  std::vector<std::uint32_t> by_position_;  ///< switch at each place of the order
  std::vector<std::uint32_t> position_;     ///< and back
};

}  // namespace heddle::regulation
