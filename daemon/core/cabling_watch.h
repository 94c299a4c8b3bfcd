/// Is the fabric cabled as the baseline says (libanalysis/cabling)? Compared whenever one of them is another
/// one, where that keeps nobody waiting. What is off on purpose counts as cabled.
///
/// The core's thread; what it found may go anywhere.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/desk.h"
#include "cabling/check.h"
#include "fabric/change.h"
#include "regulation/memory.h"

namespace heddle::core {

struct CablingFound {
  regulation::Baseline baseline;
  std::shared_ptr<const Fabric> seen;
  std::set<LinkRef> off;
  cabling::CableCheck check;
  std::string trouble;  ///< why there is no check; empty where there is
};

class CablingWatch {
 public:
  void look(const Desk& desk, const regulation::Memory& memory,
            const std::shared_ptr<const Fabric>& reference, const std::shared_ptr<const Fabric>& seen);
  /// Of the baseline that stands; null before that was compared, and where there is none.
  [[nodiscard]] std::shared_ptr<const CablingFound> found(const regulation::Memory& memory) const;

 private:
  std::shared_ptr<const CablingFound> found_;
  bool looking_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// All that is off on somebody's order, or about to be.
[[nodiscard]] std::set<LinkRef> off_on_purpose(const regulation::Memory& memory);

}  // namespace heddle::core
