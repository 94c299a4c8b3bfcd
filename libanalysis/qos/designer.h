/// Computes arbitration tables from what each class of traffic must get. Pure; any thread.
///
/// Each SL gets a VL of its own (or shares one, where there are too few: sharing.h) and entries in the one
/// table that its priority names. All packets are taken to be one MTU long (or 64 bytes with
/// Rounding::Units), and weights are whole packets, so that all ways of rounding agree where 8 bits hold
/// them.
///
/// Optimal means, of all such tables and limits that meet every latency asked for: first, least largest share
/// error; then, least largest distance; then, least longest wait. The first is proved (share_search.h)
/// whenever no latency is asked for, and otherwise among the counts for which an arrangement was found;
/// `Design::proof` says what holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "qos/analyzer.h"
#include "qos/share_search.h"

namespace heddle::qos {

enum class Priority : std::uint8_t { High, Low };

struct SlRequest {
  Sl sl;
  double share = 0;
  Priority priority = Priority::High;
  std::optional<std::uint32_t> distance;  ///< latency class: at most so many selections from one to the next
  std::optional<double> latency_ns;       ///< at most so long at the head of the queue
};

struct DesignPort {
  std::uint32_t high_entries = max_entries;
  std::uint32_t low_entries = max_entries;
  std::uint32_t mtu = 4096;
  BitRate rate{100e9};
  unsigned data_vls = 8;
};

struct DesignRequest {
  DesignPort port;
  std::vector<SlRequest> sls;
  double error = 0.01;  ///< no share may be further from the wanted one
  LowGrant grant = LowGrant::Entry;
  Rounding rounding = Rounding::Up;
  std::uint8_t largest_limit = 254;  ///< of LimitOfHighPriority
  SearchEffort effort;
};

/// What an SL asked for, and what the analyzer says that it gets.
struct SlService {
  SlRequest request;
  Vl vl;
  double vl_share = 0;  ///< wanted, of all SLs on this VL
  VlService service;    ///< of the VL
  std::optional<double> wait_ns;
};

struct DesignProof {
  bool least_error = false;          ///< no tables have a smaller largest share error
  bool least_distance = false;       ///< none with this error have a smaller largest distance
  std::uint64_t distance_bound = 0;  ///< none with this error can have a smaller one than this
};

struct Design {
  VlArbitration tables;
  Sl2Vl map;  ///< SLs that were not asked for share the VL of the first low SL, or of the last high one
  std::vector<SlService> sls;
  double largest_error = 0;
  std::uint64_t largest_distance = 0;
  DesignProof proof;
};

/// Errors: Invalid for a request that contradicts itself, Refused with what cannot be met, together with
/// what, and the best there is.
[[nodiscard]] Result<Design> design(const DesignRequest& request);

/// [port], [[sl]] and [design] tables (docs/qos.md). Unknown keys are errors. `name` is the file's, for
/// messages.
[[nodiscard]] Result<DesignRequest> parse_design_request(std::string_view toml, const std::string& name);

}  // namespace heddle::qos
