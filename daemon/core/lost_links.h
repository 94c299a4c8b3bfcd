/// What a daemon that only watches has seen since its start and does not see any more: switches, and cables
/// between them. One that regulates knows it from the regulation's reference.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/problem.h"
#include "fabric/change.h"
#include "fabric/fabric.h"
#include "fabric/unique_names.h"

namespace heddle::core {

class LostLinks {
 public:
  /// So many of each are kept: a node may call itself another one each time, and all behind it as well.
  static constexpr std::size_t most_kept = 16'384;

  /// At each new survey, with the names of its nodes.
  void look(std::shared_ptr<const Fabric> fabric, std::shared_ptr<const ShownNames> names);
  /// One for switches and one for cables, where there are such. Cables of switches that are gone count with
  /// them; a cable with a port that is disabled is off on somebody's order.
  [[nodiscard]] Problems problems() const;

 private:
  void forget_found();

  std::shared_ptr<const Fabric> fabric_;
  std::shared_ptr<const ShownNames> names_;
  std::map<NodeGuid, std::string> switches_;  ///< gone, by their names
  std::map<LinkRef, std::string> cables_;     ///< likewise; "leaf-1/3 -- spine-0/2"
};

}  // namespace heddle::core
