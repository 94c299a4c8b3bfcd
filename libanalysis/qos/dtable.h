/// The methodology that configures a DTable (thesis, chapter 5; facts/qos.md 3): the distance between an SL's
/// entries sets its latency, the weights set its share, and the two are chosen apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "qos/dtable_arbiter.h"

namespace heddle::qos {

struct DTableClass {
  std::string name;
  std::uint32_t distance = 0;  ///< 2, 4, 8, 16, 32 or 64
  std::uint32_t mtu = 0;       ///< credits of 64 bytes
  double share = 0;
};

struct DTableRequest {
  std::uint32_t entries = 0;  ///< N
  std::uint32_t gmtu = 0;     ///< largest message of any class, credits
  std::optional<double> k;    ///< pool factor; searched if not given
  std::optional<double> w;    ///< largest weight per entry, in GMTU; searched if not given
  std::vector<DTableClass> classes;
};

/// The methodology's columns for one class.
struct DTableColumn {
  std::uint32_t entries = 0;        ///< n_i
  double min_share = 0;             ///< of weights of one MTU per entry
  double max_share = 0;             ///< of weights of M per entry
  double total = 0;                 ///< T_i, credits
  std::uint32_t weight = 0;         ///< per entry, rounded up
  std::uint64_t rounded_total = 0;  ///< n_i x weight
  double rounded_share = 0;         ///< R_i
  std::int64_t correction = 0;      ///< D_i, credits
  std::uint64_t corrected_total = 0;
  double corrected_share = 0;
};

struct DTableDesign {
  double k = 0;
  double w = 0;
  double pool = 0;                    ///< N x GMTU x k, credits
  double max_weight = 0;              ///< M
  std::vector<DTableColumn> columns;  ///< in the order of the request
  /// Lanes are positions in the request; a slot that no class uses has weight 0.
  DTable rounded;
  DTable corrected;
};

/// Errors (Invalid, naming the class): distances that do not fit together, shares that exceed 1, or that the
/// given k and w cannot give.
[[nodiscard]] Result<DTableDesign> design_dtable(const DTableRequest& request);

/// For each distance a start offset such that all evenly spaced entries fit into the table. Bit-reversal
/// order of the free offsets, shortest distance first, keeps every power-of-two distance available as long as
/// there is room. Errors: Invalid if they need more than the table.
[[nodiscard]] Result<std::vector<std::uint32_t>> place_by_distance(
    std::uint32_t entries, const std::vector<std::uint32_t>& distances);

/// Adds `corrections[lane]` credits to the lanes of a table: one credit at a time, backwards from the end
/// over the lane's entries, round and round, never below `least[lane]`.
void correct_weights(DTable& table, const std::vector<std::int64_t>& corrections,
                     const std::vector<std::uint32_t>& least);

/// SBT weights in packets that sum to 100, nearest to the shares (largest remainders; thesis, chapter 2).
[[nodiscard]] std::vector<std::uint32_t> sbt_weights(const std::vector<double>& shares);

}  // namespace heddle::qos
