/// Which way each LID comes down to its own switch: what home tables are made from.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/destinations.h"
#include "routing/legal_paths.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

inline constexpr std::size_t longest_chain = 6;
inline constexpr std::uint16_t end_of_chain = 0xffff;

/// Switches above the LID's own, and the ports by which each of them sends it down.
struct Chain {
  std::array<std::uint16_t, longest_chain> sw;
  std::array<std::uint8_t, longest_chain> out;
};
/// For each switch of a chain: which of the switches below it, of those by which it reaches the LID's own
/// soonest, comes before it, and how many these are. Apart, as it is seldom asked.
struct Places {
  std::array<std::uint8_t, longest_chain> place{};
  std::array<std::uint8_t, longest_chain> places{};
};
struct Chains {
  std::vector<Chain> all;  ///< by position among the destinations
  std::vector<Places> places;
};

/// Positions among the destinations in the order in which their ports were found, which is near to that in
/// which collectives number them.
[[nodiscard]] std::vector<std::uint32_t> in_order_found(const SwitchGraph& graph,
                                                        const Destinations& destinations);

/// Deals them in `order`: LIDs that follow one another come down over different switches.
[[nodiscard]] Chains deal_chains(const SwitchGraph& graph, const Destinations& destinations,
                                 const Ranks& ranks, const LegalPaths& full,
                                 std::span<const std::uint32_t> order);

}  // namespace heddle::routing
