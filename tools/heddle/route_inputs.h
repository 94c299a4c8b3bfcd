/// What the route commands take: a fabric with LIDs, links that are off, roots, engines,
/// tables from files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "heddle/command.h"
#include "routing/engine.h"
#include "routing/lft_dump.h"
#include "routing/link_set.h"

namespace heddle::cli {

/// A file or generator spec. LIDs are assigned where it has none, or where an LMC is asked for.
[[nodiscard]] Result<std::shared_ptr<const Fabric>> fabric_with_lids(const std::string& source,
                                                                     std::optional<unsigned> lmc,
                                                                     Context& context);

/// As it is, LIDs or not. Warnings go to standard error.
[[nodiscard]] Result<std::shared_ptr<const Fabric>> fabric_as_it_is(const std::string& source,
                                                                    Context& context);

[[nodiscard]] bool has_lids(const Fabric& fabric);
/// A fabric without LIDs takes those of the dump. Errors: of with_lids_of().
[[nodiscard]] Result<std::shared_ptr<const Fabric>> with_lids(std::shared_ptr<const Fabric> fabric,
                                                              const routing::LftDump& dump);

/// All links but those named. Errors: of FabricNames; Invalid for a link that is named twice.
[[nodiscard]] Result<routing::LinkSet> links_without(const std::shared_ptr<const Fabric>& fabric,
                                                     const std::vector<std::string>& names);

/// A GUID a line, "0x..." or bare hexadecimal, as OpenSM's root_guid_file; what follows # is a remark.
[[nodiscard]] Result<std::vector<NodeGuid>> read_roots(const std::string& path);

/// Errors: Invalid, with the names that there are.
[[nodiscard]] Result<routing::Engine> engine_called(const std::string& name);

[[nodiscard]] Result<routing::LftDump> read_lfts(const std::string& path);

}  // namespace heddle::cli
