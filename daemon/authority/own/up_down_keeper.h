/// up*/down* tables of a fabric whose links come and go: keeps the order of the switches and everybody's home
/// port from the fullest snapshot, so that a link that goes off changes only what depended on it, and comes
/// back to the same tables. What a Provisioner routes with. One thread.
///
/// The order of two switches, once decided, stays as long as the keeper lives, whatever is added, lost or
/// returns: so the dependencies of all tables that it ever made have no cycle together. Only where most of
/// the switches are new does it begin with another order: that is another fabric, or one that is being
/// switched on; and where the order leaves hosts apart that all cables together could join.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "authority/known_fabric.h"
#include "authority/own/mute_nodes.h"
#include "authority/own/routes.h"
#include "fabric/change.h"
#include "fabric/fabric.h"
#include "routing/updn.h"

namespace heddle::provision {

class UpDownKeeper {
 public:
  using Rank = std::pair<NodeGuid, std::uint16_t>;

  /// Which links there are to route over.
  enum class Counts : std::uint8_t {
    Active,  ///< at both ends: whoever writes tables raises ports first
    Trained  ///< whoever is subnet manager raises them
  };

  explicit UpDownKeeper(unsigned planes = 1, Counts counts = Counts::Active)
      : counts_{counts}, avoided_(planes) {}

  /// Switches that are gone whose place in the order is kept at least; a node may call itself another one
  /// each time.
  static constexpr std::size_t most_gone = 4096;

  /// The order of an earlier run. Before the first route().
  void remember(std::span<const Rank> ranks) { ranks_.insert(ranks.begin(), ranks.end()); }
  /// Likewise, and what it was made for: switches and cables that are not seen have their places in it,
  /// unless most of the switches are other ones.
  void remember(authority::Remembered before);
  [[nodiscard]] std::vector<Rank> ranks() const { return {ranks_.begin(), ranks_.end()}; }

  /// From the next route() on, no path of the plane leads over these links, unless hosts would be cut off, or
  /// a switch from the manager: then all that are up are used. Links that are not there are ignored.
  void avoid(unsigned plane, std::vector<LinkRef> links) { avoided_[plane] = std::move(links); }
  /// Likewise of all planes, besides what is to be avoided, unless hosts would be cut off.
  void withhold(std::vector<LinkRef> links) { withheld_ = std::move(links); }
  /// Likewise of all planes, and whatever it costs: links that are off or about to go off. Where it would cut
  /// off hosts, or a switch from the manager, those that are still `going` are used, but for what is withheld
  /// or forced: since it was decided that they go, others have been lost. Both ascending.
  void close(std::vector<LinkRef> links, std::vector<LinkRef> going = {}) {
    closed_ = std::move(links);
    going_ = std::move(going);
  }
  /// An operator takes these switches out of service: nobody misses them. Ascending.
  void drain(std::vector<NodeGuid> switches) { drained_ = std::move(switches); }
  /// An operator wants them off, whoever is cut off by it.
  void force(std::vector<LinkRef> links) { forced_ = std::move(links); }
  /// What these switches hold, as far as it is known, in tables that reach to `top`. A way that works and
  /// that the order does not give is not avoided away: then all that are up are used, too.
  using Held = std::function<routing::ForwardingTables(const routing::SwitchGraph&, Lid top)>;
  void look_at(Held held) { held_ = std::move(held); }
  /// By whose base LID switches are managed; none if it has none.
  void manage_from(Lid lid) { manager_ = lid; }
  /// This plane carries nothing (none: each may), from here on.
  void set_idle(std::optional<unsigned> plane) { idle_plane_ = plane; }
  [[nodiscard]] const std::vector<LinkRef>& avoided(unsigned plane) const { return avoided_[plane]; }
  [[nodiscard]] const std::vector<LinkRef>& closed() const { return closed_; }
  [[nodiscard]] unsigned planes() const { return static_cast<unsigned>(avoided_.size()); }

  /// Tables over the links that count and are not avoided, and over those of nodes that are mute. Begins anew
  /// when the snapshot has a node, a LID or a cable that the kept one has not. Errors: of UpDownRouter::make.
  [[nodiscard]] Result<Routes> route(const Fabric& fabric);

  /// Makes the order's mends anew so that packets may turn as they do by the tables that stand: as these were
  /// made by another keeper, or before it began anew. False where that makes no difference.
  bool allow(const std::vector<routing::KeptTurn>& turns);
  /// What they were made with.
  [[nodiscard]] const std::vector<routing::KeptTurn>& turns() const { return turns_; }

