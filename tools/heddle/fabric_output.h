/// A fabric in the formats that `heddle fabric` prints.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "fabric/change.h"
#include "fabric/fabric.h"
#include "fabric/node_names.h"
#include "fabric/summary.h"

namespace heddle::cli {

enum class FabricFormat : unsigned char { Text, Json, Dot, Ibnetdiscover, SlurmTopology, SlurmBlocks };

/// Text is one line per node and per link; JSON is as GET /v1/fabric answers (docs/api.md).
[[nodiscard]] std::string fabric_text(const std::shared_ptr<const Fabric>& fabric, FabricFormat format,
                                      const NodeNames& names);

[[nodiscard]] boost::json::object summary_json(const FabricSummary& summary);
/// Everything by GUID; `same` says whether there is any difference.
[[nodiscard]] boost::json::object change_json(const FabricChange& change);

}  // namespace heddle::cli
