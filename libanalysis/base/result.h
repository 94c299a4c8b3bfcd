/// Errors as values: whatever a fabric, a disk or an operator can cause. Exceptions are for starting up only.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace heddle {

enum class ErrorCode {
  Invalid,      ///< the input breaks its own rules: a file, a key, an argument
  NotFound,     ///< a name, file or port that does not exist
  Refused,      ///< allowed by nobody: safety rule, permission, another subnet manager
  Unreachable,  ///< no answer from the fabric or a peer
  Conflict,     ///< contradicts what is there already
  Io,           ///< the operating system said no
  Unsupported,  ///< neither this build nor this device can do it
};

/// What went wrong, in one sentence that names the file, line, key or port and says what to do.
struct Error {
  ErrorCode code = ErrorCode::Invalid;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorCode::Invalid, "...")` in a function that returns a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// Hands an error on: `if (!x) return fail(x.error())`.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

/// The same error with "context: " before it, for a caller that knows the file or the port.
[[nodiscard]] inline tl::unexpected<Error> fail(const std::string& context, Error error) {
  error.message = context + ": " + error.message;
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace heddle
