/// The fabric as the wire tells it: records and commands go in, in the order of their times; what tables,
/// links and LIDs may be comes out, and what has changed. Knows the topology, and nothing of routing.
#pragma once

#include <map>
#include <memory>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "check/batch.h"
#include "check/handed_on.h"
#include "check/link.h"
#include "check/table_block.h"
#include "check/topology.h"

namespace wire {

/// What a record was about, for a reader of a violation.
struct Remark {
  std::size_t record;
  int node;
  std::string text;
};

/// What the last event changed.
struct Changes {
  std::set<int> lids;
  std::set<int> groups;  ///< multicast LIDs
  bool hosts = false;    ///< which switches packets come from
  bool links = false;
  bool faults = false;  ///< something was cut, mended, killed or revived
  std::set<int> dead;   ///< nodes that have just been killed
  [[nodiscard]] bool any() const { return !lids.empty() || !groups.empty() || hosts || links; }
};

class World {
 public:
  /// `lag`: how long packets live; `late`: see TableBlock.
  World(const Topology& topology, const Timing& timing);

  void apply(std::size_t index, const Record& record);
  void begin(const Command& command);
  /// The time at which something changes by itself; 0: never.
  [[nodiscard]] Time next_expiry() const { return expiries_.empty() ? 0 : std::get<0>(expiries_.top()); }
  void expire(Time now);

  [[nodiscard]] Changes take_changes() { return std::exchange(changes_, {}); }

  static constexpr int lid_limit = 0xc000;
  [[nodiscard]] Time lag() const { return timing_.lag; }
  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Link& link(int cable) const { return links_[static_cast<std::size_t>(cable)]; }
  /// It was told to be, and nothing else since: whoever does not reach it cannot bring its link back.
  [[nodiscard]] bool is_disabled(End port) const { return disabled_.contains(port); }
  /// node -1: nobody's.
  [[nodiscard]] End owner(int lid) const { return owners_[static_cast<std::size_t>(lid)]; }
  [[nodiscard]] int base_lid(int lid) const;
  [[nodiscard]] const std::set<int>& lids() const { return lids_; }
  /// Null: nothing is known of this entry.
  [[nodiscard]] const std::vector<Candidate>* entry(int switch_number, int lid) const;
  [[nodiscard]] bool is_unknown(int switch_number, int lid) const;
  /// The masks of 16 ports each, by position; null where nothing is known.
  [[nodiscard]] const std::vector<Candidate>* mask(int switch_number, int group, int position) const;
  enum class Ends : std::uint8_t { Any, Hosts };  ///< Hosts: no aggregation nodes
  [[nodiscard]] bool has_ends(int switch_number, Ends which) const;
  /// It is off: nobody sends from there.
  [[nodiscard]] bool is_dead(int switch_number) const { return dead_.contains(switch_number); }
  /// When the writes began that the last one is of.
  [[nodiscard]] Time batch_began() const { return batch_.began(); }
  /// Ports of programs that write forwarding tables.
  [[nodiscard]] const std::set<End>& managers() const { return managers_; }

  [[nodiscard]] const std::vector<Remark>& remarks() const { return remarks_; }
  /// SMPs whose way or answer could not be understood: a checker that sees little must say so.
  [[nodiscard]] std::size_t not_understood() const { return not_understood_; }
  [[nodiscard]] std::size_t smps() const { return smps_; }

 private:
  static constexpr int most_blocks = lid_limit / static_cast<int>(block_bytes);

  struct Request {
    std::uint64_t number = 0;
    Time asked = 0;
    End target;  ///< port 0 of a switch where a whole switch is meant
    bool is_set = false;
    std::uint16_t attribute = 0;
    std::uint32_t modifier = 0;
    bool takes_link = false;
    bool is_answered = false;
    Bytes content{};  ///< of a Set
  };
  struct BlockAt {
    int switch_number = -1;
    bool is_multicast = false;
    std::uint32_t number = 0;  ///< of the block; multicast: the attribute modifier
    friend auto operator<=>(const BlockAt&, const BlockAt&) = default;
  };
  using RequestKey = std::tuple<int, std::uint32_t, std::uint16_t, std::uint32_t>;

  // world_smps.cc
  void control(const Record& record);
  void request(std::size_t index, const Record& record, const Mad& mad);
  void answer(std::size_t index, const Record& record, const Mad& mad);
  [[nodiscard]] End target_of(int process, const Mad& mad) const;
  void port_set(Request& request, const Mad& mad, Time now);
  void port_answer(int process, const Request& request, const Mad& mad, Time now);
  void remark(std::size_t index, const Request& request, const char* what, const Mad& mad);

  void learn_lid(End port, int lid, int lmc, Time asked);
  TableBlock& block(const BlockAt& at);
  void update(const BlockAt& at, Time now);
  void link_changed(int cable);
  void cut_node(int node, bool dead, Time now);
  void forget_disabled(int node);
  void forget_tables(int node, Time now);

  const Topology& topology_;
  Timing timing_;
  HandedOn handed_on_;
  Batch batch_;
  Changes changes_;
  std::vector<Link> links_;
  std::set<End> disabled_;
  std::vector<End> owners_;
  std::set<int> lids_;
  struct PortLids {
    int base = 0;
    int count = 0;
    Time asked = 0;
  };
  std::map<End, PortLids> port_lids_;
  std::vector<std::vector<std::unique_ptr<TableBlock>>> lfts_;  ///< by switch, block
  std::map<BlockAt, std::unique_ptr<TableBlock>> mfts_;
  std::map<int, End> origins_;  ///< by process: where it sits
  std::set<End> managers_;
  std::set<int> dead_;  ///< switches, by number
  std::map<RequestKey, Request> requests_;
  std::uint64_t next_request_ = 1;
  using Expiry = std::tuple<Time, BlockAt>;
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> expiries_;
  std::vector<Remark> remarks_;
  std::size_t not_understood_ = 0;
  std::size_t smps_ = 0;
};

}  // namespace wire
