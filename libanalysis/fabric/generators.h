/// Fabrics made from a few numbers: for the simulator, for plans without hardware, for tests. The same spec
/// gives the same fabric: GUIDs, names, ports and node order (switches from the leaves upwards, then hosts).
///
/// Ports of links are Init/LinkUp and no node has a LID, as before any subnet manager has run; `assign_lids`
/// gives what one leaves behind. A switch has its hosts (or its lower level) on ports 1.., then its other
/// links. The text form, used by the command line, the configuration and tests:
///
///   xgft:3;18,18,36;1,18,18                 XGFT(h; m1..mh; w1..wh)
///   tree:k=22,n=3            tree:k=18,n=3,full
///   fattree:hosts=5000,radix=40
///   torus:8x8,hosts=8,links=10              mesh:4x4x2,hosts=1,links=2
///   dragonfly+:groups=9,leaves=4,spines=4,hosts=4,global=2
///   random:switches=20,hosts=40,links=50,ports=12,seed=7
///   grown:seed=7                            grown:seed=7,hosts=600
///
/// and after any of them but the last `,width=4x,speed=HDR,ports=36` (ports of every switch; no fewer than it
/// uses).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"

namespace heddle {

/// Extended generalized fat tree (Öhring et al., 1995): a node of level i has children[i-1] nodes below it,
/// and one of level i-1 has parents[i-1] above it. Level 0 are the hosts; parents[0] is their number of
/// ports. Ports of a switch: 1..children downwards, then upwards.
struct XgftSpec {
  std::vector<unsigned> children;
  std::vector<unsigned> parents;
};

/// Half leaves the top level's upper ports empty (k^n hosts); Full uses them to carry twice as many.
enum class TreeForm : std::uint8_t { Half, Full };

/// k-ary n-tree (Petrini and Vanneschi, 1997): switches of 2k ports in n levels.
struct TreeSpec {
  unsigned k = 0;
  unsigned n = 0;
  TreeForm form = TreeForm::Half;
};

/// Three levels without oversubscription for a number of hosts: leaves and pods are filled in order, and as
/// few top switches as can take all links, with trunks where pods are few.
struct FatTreeSpec {
  unsigned hosts = 0;
  unsigned radix = 40;
};

enum class GridForm : std::uint8_t { Torus, Mesh };

/// 1 to 3 dimensions. Ports of a switch: hosts, then per dimension the trunk to the next and to the previous
/// switch. A dimension of two has one trunk between the two, in a torus too.
struct GridSpec {
  GridForm form = GridForm::Torus;
  std::vector<unsigned> size;
  unsigned hosts = 1;  ///< of each switch
  unsigned links = 1;  ///< of each trunk
};

/// Dragonfly+ (Shpiner et al., 2017): groups of leaves and spines, all joined; spines join the groups, every
/// pair of groups by the same number of links, spread over the spines. Global ports that do not go round stay
/// empty.
struct DragonflyPlusSpec {
  unsigned groups = 0;
  unsigned leaves = 0;  ///< of each group
  unsigned spines = 0;  ///< of each group
  unsigned hosts = 0;   ///< of each leaf
  unsigned global = 0;  ///< ports of each spine towards other groups
  unsigned links = 1;   ///< between a leaf and a spine
};

/// Connected; two switches may have several links, none has one to itself.
struct RandomSpec {
  unsigned switches = 0;
  unsigned hosts = 0;
  unsigned links = 0;  ///< between switches
  std::uint64_t seed = 1;
};

/// A site that grew over years: islands of leaves and spines, rails, one or two directors, joined by cores or
/// by a few cables; three generations of speed, trunks of different size, cables that are missing, hosts on
/// upper switches, a management island, aggregation nodes, and switches that share one description. Width,
/// speed and ports are drawn, those of the GeneratorSpec do not count.
struct GrownSpec {
  std::uint64_t seed = 1;
  unsigned hosts = 0;  ///< adapters besides aggregation nodes; 0: drawn, 20 to 4,000
};

struct GeneratorSpec {
  std::variant<XgftSpec, TreeSpec, FatTreeSpec, GridSpec, DragonflyPlusSpec, RandomSpec, GrownSpec> shape;
  LinkWidth width = LinkWidth::X4;
  LinkSpeed speed = LinkSpeed::Hdr;
  unsigned switch_ports = 0;  ///< 0: as many as the switch with the most cables of its kind needs
};

/// Errors name the key or number and what may stand there.
[[nodiscard]] Result<GeneratorSpec> parse_generator_spec(std::string_view text);
/// The text form; parsing it gives the same spec.
[[nodiscard]] std::string to_string(const GeneratorSpec& spec);
/// Whether a text means a generator rather than a file: it begins with a generator's name and a colon.
[[nodiscard]] bool is_generator_spec(std::string_view text);

[[nodiscard]] Result<std::shared_ptr<const Fabric>> generate(const GeneratorSpec& spec);
[[nodiscard]] Result<std::shared_ptr<const Fabric>> generate(std::string_view text);

/// The fabric as a subnet manager leaves it: LIDs from 1 in node order, switches without LMC (base port 0 has
/// none, IBA 14.2.5.6), each port of a channel adapter or router aligned to 2^lmc; every cabled port Active.
/// Errors: Invalid for lmc above 7, or where the unicast LIDs do not suffice.
[[nodiscard]] Result<std::shared_ptr<const Fabric>> assign_lids(const Fabric& fabric, std::uint8_t lmc = 0);

}  // namespace heddle
