/// `routing_engine file,no_fallback` of a scripted OpenSM: its tables are those of `lfts_file`, read at each
/// heavy sweep; without the file all tables are emptied. Trees of multicast groups are OpenSM's own.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "routing/updn.h"
#include "support/opensm/scripted_opensm.h"

namespace heddle::test {

class FileEngine final : public RoutingEngine {
 public:
  /// What the file says; none: it is not there.
  using File = std::function<std::optional<std::string>()>;

  FileEngine(ScriptedOpenSm& opensm, File file) : opensm_{opensm}, file_{std::move(file)} {}

  std::optional<routing::ForwardingTables> route() override;
  std::set<PortRef> tree(Lid group, const std::set<PortIndex>& members) override;

 private:
  ScriptedOpenSm& opensm_;
  File file_;
};

}  // namespace heddle::test
