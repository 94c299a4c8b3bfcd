/// What a proof of tables has refuted, as JSON.
#pragma once

#include <boost/json/array.hpp>

#include "routing/proof.h"

namespace heddle::acceptance {

[[nodiscard]] boost::json::array findings_view(const routing::Proof& proof,
                                               const routing::SwitchGraph& graph);

}  // namespace heddle::acceptance
