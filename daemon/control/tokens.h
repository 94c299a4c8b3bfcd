/// Who may ask over TCP: a file with a line "NAME SHA256" for each bearer token, so that whoever reads the
/// file has no token. A token is never logged, nor told in an answer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::control {

class Tokens {
 public:
  /// Errors: Io; Refused when others than the file's owner and group may read or write it; those of parse().
  [[nodiscard]] static Result<Tokens> load(const std::string& path);
  /// Empty lines and those that begin with '#' are skipped. Errors: Invalid with file and line; Invalid when
  /// there is no token at all, since then nobody could ask.
  [[nodiscard]] static Result<Tokens> parse(std::string_view text, const std::string& file);

  /// The name that goes with an Authorization header ("Bearer TOKEN"); none for any other. Takes the same
  /// time for every token of one length.
  [[nodiscard]] std::optional<std::string> name_of(std::string_view authorization) const;

 private:
  using Digest = std::array<std::uint8_t, 32>;
  struct Entry {
    std::string name;
    Digest digest;
  };
  std::vector<Entry> entries_;
};

/// The text of a file that holds a secret. Errors: Io; Refused when others than its owner and group may read
/// or write it.
[[nodiscard]] Result<std::string> read_secret(const std::string& path);

}  // namespace heddle::control
