/// Who made the tables that are in force, found out by making them again: in the order that the daemon keeps,
/// as the OpenSM plugin numbers its switches, or by one of our engines. Whose tables are the same, entry by
/// entry, also says what they would be without a link.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "regulation/network.h"
#include "routing/engine.h"
#include "routing/link_set.h"
#include "routing/tables.h"

namespace heddle::twin {

struct RouterOptions {
  /// As the daemon says it; no ranks: it routes nothing.
  regulation::NetworkOptions order{};
  /// Nobody is to be found out: this engine, with `roots`.
  std::optional<routing::Engine> engine{};
  std::vector<NodeGuid> roots{};
};

class Router {
 public:
  /// The one whose tables over `active` agree best with those in force; without these the first that can.
  /// Errors: of the engines, where none can route this fabric.
  static Result<Router> find(std::shared_ptr<const Fabric> fabric, const routing::LinkSet& active,
                             const routing::ForwardingTables* in_force, const RouterOptions& options);

  /// Tables over these links, of the switches of SwitchGraph::make(fabric). Errors: of the engine.
  [[nodiscard]] Result<routing::ForwardingTables> tables(const routing::LinkSet& active) const;
  /// "heddled", "the plugin of OpenSM", "updn" ...
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Share of the entries for hosts in force that are the same; none where there is nothing to compare with.
  [[nodiscard]] std::optional<double> agreement() const { return agreement_; }

 private:
  using Make = std::function<Result<routing::ForwardingTables>(const routing::LinkSet& active)>;
  Router(std::string name, Make make) : name_{std::move(name)}, make_{std::move(make)} {}
  static std::vector<Router> candidates(const std::shared_ptr<const Fabric>& fabric,
                                        const RouterOptions& options);

  std::string name_;
  Make make_;
  std::optional<double> agreement_;
  routing::LinkSet found_by_;  ///< the links that find() tried
  std::shared_ptr<const routing::ForwardingTables> found_;
};

/// Tables of the same switches, in the order of this graph; no_path for those that they have not.
[[nodiscard]] routing::ForwardingTables reordered(const routing::ForwardingTables& tables,
                                                  const routing::SwitchGraph& graph);
/// Share of the entries of hosts' LIDs that are the same in both, at switches that have any in the first.
[[nodiscard]] double agreement(const routing::SwitchGraph& graph, const routing::ForwardingTables& in_force,
                               const routing::ForwardingTables& made);

}  // namespace heddle::twin
