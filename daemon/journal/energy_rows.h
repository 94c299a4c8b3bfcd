/// The journal's tables of energy, in joules: of links, of switches, and in all. One thread's, as the
/// database.
#pragma once

#include "journal/database.h"
#include "power/energy_account.h"

namespace heddle::journal {

/// Takes the place of all that stood there. Within the caller's transaction.
[[nodiscard]] Result<void> store_energy(Database& database, const power::EnergyRecord& record);
/// By link and by GUID, ascending.
[[nodiscard]] Result<power::EnergyRecord> read_energy(const Database& database);

}  // namespace heddle::journal
