/// Who gives an order, and who gave one. The daemon knows of a client the uid, by the kernel; names are
/// looked up here, by whoever reads, since a daemon must not wait for a directory of names.
#pragma once

#include <string>

namespace heddle::cli {

/// Whom sudo has made root; empty where nobody was.
[[nodiscard]] std::string asked_by();

/// The text with "by uid N" of an author replaced by the name of the account, wherever there is one.
[[nodiscard]] std::string with_account_names(const std::string& text);

}  // namespace heddle::cli
