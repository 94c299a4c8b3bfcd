/// Where tests find what they read: one source file knows the paths, so that no other test is compiled anew,
/// or missed by ccache, because the checkout lies elsewhere.
#pragma once

#include <filesystem>

namespace heddle::test {

/// The root of this checkout.
[[nodiscard]] std::filesystem::path source_directory();

/// Published fabrics beside the checkout; they may be missing, and then tests that need them skip.
[[nodiscard]] std::filesystem::path shared_data();

}  // namespace heddle::test
