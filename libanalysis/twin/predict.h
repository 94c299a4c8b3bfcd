/// What traffic comes to on a fabric that is thought of: the load of every link, what each host gets, whether
/// routes wait for one another in a circle. Pure: View in, values out.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/units.h"
#include "fabric/fabric.h"
#include "sim/traffic_plane.h"
#include "twin/view.h"

namespace heddle::twin {

struct Prediction {
  std::size_t flows = 0;
  std::size_t unroutable = 0;  ///< of these, without a way
  double wanted = 0;           ///< bit/s of all flows
  double carried = 0;
  std::vector<double> load;     ///< bit/s that leave each port, by PortIndex
  std::vector<double> share;    ///< of what its link carries, likewise
  std::vector<double> of_host;  ///< bit/s that the flows of each node's ports carry, by NodeIndex, both ways
  double largest = 0;           ///< share of the busiest direction of a link between switches
  PortIndex busiest = no_port;  ///< the port that it leaves by
  double largest_of_hosts = 0;  ///< of the busiest link of a host

  /// Ports of switches that lead to switches, the busiest first.
  [[nodiscard]] std::vector<PortIndex> busiest_links(const Fabric& fabric, std::size_t most) const;
};

/// Adds traffic to a plane that stands at its beginning.
using Fill = std::function<Result<void>(sim::TrafficPlane& plane)>;

/// `at`: into the traffic's course. `plane`: of LIDs, of flows that have no path of their own. Errors: of
/// `fill`.
[[nodiscard]] Result<Prediction> predict(const View& view, const Fill& fill, Picoseconds at = Picoseconds{0},
                                         unsigned plane = 0);

/// Fills in what follows from the loads: shares, and which are the largest.
void find_busiest(const View& view, Prediction& found);

/// Hosts by how much less they get, those that lose most first; none that lose less than a hundredth.
struct Loser {
  NodeIndex host;
  double before = 0;  ///< bit/s
  double after = 0;
};
[[nodiscard]] std::vector<Loser> losers(const Prediction& before, const Prediction& after);

}  // namespace heddle::twin
