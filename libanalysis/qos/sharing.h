/// Puts SLs together where a port has fewer VLs, or shorter tables, than there are SLs. Those on one VL are
/// served as one class: shares added, the tightest latency of any. Nothing tells them apart on the link.
/// Pure.
#pragma once

#include <string>
#include <vector>

#include "qos/designer.h"

namespace heddle::qos {

struct SharedVl {
  SlRequest together;              ///< `sl` is the first member's
  std::vector<SlRequest> members;  ///< in the order of the request
};

/// In the order of VLs: high, then low. Two of one priority are put together again and again until all have
/// room, those with the same latency request (or none) first, of these the two with the least common share.
/// Error: Refused where SLs of both priorities would need more VLs than there are.
[[nodiscard]] Result<std::vector<SharedVl>> share_vls(const std::vector<SlRequest>& sls,
                                                      const DesignPort& port);

/// "SL 3", "SLs 3, 5".
[[nodiscard]] std::string names(const SharedVl& vl);

}  // namespace heddle::qos
