/// Destinations of notices from the configuration: what the keys of [[notify.destination]] mean, and what the
/// files that they name hold. No error repeats a value that may be a secret.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "notify/destination.h"

namespace heddle::app {

/// Without what its files hold. Errors: Invalid, with file and line.
[[nodiscard]] Result<notify::Destination> destination_in(const NotifyEntry& entry);

/// Errors: Invalid where two have one name.
[[nodiscard]] Result<void> distinct_destinations(const std::vector<NotifyEntry>& entries);

/// Reads the files. Errors: Io; Refused for a file that everybody may read.
[[nodiscard]] Result<std::vector<notify::Destination>> destinations_of(const Config& config);

/// Of this host; "localhost" where the system does not tell.
[[nodiscard]] std::string name_of_host();

}  // namespace heddle::app
