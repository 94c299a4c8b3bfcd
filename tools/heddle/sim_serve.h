/// heddle sim serve: a simulated fabric with its traffic in this process, served until it is told to stop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "heddle/command.h"
#include "sim/plane_kind.h"

namespace heddle::cli {

struct SimServeOptions {
  std::string source;    ///< topology file or generator
  std::string scenario;  ///< file, "demo", or empty
  std::string name = "sim";
  std::optional<std::uint16_t> udp_port;
  sim::PlaneKind plane = sim::PlaneKind::Flow;
  double time_scale = 1;
  double training_delay = 0;    ///< seconds
  double longest_training = 0;  ///< seconds; see sim::Options
  std::uint64_t seed = 1;
  unsigned data_vls = 8;
  bool optimized_sl2vl = false;
  bool configured = false;          ///< LIDs, tables and Active links are there from the start
  std::vector<std::string> kernel;  ///< hosts that are adapters of this kernel
};

/// Returns on SIGINT or SIGTERM. Says on standard output, in one line, when programs can attach.
[[nodiscard]] Result<void> sim_serve(const SimServeOptions& options, Context& context);

}  // namespace heddle::cli
