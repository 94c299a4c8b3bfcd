/// Asks up to twice more what a heavy sweep has not been answered, before OpenSM's drop manager sees the
/// gaps, the second time by another route. That one takes the whole switch out for one lost block of P_Keys
/// or a lost SwitchInfo (osm_drop_mgr.c), and OpenSM then sets the neighbours' ports Down: a live switch, and
/// hosts behind it, would lose their ways. Where OpenSM's own switch is silent too, it is OpenSM that is cut
/// off: nobody is dropped in that sweep. Whoever it does not know is asked once more, too, behind ports that
/// are up: OpenSM would set these Down. Asks ports once more that have said Active while the other end of
/// their cable says that it has trained anew: it went down in between, and OpenSM would route over a port
/// that is not Active. So are Active ports of links that the plan takes out of use: the daemon may have
/// turned them off since. OpenSM's state manager thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/ids.h"
#include "fabric/change.h"
#include "opensm_headers.h"
#include "opensm_log.h"
#include "questions.h"

namespace heddle::plugin {

class SecondAsking {
 public:
  explicit SecondAsking(osm_opensm_t& opensm) : opensm_{opensm}, log_{opensm.log}, questions_{opensm} {}

  /// The fabric has been discovered, and nobody dropped yet. Without OpenSM's lock, which the handlers of the
  /// answers take; waits for these. Sends nothing where everybody has answered, nobody contradicts another,
  /// and no link of `off`, which the plan takes out of use, is Active.
  void run(std::span<const LinkRef> off);

 private:
  /// What a node has answered in this sweep. More is better.
  struct Heard {
    std::size_t answers = 0;        ///< of the node and its ports
    std::size_t lacking_pkeys = 0;  ///< ports of which a block is missing
    std::uint32_t discoveries = 0;  ///< answers of NodeInfo
    bool complete = false;
    [[nodiscard]] bool is_more_than(const Heard& before) const {
      return complete || answers > before.answers || lacking_pkeys < before.lacking_pkeys;
    }
  };
  /// To have a node answer.
  struct Attempts {
    unsigned in_vain = 0;
    std::vector<osm_dr_path_t> routes;  ///< of the questions under way
    Heard before;                       ///< the last one
    std::uint32_t discoveries = 0;      ///< before the last one, which may begin them anew
    bool is_under_way = false;
    bool is_by_other_route = false;  ///< the last one, as all below
    bool was_answered = false;
  };
  using AttemptsByNode = std::map<NodeGuid, Attempts>;
  /// What is missing after all.
  struct Missing {
    std::set<NodeGuid> nodes;
    bool is_cut_off = false;
  };

  void ask_who_is_not_known();
  void ask_their_switches(std::span<const PortRef> ports);
  [[nodiscard]] std::vector<PortRef> still_with_nobody_behind(std::span<const PortRef> ports);
  Missing ask_the_missing();
  [[nodiscard]] osm_physp_t* own_switch() const;
  bool is_cut_off();
  void keep(const std::set<NodeGuid>& silent);
  void ask_the_outdated(std::span<const LinkRef> off);

  // With OpenSM's lock.
  struct Asked {
    std::size_t nodes = 0;
    std::size_t questions = 0;
  };
  Asked ask_again(const std::set<NodeGuid>& missing, AttemptsByNode& attempts, std::size_t most);
  [[nodiscard]] std::vector<NodeGuid> in_turn(const std::set<NodeGuid>& missing,
                                              const AttemptsByNode& attempts) const;
  std::size_t judge(AttemptsByNode& attempts);
  [[nodiscard]] osm_node_t& node_of(NodeGuid guid) const;
  [[nodiscard]] bool is_by_itself(osm_node_t& node) const;
  [[nodiscard]] Heard heard_of(osm_node_t& node) const;
  [[nodiscard]] std::set<NodeGuid> incomplete() const;
  [[nodiscard]] std::vector<osm_physp_t*> outdated() const;
  [[nodiscard]] std::vector<osm_physp_t*> with_nobody_behind() const;
  [[nodiscard]] std::vector<osm_physp_t*> active_of(std::span<const LinkRef> links) const;

  osm_opensm_t& opensm_;
  Log log_;
  Questions questions_;
  /// They were asked again in vain, and have not answered everything since: an agent that hangs does not cost
  /// every sweep its time-outs. Who is dropped and not found again is forgotten.
  std::set<NodeGuid> given_up_;
  /// In the sweep before: an agent of the own switch that hangs is dropped in the end.
  bool has_kept_ = false;
  std::vector<osm_dr_path_t> in_vain_;  ///< routes of questions of this sweep
  std::set<PortRef> nobody_behind_;     ///< ports that are up, and behind which nobody has answered again
};

}  // namespace heddle::plugin
