/// up*/down* tables of a fabric whose links come and go: keeps the order of the switches and everybody's home
/// port from the fullest snapshot, so that a link that goes off changes only what depended on it, and comes
/// back to the same tables. What a Provisioner routes with. One thread.
#pragma once

#include <memory>
#include <optional>

#include "fabric/fabric.h"
#include "routing/tables.h"
#include "routing/updn.h"

namespace heddle::provision {

class UpDownKeeper {
 public:
  /// Tables over the links that are up. Begins anew, with another order, when the snapshot has a node, a LID
  /// or a cable that the kept one has not, or lacks a switch. Errors: of UpDownRouter::make.
  [[nodiscard]] Result<routing::ForwardingTables> route(const Fabric& fabric);

  /// Host switches, in pairs, between which the links of the last route() leave no legal path.
  [[nodiscard]] std::size_t unconnected() const { return router_ ? router_->unconnected().size() : 0; }
  /// Of route(): how often it began anew.
  [[nodiscard]] std::size_t beginnings() const { return beginnings_; }

 private:
  /// The kept snapshot's links that are up in `fabric`; none if it has what the kept one has not.
  [[nodiscard]] std::optional<routing::LinkSet> links_up(const Fabric& fabric) const;

  std::shared_ptr<const Fabric> full_;
  std::optional<routing::UpDownRouter> router_;
  std::size_t beginnings_ = 0;
};

}  // namespace heddle::provision
