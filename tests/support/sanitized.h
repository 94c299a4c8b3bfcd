/// Whether tests are built with a sanitizer (-DHEDDLE_SANITIZE), where each takes some ten times as long. For
/// the preprocessor: HEDDLE_SANITIZED with any, HEDDLE_ADDRESS_SANITIZER with that one.
#pragma once

namespace heddle::test {

#ifdef HEDDLE_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace heddle::test
