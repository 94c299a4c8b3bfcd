/// The journal's table of what links took to come back.
#pragma once

#include <map>

#include "journal/database.h"
#include "journal/journal.h"

namespace heddle::journal {

/// In place of what stood there of these links. Within the caller's transaction.
[[nodiscard]] Result<void> store_wakes(Database& database, const regulation::WakeRecord& record);
[[nodiscard]] Result<std::map<LinkRef, regulation::Wakes>> read_wakes(const Database& database);

}  // namespace heddle::journal
