#include "sim/scenario.h"

namespace heddle::sim {

std::string_view demo_scenario() {
  return R"(# Traffic that changes over time, on any fabric: hosts are chosen by their place in it, not by name.
seed = 1

[[phase]]
name = "background"
pattern = "uniform"
load = 0.1
start = "3s"
destinations = 4
change = "20s"
curve = "day"
curve_period = "2min"
curve_step = "5s"

[[job]]
name = "solver"
pattern = "all-to-all"
hosts = { part = [0.0, 0.25] }
load = 0.8
start = "2s"
compute = "6s"
communicate = "6s"

[[job]]
name = "stencil"
pattern = "neighbour"
hosts = { part = [0.25, 0.5] }
load = 0.5
compute = "3s"
communicate = "9s"

[[job]]
name = "spread"
pattern = "permutation"
hosts = { part = [0.5, 1.0], fraction = 0.3 }
load = 0.6
start = "10s"
compute = "15s"
communicate = "15s"

[[phase]]
name = "checkpoint"
pattern = "incast"
hosts = { part = [0.5, 0.75] }
to = { part = [0.98, 1.0] }
load = 0.2
start = "18s"
length = "8s"
repeat = "50s"

[[phase]]
name = "rush"
pattern = "hotspot"
targets = 4
hot = 0.3
destinations = 2
load = 0.3
start = "60s"
length = "15s"
repeat = "120s"
)";
}

}  // namespace heddle::sim
