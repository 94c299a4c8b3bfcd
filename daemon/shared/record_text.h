/// Records of the regulation as JSON, for stores that other hosts read: times are calendar time, links and
/// ports are named by GUID.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/journal.h"
#include "power/energy_account.h"
#include "regulation/memory.h"

namespace heddle::shared {

[[nodiscard]] std::string to_text(std::span<const regulation::Record> records,
                                  const journal::Calendar& calendar);
/// Errors (Invalid): what stands there is no list of records.
[[nodiscard]] Result<std::vector<regulation::Record>> records_in(std::string_view text,
                                                                 const journal::Calendar& calendar);

[[nodiscard]] std::string to_text(std::span<const journal::Rank> ranks);
/// Errors: as above.
[[nodiscard]] Result<std::vector<journal::Rank>> ranks_in(std::string_view text);

[[nodiscard]] std::string to_text(std::span<const journal::PortLid> lids);
/// Errors: as above.
[[nodiscard]] Result<std::vector<journal::PortLid>> lids_in(std::string_view text);

[[nodiscard]] std::string to_text(std::span<const journal::Cable> cables);
/// By link. Errors: as above.
[[nodiscard]] Result<std::vector<journal::Cable>> cables_in(std::string_view text);

[[nodiscard]] std::string to_text(const power::EnergyTotals& energy);
/// Errors: as above.
[[nodiscard]] Result<power::EnergyTotals> energy_in(std::string_view text);

}  // namespace heddle::shared