  /// The kept snapshot, with everything that was ever there since it began; null before the first route().
  [[nodiscard]] const std::shared_ptr<const Fabric>& full() const { return full_; }
  /// Its links that counted for the last route().
  [[nodiscard]] const routing::LinkSet& up() const { return up_; }
  /// Switches that do not answer, and that packets pass all the same (mute_nodes.h): at the last route().
  [[nodiscard]] const std::vector<NodeGuid>& mute() const { return mute_; }
  /// Host switches, in pairs, between which the links of the last route() leave no legal path, in some plane.
  [[nodiscard]] std::size_t unconnected() const;
  /// Where the last route() left switches with hosts apart, and cables that the order counts on are lost:
  /// begins anew without these, if that joins some and parts none; one that is back is one that came. Later
  /// while a table may use them: what does turns packets again as soon as they are back. Where nothing is
  /// lost, or that is not enough, it is the order that keeps them apart, which was decided when other cables
  /// were there: likewise, with another one.
  OtherRoutes leave_lost(const std::function<bool(const PortRef&)>& may_use);
  /// Cables that were left so, and are not back.
  [[nodiscard]] const std::vector<LinkRef>& left() const { return left_; }
  /// Whether the last route() had to use links that it was to avoid, lest hosts or switches be cut off.
  [[nodiscard]] bool overridden() const { return overridden_; }
  /// Of route(): how often it began anew.
  [[nodiscard]] std::size_t beginnings() const { return beginnings_; }

 private:
  /// The kept snapshot's links that are up in `fabric`; none if it has what the kept one has not.
  [[nodiscard]] std::optional<routing::LinkSet> links_up(const Fabric& fabric) const;
  Result<void> begin(const Fabric& seen);
  [[nodiscard]] std::shared_ptr<const Fabric> with_all_that_may_return(const Fabric& seen);
  [[nodiscard]] bool is_unheard(const Link& link) const;
  [[nodiscard]] std::vector<LinkRef> lost(const Fabric& fabric, const MuteNodes& mute) const;
  void forget_found(const Fabric& fabric);
  /// What may be used of `up`; routes all planes over it.
  [[nodiscard]] routing::LinkSet route_planes(const routing::LinkSet& up);
  void route_plane(unsigned plane, const routing::LinkSet& open);
  [[nodiscard]] routing::LinkSet still_open(const routing::LinkSet& up) const;
  [[nodiscard]] std::size_t apart() const;
  using Pair = std::pair<routing::SwitchIndex, routing::SwitchIndex>;
  [[nodiscard]] std::vector<Pair> parted(unsigned plane) const;
  [[nodiscard]] bool loses_a_way(unsigned plane, const routing::LinkSet& to,
                                 const routing::LinkSet& open) const;
  [[nodiscard]] bool is_drained(routing::SwitchIndex sw) const;
  [[nodiscard]] std::size_t unmanaged(unsigned plane) const;
  void find_in_the_way(const Fabric& fabric, const MuteNodes& mute);
  [[nodiscard]] bool keeps_off() const;
  [[nodiscard]] bool has_few_lids() const;
  [[nodiscard]] std::optional<UpDownKeeper> begun_without_lost(std::map<NodeGuid, std::uint16_t> ranks) const;
  [[nodiscard]] routing::LinkSet without(const std::vector<LinkRef>& links, routing::LinkSet set) const;

  Counts counts_;
  Held held_;
  std::shared_ptr<const Fabric> full_;
  std::shared_ptr<routing::UpDownRouter> router_;
  std::vector<routing::KeptTurn> turns_;
  std::map<NodeGuid, std::uint16_t> ranks_;  ///< of switches that were ever there, see most_gone
  authority::Remembered remembered_;         ///< cables that nobody has seen since, and LIDs
  std::set<LinkRef> unseen_;                 ///< these cables, where they are in the kept snapshot
  std::set<NodeGuid> unheard_;               ///< of the kept snapshot, switches that are only remembered
  std::vector<std::vector<LinkRef>> avoided_;
  std::vector<LinkRef> withheld_;
  std::vector<LinkRef> closed_;
  std::vector<LinkRef> going_;
  std::vector<LinkRef> forced_;
  std::vector<NodeGuid> drained_;
  std::optional<unsigned> idle_plane_;
  Lid manager_ = no_lid;
  routing::LinkSet up_;
  std::vector<NodeGuid> mute_;
  bool overridden_ = false;
  std::vector<LinkRef> in_the_way_;  ///< cables that are lost, where hosts are apart
  std::vector<LinkRef> left_;
  std::shared_ptr<const Fabric> apart_in_;  ///< null: nobody is, or nothing can be done about it
  bool may_take_another_order_ = false;     ///< where they are
  bool has_left_lost_ = false;              ///< or tried to, since links went or came
  std::size_t beginnings_ = 0;
};

}  // namespace heddle::provision
