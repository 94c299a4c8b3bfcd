/// Small fabrics for the tests of the routers, with LIDs assigned: switches first, then adapters aligned to
/// their LMC.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "fabric/fabric.h"

namespace heddle::routing::shapes {

/// Collects switches, cables and hosts by number; `build` numbers ports in the order of the calls.
class Sketch {
 public:
  explicit Sketch(unsigned switches) : ports_(switches, 0), guids_(switches) {
    for (unsigned s = 0; s < switches; ++s) guids_[s] = 0x100 + s;
  }

  void cable(unsigned a, unsigned b, unsigned count = 1) {
    for (unsigned i = 0; i < count; ++i) cables_.push_back({a, b});
  }
  void hosts(unsigned at, unsigned count) {
    for (unsigned i = 0; i < count; ++i) hosts_.push_back(at);
  }
  /// Any order of GUIDs, ports and nodes must do: mix them all.
  void shuffle(std::uint64_t seed);

  [[nodiscard]] std::shared_ptr<const Fabric> build(std::uint8_t lmc = 0) const;

 private:
  struct Cable {
    unsigned a;
    unsigned b;
  };
  std::vector<Cable> cables_;
  std::vector<unsigned> hosts_;
  std::vector<unsigned> ports_;
  std::vector<std::uint64_t> guids_;
};

/// Full two-level tree: `leaves` switches with `hosts` each, `trunk` cables to each of `spines`.
[[nodiscard]] Sketch two_level_tree(unsigned leaves, unsigned spines, unsigned hosts, unsigned trunk = 1);
/// Full three-level tree of switches with 2k ports: 2k pods of k leaves and k middles, k*k tops, 2k^3 hosts.
[[nodiscard]] Sketch three_level_tree(unsigned k);
/// columns x rows, `trunk` cables to each neighbour, wrapped around.
[[nodiscard]] Sketch torus(unsigned columns, unsigned rows, unsigned hosts, unsigned trunk);
/// A connected tangle: a random spanning tree and `extra` more cables, hosts thrown anywhere.
[[nodiscard]] Sketch tangle(unsigned switches, unsigned extra, unsigned hosts, std::uint64_t seed);

}  // namespace heddle::routing::shapes
