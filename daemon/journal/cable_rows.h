/// The journal's table of cables. For the sources of this folder only.
#pragma once

#include <span>
#include <vector>

#include "journal/database.h"
#include "journal/journal.h"

namespace heddle::journal {

/// They take the place of all that were there; only rows that differ are written. Within a transaction.
[[nodiscard]] Result<void> store_cables(Database& database, std::span<const Cable> cables);
[[nodiscard]] Result<std::vector<Cable>> read_cables(const Database& database);

}  // namespace heddle::journal
