/// The tables of the journal's file, and how those of earlier versions become them.
#pragma once

#include "base/result.h"
#include "journal/database.h"

namespace heddle::journal {

/// Makes the tables of an empty file, and adds to those of an earlier version what they have not. Errors: Io;
/// Invalid for what is damaged, another program's, or a later version's.
[[nodiscard]] Result<void> check_or_make_schema(const Database& database);

}  // namespace heddle::journal
