/// A simulated fabric of this process with a plan's tables in all its ports, and the thesis' method on it:
/// one flow per SL between two hosts, each trying to fill the link, all at once (facts/qos.md 4).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "qos/analyzer.h"
#include "qos/programming.h"

namespace heddle::cli {

struct QosTestFabric {
  std::string source = "tree:k=2,n=2";  ///< topology file or generator
  std::string from;                     ///< hosts by name; empty: the first and the last
  std::string to;
  unsigned vls = 8;       ///< of every port: 1, 2, 4, 8 or 15
  unsigned entries = 64;  ///< of both tables of every port
};

struct QosTestResult {
  std::vector<BitRate> rates;    ///< by flow
  qos::Programming programming;  ///< of the sending host's port: the plan, or what fits of it
};

/// A flow for each of `sls`. Errors: of the fabric, the hosts, and of tables that no port can hold.
[[nodiscard]] Result<QosTestResult> test_on_own_fabric(const QosTestFabric& fabric,
                                                       const qos::Programming& plan,
                                                       const std::vector<Sl>& sls,
                                                       const qos::AnalyzerOptions& options);

/// The same on a fabric that somebody serves (heddle sim serve, or heddled with fabric.serve), with the
/// tables that its ports have. The flows are taken away again. They run for `settle` before they are
/// measured: at packet level a rate is that of the last whole simulated millisecond.
[[nodiscard]] Result<std::vector<BitRate>> test_on_served_fabric(const std::string& name,
                                                                 const std::string& from,
                                                                 const std::string& to,
                                                                 const std::vector<Sl>& sls,
                                                                 std::chrono::milliseconds settle);

/// What the analyzer says that each flow gets, of what all get.
[[nodiscard]] Result<std::vector<double>> predicted_shares(const qos::Programming& programming,
                                                           const std::vector<Sl>& sls,
                                                           const qos::AnalyzerOptions& options);

}  // namespace heddle::cli
