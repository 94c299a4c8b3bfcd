/// Which Heddle this is. A report of a fault is worth little without the commit that the program was built
/// from.
#pragma once

#include <string_view>

namespace heddle {

/// As CHANGELOG.md counts: "0.2.0".
[[nodiscard]] std::string_view version();

/// Version and commit, for people: "0.2.0 (commit 0123456789ab)", with ", modified" where the sources were;
/// only the version where it was built from an archive.
[[nodiscard]] std::string_view version_and_commit();

}  // namespace heddle
