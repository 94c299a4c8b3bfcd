/// The journal's tables of what is drained.
#pragma once

#include <map>
#include <string>

#include "journal/database.h"
#include "journal/journal.h"

namespace heddle::journal {

/// In place of what stood there of this drain. Within the caller's transaction.
[[nodiscard]] Result<void> store_drain(Database& database, const Calendar& calendar,
                                       const regulation::DrainRecord& record);
/// By name.
[[nodiscard]] Result<std::map<std::string, regulation::Drain>> read_drains(const Database& database,
                                                                           const Calendar& calendar);

}  // namespace heddle::journal
