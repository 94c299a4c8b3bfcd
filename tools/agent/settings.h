/// What heddle-agent is told by its configuration, a small TOML file. Unknown keys are errors, with the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apm/local.h"
#include "apm/seal.h"
#include "base/ids.h"
#include "base/result.h"

namespace heddle::agent {

/// How queue pairs are found that no library of ours reports.
enum class Count : std::uint8_t { Kernel, None };

struct Settings {
  std::string key_file = "/etc/heddle-agent/key";
  std::vector<std::string> ports{};  ///< as "mlx5_0:1"; none: all InfiniBand ports
  std::vector<Lid> obeys{};          ///< besides the LID of each port's subnet manager
  std::string socket = apm::local::default_socket;
  std::string state = "/var/lib/heddle-agent";
  Count count = Count::Kernel;
  std::vector<std::string> ignore{};  ///< kernel users of queue pairs, by name, that do not count
};

/// Errors: Invalid, with file and line; Io.
[[nodiscard]] Result<Settings> read_settings(const std::string& path);
/// `name` stands for the file in messages.
[[nodiscard]] Result<Settings> parse_settings(std::string_view text, const std::string& name);
/// Errors: Refused for a file that everybody may read; those of apm::parse_key().
[[nodiscard]] Result<apm::Key> read_key(const std::string& path);

}  // namespace heddle::agent
