/// The journal's table of LIDs.
#pragma once

#include <span>
#include <vector>

#include "journal/database.h"
#include "journal/journal.h"

namespace heddle::journal {

/// Takes the place of all that stood there. What is the same is not written again: a cable that comes costs a
/// page or two, also on a fabric of 40,000 ports. Within the caller's transaction.
[[nodiscard]] Result<void> store_lids(Database& database, std::span<const PortLid> lids);
[[nodiscard]] Result<std::vector<PortLid>> read_lids(const Database& database);

}  // namespace heddle::journal
